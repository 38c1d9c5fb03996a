# SPDX-License-Identifier: Apache-2.0
"""Samples in time order, thinned without losing a peak."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.report import digits
from kadenz.report.svg.element import el, path, text, title
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import linear, scale_for
from kadenz.report.svg.style import line as stroke
from kadenz.report.svg.style import series as colour_of
from kadenz.stats.envelope import Envelope

LOG_FROM = 12.0


def series(
    envelope: Envelope,
    scale: float,
    caption: Caption,
    *,
    named: Sequence[tuple[int, float, str]],
) -> Plot:
    """Extremes and quartiles of consecutive cells over the sample number.

    `named` are outliers to label: (sample number, value in the unit shown, label).
    """
    number = colour_of(caption.colour)
    panel = Panel(caption.heading, caption.subheading, height=200.0)
    low, high = float(envelope.low.min()) * scale, float(envelope.high.max()) * scale
    middle = float(envelope.bands[1].max()) * scale
    x = linear(0, max(envelope.n, 2), panel.left, panel.right - 4, nice=False)
    y = scale_for(low, high, panel.bottom, panel.top, log=low > 0 and high > LOG_FROM * middle)
    panel.y_axis(y)
    centres = [
        x(float(first) + float(length) / 2)
        for first, length in zip(envelope.first, envelope.length, strict=True)
    ]
    for lower, upper, class_ in (
        (envelope.low, envelope.high, f"b{number}"),
        (envelope.bands[0], envelope.bands[2], f"b{number}"),
    ):
        top = [(at, y(float(v) * scale)) for at, v in zip(centres, upper, strict=True)]
        base = [(at, y(float(v) * scale)) for at, v in zip(centres, lower, strict=True)]
        if len(top) > 1:
            panel.add(path(top + base[::-1], class_, close=True))
    median = [(at, y(float(v) * scale)) for at, v in zip(centres, envelope.bands[1], strict=True)]
    panel.add(path(median, stroke(caption.colour)))
    panel.x_axis(x, "sample number")
    for at, value, label in named:
        px, py = x(at), y(value)
        end = px > (panel.left + panel.right) / 2
        panel.add(
            el("circle", title(label), cx=px, cy=py, r=3.2, class_="cold"),
            text(px + (-6 if end else 6), py + 3, label, "v", anchor="end" if end else "start"),
        )
    described = "; ".join(label for _, _, label in named)
    return panel.finish(
        caption.name,
        f"{envelope.n:,} samples in time order, {digits.number(low)} to {digits.number(high)} "
        f"{caption.unit}" + (f"; {described}." if described else "."),
    )
