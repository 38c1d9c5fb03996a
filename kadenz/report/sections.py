# SPDX-License-Identifier: Apache-2.0
"""Sections of the page, and the blocks in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from kadenz.report.svg.panel import Plot
from kadenz.report.table import Table


@dataclass(frozen=True)
class Text:
    """A paragraph, a heading (`tag` "h4") or a list; `content` is escaped unless it is Markup."""

    content: str
    tag: str = "p"
    kind: str = ""  # CSS class

    block: ClassVar[str] = "text"


@dataclass(frozen=True)
class Plots:
    """Plots side by side; `rows`: each in a row of its own."""

    plots: tuple[Plot, ...]
    rows: bool = False

    block: ClassVar[str] = "plots"


@dataclass(frozen=True)
class Picture:
    """One drawing for a desktop and one for a phone."""

    wide: Plot
    narrow: Plot

    block: ClassVar[str] = "picture"

    @property
    def plots(self) -> tuple[Plot, ...]:
        """The wide plot alone, as a file of its own."""
        return (self.wide,)


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line; `small` is set smaller in that line."""

    title: str
    small: str
    blocks: tuple[Block, ...]
    open: bool = False

    block: ClassVar[str] = "fold"


@dataclass(frozen=True)
class Section:
    """Blocks under a heading; `short` is its name in the navigation. Within another one it has a
    smaller heading."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    short: str = ""

    block: ClassVar[str] = "section"


Block = Table | Text | Plots | Picture | Fold | Section


def plotted(plots: Iterable[Plot], *, rows: bool = False) -> tuple[Plots, ...]:
    """A block of `plots`; none without plots."""
    every = tuple(plots)
    return (Plots(every, rows),) if every else ()


def tables_of(*tables: Table | None) -> tuple[Table, ...]:
    """The tables that are there."""
    return tuple(table for table in tables if table is not None)


def rows_fold(title: str, table: Table, *, most: int = 0) -> Fold:
    """A table behind a line with its number of rows; open if it has at most `most`."""
    count = len(table.rows)
    small = f"{count} {'row' if count == 1 else 'rows'}"
    return Fold(title, small, (table.bare,), open=count <= most)


def leaves(blocks: Iterable[Block]) -> Iterator[Block]:
    """Every block without others in it, in the order of the page."""
    for block in blocks:
        if isinstance(block, Fold | Section):
            yield from leaves(block.blocks)
        else:
            yield block
