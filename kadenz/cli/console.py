# SPDX-License-Identifier: Apache-2.0
"""Where tables for people are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# A pipe or a log has no width of its own; a table of figures must not be cut there.
_WIDTH_WITHOUT_TERMINAL = 180


def console() -> Console:
    """Standard output, wide enough for a table where it is not a terminal."""
    from rich.console import Console

    screen = Console(highlight=False, soft_wrap=False)
    if not screen.is_terminal:
        screen.width = _WIDTH_WITHOUT_TERMINAL
    return screen
