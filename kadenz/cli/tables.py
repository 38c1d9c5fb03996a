# SPDX-License-Identifier: Apache-2.0
"""Tables in the terminal: those of the report, and rows of names with a text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from kadenz.report.table import Table


def write_table(screen: Console, table: Table) -> None:
    """Prints the title, the columns that are not empty, and the notes."""
    from rich.table import Table as Grid

    from kadenz.cli.console import styled

    grid = Grid(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for at in table.shown_columns:
        justify = "right" if at in table.numeric else "left"
        grid.add_column(table.columns[at], justify=justify)  # type: ignore[arg-type]
    for row in table.rows:
        grid.add_row(*(row[at].text for at in table.shown_columns))
    screen.print(styled("[bold]{}[/]", table.title))
    screen.print(grid)
    for note in table.notes:
        screen.print(styled("[dim]{}[/]", note))


def write_rows(
    screen: Console, rows: Sequence[tuple[str, ...]], *, whole: bool = True, indent: int = 2
) -> None:
    """Prints names that are never cut, and a text behind them: `whole`, in as many lines as it
    needs, or what fits into one. A name longer than half of the screen moves its own row alone."""
    longest = screen.width // 2
    widths = [
        max((len(name) for name in column if len(name) <= longest), default=0)
        for column in list(zip(*rows, strict=True))[:-1]
    ]
    margin = indent + sum(widths) + 2 * len(widths)
    left = max(20, screen.width - margin)
    for *names, text in rows:
        named = zip(names, widths, strict=True)
        head = " " * indent + "".join(f"{name:{width}}  " for name, width in named)
        lines = wrap(text, left) or [""]
        if not whole and len(text) > left:
            lines = [f"{text[: left - 1]}…"]
        for line in lines:
            screen.print(f"{head}{line}".rstrip(), soft_wrap=True)
            head = " " * margin
