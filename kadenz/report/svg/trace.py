# SPDX-License-Identifier: Apache-2.0
"""A series over seconds, with the removed drift drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.report import digits
from kadenz.report.svg.element import line, path, text
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, linear
from kadenz.report.svg.style import series as colour_of
from kadenz.stats.envelope import Envelope
from kadenz.stats.samples import Floats


@dataclass(frozen=True)
class Overlay:
    """A line through the cell centres; `dashed` for a second one."""

    values: Floats  # (cells,) in the unit shown
    label: str
    dashed: bool = False


@dataclass(frozen=True)
class Ticks:
    """Times in seconds marked at the upper edge, with their label."""

    at: Sequence[float]
    label: str


def trace(
    of: Envelope | None,
    seconds: Floats,
    scale: float,
    caption: Caption,
    *,
    overlays: Sequence[Overlay] = (),
    ticks: Ticks | None = None,
    limits: tuple[float, float] | None = None,
) -> Plot:
    """Extremes and quartiles of `of` (None: overlays only) over `seconds` (cells + 1,).

    `limits` fix the y axis for plots to be compared. Even a single far extreme is shown: the band
    reaches it.
    """
    number = colour_of(caption.colour)
    above = 18.0 if ticks is not None or overlays else 8.0
    panel = Panel(caption.heading, caption.subheading, height=210.0, above=above)
    lows = [float(overlay.values.min()) for overlay in overlays]
    highs = [float(overlay.values.max()) for overlay in overlays]
    if of is not None:
        lows.append(float(of.low.min()) * scale)
        highs.append(float(of.high.max()) * scale)
    low, high = limits or (min(lows), max(highs))
    x = linear(0.0, float(seconds[-1]), panel.left, panel.right - 4, nice=False)
    y = linear(low, high, panel.bottom, panel.top)
    panel.y_axis(y)
    middle = [float(at) for at in (seconds[:-1] + seconds[1:]) / 2.0]
    if of is not None:
        _bands(panel, of, scale, [x(at) for at in middle], y, number)
    for overlay in overlays:
        points = [(x(at), y(float(v))) for at, v in zip(middle, overlay.values, strict=True)]
        panel.add(path(points, "fit" if overlay.dashed else "mark"))
    _legend(panel, overlays)
    if ticks is not None:
        for at in ticks.at:
            panel.add(line(x(at), panel.top - 6, x(at), panel.top - 1, "cold"))
        panel.add(text(panel.right, panel.top - 9, ticks.label, "coldt", anchor="end"))
    panel.x_axis(x, "seconds")
    return panel.finish(
        caption.name,
        f"Over {digits.number(float(seconds[-1]))} s, from {digits.number(low)} to "
        f"{digits.number(high)} {caption.unit}"
        + "".join(f"; {overlay.label} drawn through" for overlay in overlays)
        + (f"; {ticks.label}" if ticks is not None else "")
        + ".",
    )


def _bands(
    panel: Panel, of: Envelope, scale: float, centres: list[float], y: Scale, number: int
) -> None:
    for lower, upper, class_ in (
        (of.low, of.high, f"b{number}"),
        (of.bands[0], of.bands[2], f"b{number}"),
    ):
        top = [(at, y(float(v) * scale)) for at, v in zip(centres, upper, strict=True)]
        base = [(at, y(float(v) * scale)) for at, v in zip(centres, lower, strict=True)]
        if len(top) > 1:
            panel.add(path(top + base[::-1], class_, close=True))
    median = [(at, y(float(v) * scale)) for at, v in zip(centres, of.bands[1], strict=True)]
    panel.add(path(median, f"l{number}"))


def _legend(panel: Panel, overlays: Sequence[Overlay]) -> None:
    at = panel.left
    for overlay in overlays:
        up = panel.top - 10.0
        panel.add(
            path([(at, up), (at + 18, up)], "fit" if overlay.dashed else "mark"),
            text(at + 22, up + 3.5, overlay.label, "v"),
        )
        at += 30.0 + 6.2 * len(overlay.label)
