# SPDX-License-Identifier: Apache-2.0
"""A tail: the measured peaks, the fit through them and its return levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kadenz.report import digits
from kadenz.report.svg.element import el, line, path, text, title
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, linear, logarithmic
from kadenz.report.svg.style import series as colour_of
from kadenz.stats.estimate import Estimate
from kadenz.stats.samples import Floats

SHOWN = 60


@dataclass(frozen=True)
class Level:
    """A level with the return period `samples`, in the unit shown."""

    samples: float
    level: Estimate


def levels(
    peaks: Floats,
    curve: list[tuple[float, float]],
    return_levels: list[Level],
    n: int,
    caption: Caption,
) -> Plot:
    """`peaks` (c,) of `n` samples, ascending, in the unit shown. `curve` is the fit as (return
    period, level), empty without a fit; `return_levels` have their intervals."""
    unit = caption.unit
    panel = Panel(caption.heading, caption.subheading, height=220.0)
    # The r-th largest of c peaks has the return period n / (r - 0.44) (Gringorten 1963).
    rank = np.arange(peaks.size, 0, -1)
    once = n / (rank - 0.44)
    shown = np.unique(
        np.append(np.arange(0, peaks.size, max(1, peaks.size // SHOWN)), range(-20, 0)) % peaks.size
    )
    rightmost = max([float(once[-1]), *(return_level.samples for return_level in return_levels)])
    tops = [
        float(peaks[-1]),
        *(return_level.level.high for return_level in return_levels),
        *(v for _, v in curve),
    ]
    x = logarithmic(float(once[0]), rightmost * 1.3, panel.left, panel.right - 4, count=6)
    y = linear(float(peaks[0]), max(tops), panel.bottom, panel.top)
    panel.y_axis(y)
    if curve:
        panel.add(path([(x(a), y(b)) for a, b in curve], "fit"))
    number = colour_of(caption.colour)
    for place in shown:
        at, peak = x(float(once[place])), y(float(peaks[place]))
        panel.add(el("circle", cx=at, cy=peak, r=1.8, class_=f"d{number}"))
    for return_level in return_levels:
        _level(panel, (x, y), return_level, number, unit)
    panel.x_axis(x, "return period (samples)")
    described = "; ".join(
        f"once in {return_level.samples:,.0f}: {digits.number(return_level.level.value)}"
        for return_level in return_levels
    )
    return panel.finish(
        caption.name,
        f"{peaks.size:,} peaks from {digits.number(float(peaks[0]))} to "
        f"{digits.number(float(peaks[-1]))} {unit}; {described or 'not extrapolated'}.",
    )


def _level(
    panel: Panel, axes: tuple[Scale, Scale], return_level: Level, number: int, unit: str
) -> None:
    (x, y), level = axes, return_level.level
    at, value = x(return_level.samples), digits.number(level.value)
    tooltip = (
        f"once in {return_level.samples:,.0f} samples: {value}, {digits.number(level.low)} to "
        f"{digits.number(level.high)} {unit}"
    )
    panel.add(
        line(at, y(level.low), at, y(level.high), "mark"),
        el("circle", title(tooltip), cx=at, cy=y(level.value), r=3.0, class_=f"o{number}"),
        text(at - 6, y(level.value) - 6, value, "v", anchor="end"),
    )
