# SPDX-License-Identifier: Apache-2.0
"""Maps data to pixels and chooses tick positions."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Maps low ... high to the pixels start ... end; `ticks` are data values inside."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """The pixel of `value`; values outside are clamped to the edge."""
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def linear(
    low: float, high: float, start: float, end: float, *, count: int = 5, nice: bool = True
) -> Scale:
    """A linear scale with about `count` round ticks; `nice` widens the range to whole ticks."""
    # Values are constant, or vary only in the last digit.
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1e-300):
        pad = abs(low) * 0.05 or 1.0
        low, high = low - pad, high + pad
    step = round_step((high - low) / max(count, 1))
    if nice:
        low = min(low, math.floor(low / step + 1e-9) * step)
        high = max(high, math.ceil(high / step - 1e-9) * step)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = tuple(_clean(i * step) for i in range(first, last + 1))
    return Scale(low, high, start, end, False, ticks)


def logarithmic(low: float, high: float, start: float, end: float, *, count: int = 5) -> Scale:
    """A logarithmic scale, low > 0: ticks at powers of ten, with 2 and 5 if there is room."""
    if not low > 0.0:
        raise ValueError(f"a logarithmic scale cannot begin at {low}")
    if high <= low * 1.01:
        low, high = low / 1.5, high * 1.5
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for mantissas in ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 5), (1, 3), (1,)):
        ticks = [_clean(m * 10.0**d) for d in decades for m in mantissas]
        inside = [t for t in ticks if low <= t <= high]
        if len(inside) <= count + 1:
            break
    else:
        inside = inside[:: math.ceil(len(inside) / (count + 1))]
    if len(inside) < 2 or high < 3.0 * low:  # less than half a decade, between round figures
        plain = linear(low, high, start, end, count=count, nice=False)
        inside = [t for t in plain.ticks if low <= t <= high]
    return Scale(low, high, start, end, True, tuple(inside))


def scale_for(
    low: float, high: float, start: float, end: float, *, log: bool, count: int = 5
) -> Scale:
    """Logarithmic if requested and possible, else linear."""
    if log and low > 0.0:
        return logarithmic(low, high, start, end, count=count)
    return linear(low, high, start, end, count=count)


def round_step(step: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= step * (1.0 - 1e-9))


def _clean(value: float) -> float:
    return float(f"{value:.12g}")
