# SPDX-License-Identifier: Apache-2.0
"""Several series over one time axis, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.report import digits
from kadenz.report.svg.element import el, path, title
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import linear
from kadenz.report.svg.style import series as colour_of


@dataclass(frozen=True)
class Line:
    """A series by name: (time, value) in the units shown, in order of time."""

    name: str
    points: Sequence[tuple[float, float]]


def lines(series: Sequence[Line], caption: Caption, *, axis: str) -> Plot:
    """Draws each line in its own colour; its title gives its name and extremes."""
    panel = Panel(caption.heading, caption.subheading, height=220.0)
    values = [value for line in series for _, value in line.points]
    last = max(at for line in series for at, _ in line.points)
    x = linear(0.0, last, panel.left, panel.right - 4, nice=False)
    y = linear(min(values), max(values), panel.bottom, panel.top)
    panel.y_axis(y)
    described = []
    for number, line in enumerate(series):
        heights = [value for _, value in line.points]
        low, high = digits.number(min(heights)), digits.number(max(heights))
        extremes = f"{line.name}: {low} to {high} {caption.unit}"
        described.append(extremes)
        drawn = path([(x(at), y(value)) for at, value in line.points], f"l{colour_of(number)}")
        panel.add(el("g", drawn, title(extremes)))
    panel.x_axis(x, axis)
    return panel.finish(caption.name, "; ".join(described) + ".")
