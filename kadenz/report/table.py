# SPDX-License-Identifier: Apache-2.0
"""A table as data, Markdown and CSV. The template makes the HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from kadenz.analysis.published import System
from kadenz.analysis.units import Unit
from kadenz.report import digits
from kadenz.visible_text import markdown_cell, markdown_text, spreadsheet_cell


@dataclass(frozen=True)
class Cell:
    """`text` for people, `raw` for machines (None: no value); `kind` is a CSS class."""

    text: str
    raw: str | float | None = None
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under `columns`, which name the unit if all rows share one."""

    name: str  # file name without suffix, and anchor
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: frozenset[int] = frozenset()  # columns set flush right
    notes: tuple[str, ...] = field(default=())
    row_kinds: tuple[str, ...] = ()  # CSS class of each row, "ours" or "published"; () for none
    caption: bool = True  # whether the page shows the title

    block: ClassVar[str] = "table"

    @property
    def bare(self) -> Table:
        """The table below a heading that says its title already."""
        return replace(self, caption=False)

    @classmethod
    def headed(
        cls,
        heads: str,
        *,
        name: str,
        title: str,
        rows: Iterable[tuple[Cell, ...]],
        notes: tuple[str, ...] = (),
        row_kinds: tuple[str, ...] = (),
    ) -> Table:
        """A table under `heads`: "Run | >Samples" has two columns, the second set flush right."""
        names = heads.split(" | ")
        return cls(
            name=name,
            title=title,
            columns=tuple(head.removeprefix(">") for head in names),
            rows=tuple(rows),
            numeric=frozenset(i for i, head in enumerate(names) if head.startswith(">")),
            notes=notes,
            row_kinds=row_kinds,
        )

    @property
    def shown_columns(self) -> tuple[int, ...]:
        """The columns that are not empty in every row; without rows the first."""
        silent = ("", digits.ABSENT)
        return tuple(
            i
            for i in range(len(self.columns))
            if (i == 0 and not self.rows) or any(row[i].text not in silent for row in self.rows)
        )

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: {len(row)} cells for {len(self.columns)} columns")


def text_cell(text: str, kind: str = "") -> Cell:
    """A cell of text."""
    return Cell(text or digits.ABSENT, text, kind)


def whole(value: int, kind: str = "") -> Cell:
    """A cell with a count, sorted by its value."""
    return Cell(digits.count(value), value, kind)


def figure(ticks: float | None, unit: Unit) -> Cell:
    """A figure in ticks, shown in `unit`."""
    raw = None if ticks is None else unit.figure(ticks)
    return Cell(digits.number(raw), raw)


def badge(of: Unit | System) -> Cell:
    """The clock class of a row, measured by us or published."""
    return Cell(of.clock_class, of.clock_class, f"badge {of.clock_class}")


def markdown(table: Table) -> str:
    """GitHub-flavoured Markdown, with title and notes."""
    head = _line(table.columns)
    rule = (
        "|"
        + "|".join(" ---: " if i in table.numeric else " --- " for i in range(len(table.columns)))
        + "|"
    )
    rows = [
        "| " + " | ".join(markdown_cell(cell.text) for cell in row) + " |" for row in table.rows
    ]
    notes = [f"- {markdown_text(note)}" for note in table.notes]
    parts = [f"## {markdown_text(table.title)}", "", head, rule, *rows]
    return "\n".join(parts + (["", *notes] if notes else [])) + "\n"


def to_csv(table: Table) -> str:
    """Comma-separated, plain numbers, empty cells for missing values (RFC 4180)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(spreadsheet_cell, table.columns))
    for row in table.rows:
        writer.writerow(["" if cell.raw is None else _plain(cell.raw) for cell in row])
    return out.getvalue()


def join(tables: Sequence[Table]) -> str:
    """Several tables as one Markdown text."""
    return "\n".join(markdown(table) for table in tables)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(markdown_cell(cell) for cell in cells) + " |"


def _plain(raw: str | float) -> object:
    return repr(raw) if isinstance(raw, float) else spreadsheet_cell(raw)
