# SPDX-License-Identifier: Apache-2.0
"""A histogram with logarithmic counts: one sample in a million is still seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kadenz.report import digits
from kadenz.report.svg.element import el, line, path, text, title
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, logarithmic, scale_for
from kadenz.report.svg.style import series
from kadenz.stats.histogram import Histogram
from kadenz.stats.samples import Floats

# A single sample must be visible, so the axis begins below one.
FLOOR = 0.6
# With up to 24 bars each shows its count on touch; more would be too narrow to hit.
TOUCHABLE = 24


def counts(
    histogram: Histogram,
    scale: float,
    caption: Caption,
    *,
    marks: Sequence[tuple[str, float]],
    cold: Sequence[float],
) -> Plot:
    """Bars of `histogram` (in ticks; `scale` converts to the unit shown). `marks`, such as p99, and
    the cold samples, drawn as strokes below the axis, are in the unit shown."""
    unit, colour = caption.unit, series(caption.colour)
    panel = Panel(caption.heading, caption.subheading, height=220.0, above=20.0)
    edges = histogram.edges * scale
    # Cold samples may lie outside the histogram; the axis includes them.
    low, high = min([*cold, float(edges[0])]), max([*cold, float(edges[-1])])
    x = scale_for(low, high, panel.left, panel.right - 4, log=histogram.spacing == "log")
    most = int(histogram.counts.max())
    y = logarithmic(FLOOR, max(most * 1.3, 2.0), panel.bottom, panel.top, count=4)
    panel.y_axis(y)
    cells = bars(histogram)
    panel.add(
        el("path", d="".join(_bar(panel, x, y, edges, cell) for cell in cells), class_=f"d{colour}")
    )
    if len(cells) <= TOUCHABLE:
        panel.add(*(_touch(panel, x, edges, cell, histogram.n, unit) for cell in cells))
    panel.x_axis(x, unit)
    _marks(panel, [(word, x(value)) for word, value in marks])
    if cold:
        for value in cold:
            at = x(value)
            panel.add(line(at, panel.bottom + 1, at, panel.bottom + 7, "cold"))
        panel.add(text(panel.right, panel.height - 5, "| cold", "coldt", anchor="end"))
    described = ", ".join(f"{word} {digits.number(value)}" for word, value in marks)
    return panel.finish(
        caption.name,
        f"{histogram.n:,} samples from {digits.number(float(edges[0]))} to "
        f"{digits.number(float(edges[-1]))} {unit}; {described}; "
        f"{len(cold)} cold samples excluded. Counts are logarithmic.",
    )


def bars(histogram: Histogram) -> list[tuple[int, int, int]]:
    """(first edge, last edge, count) of every cell that is not empty."""
    return [
        (int(i), int(i) + 1, int(histogram.counts[i])) for i in np.flatnonzero(histogram.counts)
    ]


def _bar(panel: Panel, x: Scale, y: Scale, edges: Floats, cell: tuple[int, int, int]) -> str:
    left, right = x(float(edges[cell[0]])), x(float(edges[cell[1]]))
    wide = max(right - left - 0.4, 0.8)
    return f"M{left:.1f} {panel.bottom:g}V{y(cell[2]):.1f}h{wide:.1f}V{panel.bottom:g}z"


def _touch(
    panel: Panel, x: Scale, edges: Floats, cell: tuple[int, int, int], n: int, unit: str
) -> str:
    low, high = float(edges[cell[0]]), float(edges[cell[1]])
    tooltip = f"{digits.number(low)} to {digits.number(high)} {unit}: {cell[2]:,} of {n:,}"
    return el(
        "rect",
        title(tooltip),
        x=x(low) - 1.0,
        y=panel.top,
        width=max(x(high) - x(low), 3.0) + 2.0,
        height=panel.bottom - panel.top,
        class_="hit",
    )


def _marks(panel: Panel, marks: Sequence[tuple[str, float]]) -> None:
    """Small strokes at the top edge, with their names placed so that they do not overlap."""
    placed = sorted(marks, key=lambda mark: mark[1])
    for number, (word, at) in enumerate(placed):
        panel.add(path([(at, panel.top - 4), (at, panel.bottom)], "fit"))
        half = 3.2 * len(word) + 2.0
        others = placed[:number] + placed[number + 1 :]
        near = [other for _, other in others if abs(other - at) < half + 24.0]
        if near:  # overlapping names move to opposite sides
            left = near[0] > at or (near[0] == at and number == 0)
            panel.add(text(at, panel.top - 7, word, "v", anchor="end" if left else "start"))
        else:
            centre = min(max(at, panel.left + half), panel.right - half)
            panel.add(text(centre, panel.top - 7, word, "v", anchor="middle"))
