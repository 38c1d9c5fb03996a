# SPDX-License-Identifier: Apache-2.0
"""What an interrupt took, over the cycle in which it arrived; beneath, what it met there."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.structures.population import HANDLER, TASK, Population, Span
from kadenz.report import digits
from kadenz.report.svg.element import el, path, text, title
from kadenz.report.svg.legend import LETTER, Key, Legend
from kadenz.report.svg.panel import LABEL_PITCH, Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, linear

WIDTH = 1020.0
NARROW = 340.0
_PLOT = 190.0  # pixels of the curves
_ROW = 18.0
_NAME_ROWS = 3  # for the names of functions, which are longer than their boxes
_NAMED = 14.0  # pixels of a box that has its name beneath
_LEFT = 120.0
_LEFT_NARROW = 58.0
_LABELS = {"masked": "interrupts off", "locked": "scheduler locked", "functions": "in"}
_NARROW_LABELS = {"masked": "masked", "locked": "locked", "functions": "in"}
# Classes of the boxes, in turn.
_BANDS = {"masked": ("b5",), "locked": ("b4",), "functions": ("b1", "w1")}


def arrivals_picture(shown: Population, scale: float, caption: Caption, width: float) -> Plot:
    """Both curves in the unit of the caption, which `scale` makes of ticks.

    Rows beneath show where the core took no interrupt, where the scheduler was locked, and which
    function was interrupted.
    """
    curve, wide = shown.curve, width >= WIDTH
    ends = {HANDLER: shown.handler, TASK: shown.task}
    rows = {"masked": curve.masked, "locked": curve.locked, "functions": curve.functions}
    rows = {name: spans for name, spans in rows.items() if spans}
    keys = [Key(name, f"d{number + 1}") for number, name in enumerate(curve.lanes)]
    legend = Legend(keys, 10.0, width)
    names = _NAME_ROWS * LABEL_PITCH if wide and curve.functions else 0.0
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
    x = linear(0.0, float(curve.last), panel.left, panel.right, nice=False)
    most = max(float(values.max()) for values in curve.lanes.values()) * scale
    y = linear(0.0, most, panel.bottom, panel.top)
    panel.y_axis(y)
    described = []
    for number, (name, values) in enumerate(curve.lanes.items(), start=1):
        points = [
            (x(float(at)), y(float(value) * scale))
            for at, value in zip(curve.phase, values, strict=True)
        ]
        panel.add(path(points, f"l{number}"))
        phase, value = ends[name].phase, digits.number(ends[name].max * scale)
        said = f"{name}: at most {value} {caption.unit}, from {shown.moment} {phase:,}"
        described.append(said)
        px, py = x(float(phase)), y(ends[name].max * scale)
        panel.add(el("circle", title(said), cx=px, cy=py, r=3.2, class_="cold"))
        end = px > (panel.left + panel.right) / 2
        anchor, beside = ("end", -7.0) if end else ("start", 7.0)
        panel.add(text(px + beside, py + 3.5, value, "v", anchor=anchor))
    panel.x_axis(x, f"{shown.moment} of the arrival")
    labels = _LABELS if wide else _NARROW_LABELS
    for number, (name, spans) in enumerate(rows.items()):
        top = panel.bottom + 22.0 + _ROW * number
        panel.add(text(panel.left - 6, top + 11.0, labels[name], anchor="end"))
        _band(panel, spans, x, top, shown.moment, _BANDS[name])
    under = panel.bottom + 22.0 + _ROW * len(rows)
    if names:
        _names(panel, curve.functions, x, under)
    panel.add(legend.drawn(under + names))
    return panel.finish(caption.name, "; ".join(described) + ".")


def _band(
    panel: Panel, spans: Sequence[Span], x: Scale, top: float, moment: str, classes: Sequence[str]
) -> None:
    for number, span in enumerate(spans):
        left, right = x(float(span.begin)), x(float(span.end))
        shade = classes[number % len(classes)]
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
