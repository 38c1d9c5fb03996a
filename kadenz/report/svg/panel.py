# SPDX-License-Identifier: Apache-2.0
"""One plot: heading, axes, grid, and labels at the line ends."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from kadenz.report import digits
from kadenz.report.svg.element import el, line, text, title
from kadenz.report.svg.scale import Scale
from kadenz.report.svg.style import STANDALONE

WIDTH = 340.0
HEADING = 38.0  # two lines of text above the plot
LINE = 16.0  # each further line
# Letters per line of WIDTH, in 13-px bold and in 11 px; longer text wraps.
HEADING_LETTERS, SUBHEADING_LETTERS = 44, 58
LABEL_PITCH = 12.0  # smallest distance of two lines of 11-px text


@dataclass(frozen=True)
class Plot:
    """A finished plot: `svg` for a page; `name` is a file name without suffix."""

    name: str
    heading: str
    description: str
    svg: str


@dataclass(frozen=True)
class Caption:
    """The words around a plot, and its colour."""

    heading: str
    subheading: str
    unit: str  # of the values shown
    name: str  # file name without suffix
    colour: int = 0  # number of the system, from 0


@dataclass
class Panel:
    """Collects the parts of a plot in `left` ... `right` and `top` ... `bottom` (pixels).

    `height` is for two lines of text above the plot; longer text makes the panel higher.
    """

    heading: str
    subheading: str
    height: float = 230.0
    left: float = 46.0
    right: float = WIDTH - 14.0
    below: float = 36.0
    above: float = 8.0  # gap between the heading and the plot
    parts: list[str] = field(default_factory=list)
    width: float = WIDTH

    def __post_init__(self) -> None:
        self.height += self._further

    @property
    def _head_lines(self) -> list[tuple[str, str]]:
        """The lines of text above the plot, each with its class."""
        share = self.width / WIDTH
        heads = _lines(self.heading, int(HEADING_LETTERS * share))
        return [(text_line, "h") for text_line in heads] + [
            (text_line, "")
            for text_line in _lines(self.subheading, int(SUBHEADING_LETTERS * share))
        ]

    @property
    def _further(self) -> float:
        return LINE * max(len(self._head_lines) - 2, 0)

    @property
    def top(self) -> float:
        """First pixel of the plot."""
        return HEADING + self._further + self.above

    @property
    def bottom(self) -> float:
        """The x axis, in pixels from the top."""
        return self.height - self.below

    def add(self, *parts: str) -> None:
        """Adds markup; later calls paint over earlier ones."""
        self.parts += parts

    def x_axis(self, scale: Scale, name: str) -> None:
        """Axis line, ticks and axis name at the bottom."""
        self.add(line(self.left, self.bottom, self.right, self.bottom, "axis"))
        last = float("-inf")
        for tick, label in zip(scale.ticks, digits.axis(scale.ticks), strict=True):
            x = scale(tick)
            self.add(line(x, self.bottom, x, self.bottom + 4, "axis"))
            room = 3.2 * len(label) + 4.0
            if x - room < last:
                continue
            last = x + room
            self.add(text(x, self.bottom + 15, label, anchor="middle"))
        self.add(text((self.left + self.right) / 2, self.height - 5, name, anchor="middle"))

    def y_axis(self, scale: Scale) -> None:
        """Horizontal grid lines with their figures; the unit is in the subheading."""
        for tick, label in zip(scale.ticks, digits.axis(scale.ticks), strict=True):
            y = scale(tick)
            self.add(line(self.left, y, self.right, y, "grid"))
            self.add(text(self.left - 6, y + 3.8, label, anchor="end"))

    def labels(self, wanted: list[tuple[float, str, str]], x: float) -> None:
        """Direct labels (y, label, class) at `x`, moved apart so that they do not overlap."""
        placed: list[tuple[float, str, str]] = []
        for y, label, class_ in sorted(wanted):
            free = placed[-1][0] + LABEL_PITCH if placed else y
            placed.append((max(y, free), label, class_))
        # Labels pushed below the axis move back up, and push up those above them.
        limit = self.bottom
        for number in range(len(placed) - 1, -1, -1):
            y, label, class_ = placed[number]
            placed[number] = min(y, limit), label, class_
            limit = placed[number][0] - LABEL_PITCH
        self.add(*(text(x, y + 3.5, label, class_) for y, label, class_ in placed))

    def finish(self, name: str, description: str) -> Plot:
        """The finished plot, with a title and description for screen readers."""
        label = f"{self.heading}, {self.subheading}"
        svg = el(
            "svg",
            title(label),
            el("desc", escape(description)),
            *(
                text(0, 13 + LINE * n, text_line, css)
                for n, (text_line, css) in enumerate(self._head_lines)
            ),
            *self.parts,
            class_="plot",
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_label=f"{label}. {description}",
            xmlns="http://www.w3.org/2000/svg",
        )
        return Plot(name, self.heading, description, svg)


def _lines(heading: str, letters: int) -> list[str]:
    """`heading` wrapped at blanks into lines of at most `letters` letters."""
    return textwrap.wrap(heading, letters, break_on_hyphens=False) or [""]


def standalone(plot: Plot) -> str:
    """A plot as a separate file with its own colours; 340 units become 680 pixels."""
    head, rest = plot.svg.split(">", 1)
    width, height = map(float, head.split('viewBox="0 0 ')[1].split('"')[0].split())
    size = f' width="{2 * width:g}" height="{2 * height:g}"'
    style = el("style", escape(STANDALONE))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{size}>{style}{rest}\n'
