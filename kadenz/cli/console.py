# SPDX-License-Identifier: Apache-2.0
"""What is printed in colours, tables and bars. All other output is `click.echo`'s.

A string is printed as it is: no `[red]` in a name is markup. Own colours come from `styled`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kadenz.visible_text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn
    from rich.text import Text

# A pipe or a log has no width of its own; a table of figures must not be cut there.
_WIDTH_WITHOUT_TERMINAL = 180
_PARTS = re.compile(r"(\[[a-z /{}]+\]|\{[^{}]*\})")  # tags and places for values


def console() -> Console:
    """Standard output, as wide as its terminal or COLUMNS; 180 columns if neither is known."""
    screen = screen_of(sys.stdout)
    if not screen.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        screen.width = _WIDTH_WITHOUT_TERMINAL
    return screen


def screen_of(stream: Any) -> Console:
    """A console on a stream, 80 columns wide without a terminal."""
    from rich.console import Console
    from rich.segment import Segment

    class Screen(Console):
        """Its own control sequences pass; those in a text do not."""

        def render_str(self, text: str, **options: Any) -> Text:
            """The text with visible characters: here its width is not known yet."""
            return super().render_str(visible(text), **options)

        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            """Pieces of text with visible characters, and control sequences."""
            for piece in super().render(renderable, options):
                yield piece if piece.control else piece._replace(text=visible(piece.text))

    return Screen(
        file=getattr(stream, "styled", stream), markup=False, emoji=False, highlight=False
    )


def styled(template: str, *values: object) -> Text:
    """Text in own colours: `styled("[bold]{}[/] {:,} samples", name, count)`.

    `[STYLE]` holds until `[/]`; `[{}]` takes a style from the values. No value is markup.
    """
    from rich.text import Text

    pieces: list[tuple[str, str | Text]] = []
    style, left = "", iter(values)
    for part in _PARTS.split(template):
        if part == "[{}]":
            style = str(next(left))
        elif part.startswith("[") and _PARTS.fullmatch(part):
            style = part.strip("[]/")
        elif part.startswith("{"):
            value = next(left)
            pieces.append((style, value if isinstance(value, Text) else part.format(value)))
        else:
            pieces.append((style, part))
    text = Text()
    for style, group in groupby(pieces, lambda piece: piece[0]):
        text.append_text(_joined([piece for _, piece in group], style))
    return text


def _joined(pieces: list[str | Text], style: str) -> Text:
    """Text of one style; what is styled already keeps its own."""
    from rich.text import Text

    if all(isinstance(piece, str) for piece in pieces):
        return Text(visible("".join(map(str, pieces))), style)
    return Text.assemble(
        *(piece if isinstance(piece, Text) else (visible(piece), style) for piece in pieces)
    )


def say(line: str | Text, *, err: bool = False) -> None:
    """Prints a line of any length, which may be styled."""
    screen_of(sys.stderr if err else sys.stdout).print(line, soft_wrap=True)


def progress_bars(*columns: ProgressColumn, **options: Any) -> Progress:
    """Bars on standard error, shown on terminals only. Lines printed meanwhile stay above them."""
    from rich.file_proxy import FileProxy
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    from kadenz.cli.output import Filtered

    class Bars(Progress):
        """rich prints what is written meanwhile, in the colours that it finds in there."""

        def start(self) -> None:
            """Shows the bars; the streams lead to them."""
            super().start()
            for name in ("stdout", "stderr"):
                if isinstance(stream := getattr(sys, name), FileProxy):
                    setattr(sys, name, Filtered(stream))

    description = TextColumn("{task.description}", markup=False)
    usual = (description, BarColumn(), TaskProgressColumn(), Remaining())
    return Bars(*(columns or usual), console=screen_of(sys.stderr), **options)


def fits(screen: Console, table: object) -> bool:
    """Whether a table can be printed without cutting a cell."""
    from rich.measure import Measurement
    from rich.table import Table

    assert isinstance(table, Table)
    unbounded = screen.options.update(width=10_000, max_width=10_000)
    return Measurement.get(screen, unbounded, table).maximum <= screen.width
