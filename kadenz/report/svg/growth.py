# SPDX-License-Identifier: Apache-2.0
"""How figures grow with a setting: one line each, relative to the first value of the setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kadenz.report import digits
from kadenz.report.svg.element import el, path, title
from kadenz.report.svg.panel import WIDTH, Caption, Panel, Plot
from kadenz.report.svg.scale import linear
from kadenz.report.svg.style import line as line_of
from kadenz.report.svg.style import series as colour_of

_WIDTH, _RIGHT, _HEIGHT = 1.9 * WIDTH, 0.98 * WIDTH, 260.0  # labels at the right


@dataclass(frozen=True)
class Growth:
    """A figure by name: (value of the setting, figure in the unit shown), ascending."""

    name: str
    points: Sequence[tuple[float, float]]

    @property
    def factors(self) -> list[tuple[float, float]]:
        """Each figure divided by the first one."""
        first = self.points[0][1]
        return [(at, value / first) for at, value in self.points]


def growth(series: Sequence[Growth], caption: Caption, *, axis: str) -> Plot:
    """Draws the factors from 1 on; a label at each line's end has its first and last figure.

    Raises ValueError for a series that begins with zero.
    """
    if any(curve.points[0][1] <= 0.0 for curve in series):
        raise ValueError("growth is relative to a first figure above zero")
    panel = Panel(
        caption.heading, caption.subheading, height=_HEIGHT, right=_RIGHT, left=34.0, width=_WIDTH
    )
    factors = [curve.factors for curve in series]
    places = sorted({at for curve in series for at, _ in curve.points})
    x = replace(
        linear(places[0], places[-1], panel.left + 6, panel.right - 6, nice=False),
        ticks=tuple(places),
    )
    top = max(factor for points in factors for _, factor in points)
    y = linear(
        min(1.0, *(f for points in factors for _, f in points)), top, panel.bottom, panel.top
    )
    panel.y_axis(y)
    panel.x_axis(x, axis)
    labels = []
    described = []
    for number, (curve, points) in enumerate(zip(series, factors, strict=True)):
        first, last = curve.points[0][1], curve.points[-1][1]
        label = f"{curve.name} {digits.number(first)} → {digits.number(last)}"
        described.append(f"{label} {caption.unit}")
        panel.add(path([(x(at), y(factor)) for at, factor in points], line_of(number)))
        for (at, value), (_, factor) in zip(curve.points, points, strict=True):
            tooltip = (
                f"{curve.name}, {at:g}: {digits.number(value)} {caption.unit}, {factor:.2f} times"
            )
            spot = {"cx": x(at), "cy": y(factor)}
            panel.add(el("circle", **spot, r=2.6, class_=f"d{colour_of(number)}"))
            panel.add(el("circle", title(tooltip), **spot, r=9.0, class_="hit"))
        labels.append((y(points[-1][1]), label, f"t{colour_of(number)}"))
    panel.labels(labels, panel.right + 2)
    return panel.finish(caption.name, "; ".join(described) + ".")
