# SPDX-License-Identifier: Apache-2.0
"""Figures over a moment that was swept: a line for each series, with its worst; beneath, rows of
what the moments met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from kadenz.analysis.structures.population import Span
from kadenz.report import digits
from kadenz.report.svg.element import el, path, text, title
from kadenz.report.svg.legend import LETTER, Key, Legend
from kadenz.report.svg.panel import LABEL_PITCH, Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, linear
from kadenz.report.svg.style import line as line_of
from kadenz.report.svg.style import series as colour_of

WIDTH = 1020.0
NARROW = 340.0
_PLOT = 190.0  # pixels of the curves
_ROW = 18.0
_NAME_ROWS = 3  # for the names of functions, which are longer than their boxes
_NAMED = 14.0  # pixels of a box that has its name beneath
_LEFT = 120.0
_LEFT_NARROW = 58.0


@dataclass(frozen=True)
class Line:
    """A series: its values in the unit shown at ascending moments (n,), and its worst. `where` says
    the moment of the worst: "from cycle 1,203"."""

    name: str
    at: npt.NDArray[Any]
    values: npt.NDArray[Any]
    worst_at: float
    worst: float
    where: str


@dataclass(frozen=True)
class Row:
    """What the moments met: boxes beneath the curves, in the given classes in turn. `named`: the
    names of the wider boxes stand below."""

    label: str
    narrow_label: str
    spans: Sequence[Span]
    classes: Sequence[str]
    named: bool = False


@dataclass(frozen=True)
class Axis:
    """The swept moment: its ends, the axis' name, and what one is called ("cycle")."""

    low: float
    high: float
    name: str
    moment: str


def curves(
    lines: Sequence[Line],
    axis: Axis,
    caption: Caption,
    width: float,
    *,
    rows: Sequence[Row] = (),
    by_dashes: bool = False,
) -> Plot:
    """The lines over the axis, `width` WIDTH for a page or NARROW for a phone.

    `by_dashes`: lines that may lie on one another differ by dashes too.
    """
    wide = width >= WIDTH
    rows = [row for row in rows if row.spans]
    named = next((row for row in rows if row.named and wide), None)
    legend = Legend([Key(line.name, f"d{colour_of(n)}") for n, line in enumerate(lines)], 10, width)
    names = _NAME_ROWS * LABEL_PITCH if named else 0.0
    below = 36.0 + _ROW * len(rows) + names + legend.height
    panel = Panel(
        caption.heading,
        caption.subheading,
        height=46.0 + _PLOT + below,
        left=_LEFT if wide else _LEFT_NARROW,
        right=width - 14.0,
        below=below,
        width=width,
    )
    x = linear(axis.low, axis.high, panel.left, panel.right, nice=False)
    most = max(float(line.values.max()) for line in lines)
    y = linear(0.0, most, panel.bottom, panel.top)
    panel.y_axis(y)
    for number, line in enumerate(lines):
        class_ = line_of(number) if by_dashes else f"l{colour_of(number)}"
        pairs = zip(line.at, line.values, strict=True)
        panel.add(path([(x(float(at)), y(float(value))) for at, value in pairs], class_))
        _worst(panel, line, x(line.worst_at), y(line.worst), caption.unit)
    panel.x_axis(x, axis.name)
    for number, row in enumerate(rows):
        top = panel.bottom + 22.0 + _ROW * number
        label = row.label if wide else row.narrow_label
        panel.add(text(panel.left - 6, top + 11.0, label, anchor="end"))
        _band(panel, row, x, top, axis.moment)
    under = panel.bottom + 22.0 + _ROW * len(rows)
    if named:
        _names(panel, named.spans, x, under)
    panel.add(legend.drawn(under + names))
    described = [_said(line, caption.unit) for line in lines]
    return panel.finish(caption.name, "; ".join(described) + ".")


def _said(line: Line, unit: str) -> str:
    return f"{line.name}: at most {digits.number(line.worst)} {unit}, {line.where}"


def _worst(panel: Panel, line: Line, px: float, py: float, unit: str) -> None:
    """A ring at the worst, with its figure beside it."""
    panel.add(el("circle", title(_said(line, unit)), cx=px, cy=py, r=3.2, class_="cold"))
    end = px > (panel.left + panel.right) / 2
    anchor, beside = ("end", -7.0) if end else ("start", 7.0)
    panel.add(text(px + beside, py + 3.5, digits.number(line.worst), "v", anchor=anchor))


def _band(panel: Panel, row: Row, x: Scale, top: float, moment: str) -> None:
    for number, span in enumerate(row.spans):
        left, right = x(float(span.begin)), x(float(span.end))
        shade = row.classes[number % len(row.classes)]
        wide = max(right - left, 0.6)
        box = el("rect", x=left, y=top, width=wide, height=_ROW - 4.0, class_=shade)
        said = f"{span.name}: {moment}s {span.begin:,} to {span.end:,}"
        panel.add(el("g", box, title(said)))


def _names(panel: Panel, spans: Sequence[Span], x: Scale, top: float) -> None:
    """Names of the wider functions from the left edges of their boxes, where there is room."""
    ends = [panel.left - 1.0] * _NAME_ROWS
    for span in spans:
        left, right = x(float(span.begin)), x(float(span.end))
        room = LETTER * len(span.name) + 16.0
        row = next((row for row, end in enumerate(ends) if end <= left), None)
        if row is None or right - left < _NAMED or left + room > panel.width:
            continue
        ends[row] = left + room
        panel.add(text(left, top + 8.0 + LABEL_PITCH * row, span.name))
