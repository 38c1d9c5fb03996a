# SPDX-License-Identifier: Apache-2.0
"""The console for tables that people read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# A pipe or a log has no width of its own; a table of figures must not be cut there.
_WIDTH_WITHOUT_TERMINAL = 180


def console() -> Console:
    """Standard output, as wide as its terminal or COLUMNS; 180 columns if neither is known."""
    from rich.console import Console

    screen = Console(highlight=False, soft_wrap=False)
    if not screen.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        screen.width = _WIDTH_WITHOUT_TERMINAL
    return screen


def fits(screen: Console, table: object) -> bool:
    """Whether a table can be printed without cutting a cell."""
    from rich.measure import Measurement
    from rich.table import Table

    assert isinstance(table, Table)
    unbounded = screen.options.update(width=10_000, max_width=10_000)
    return Measurement.get(screen, unbounded, table).maximum <= screen.width
