# SPDX-License-Identifier: Apache-2.0
"""A table of the report in the terminal."""

from __future__ import annotations

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
