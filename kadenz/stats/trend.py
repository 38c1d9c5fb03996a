# SPDX-License-Identifier: Apache-2.0
"""The slow part of a series, by moving average or by moving median."""

from __future__ import annotations

from typing import Literal

import numpy as np

from kadenz.stats.samples import Array, Floats, Ints

Method = Literal["mean", "median"]

# The moving median is computed four times per window, with straight lines between: the slow part
# is slower than the window by definition.
MEDIANS_A_WINDOW = 4


def moving_trend(series: Floats, cycles: Ints | None, window: int, method: Method) -> Floats:
    """Slow part (n,) of `series` (n,) sampled at `cycles` (n,) (None: every cycle, 0 ... n - 1).

    The window is `window` cycles, centred; with gaps it has fewer samples. "mean": moving average,
    evaluated as a straight line fitted in the window. Inside a series without gaps this equals the
    average (a line passes through the centre of gravity); at the ends and next to gaps, where the
    window is lopsided, it does not lag behind a slope as a plain average would. "median": exact
    medians of the window, so that disturbances of up to half the window leave no trace; the first
    and last half window continue with Tukey's resistant line (medians of the outer thirds).
    """
    if series.size < 3:
        return np.full(series.size, float(series.mean()) if series.size else 0.0)
    if method == "mean":
        return _average(series, cycles, window)
    return _median(series, cycles, window)


def _average(series: Floats, cycles: Ints | None, width: int) -> Floats:
    n = series.size
    before, after = (width - 1) // 2, width // 2 + 1
    sums: Array = np.concatenate(([0.0], np.cumsum(series)))
    if cycles is None:
        trend = np.empty(n)
        inner = n - width + 1
        if inner > 0:
            trend[before : before + inner] = (sums[width:] - sums[:inner]) / width
        head = np.arange(0, min(before, n))
        tail = np.arange(max(before + max(inner, 0), head.size), n)
        number: Floats = np.arange(n, dtype=np.float64)
        for part in (head, tail):
            if part.size:
                low = int(max(part[0] - before, 0))
                high = int(min(part[-1] + after, n))
                trend[part] = _lines(
                    series[low:high],
                    number[low:high],
                    np.maximum(part - before, 0) - low,
                    np.minimum(part + after, n) - low,
                    number[part],
                )
        return trend
    first = np.searchsorted(cycles, cycles - before, side="left")
    last = np.searchsorted(cycles, cycles + after, side="left")
    places = cycles.astype(np.float64)
    return _lines(series, places, first, last, places)


def _lines(series: Floats, places: Floats, first: Array, last: Array, at: Floats) -> Floats:
    """Value at `at` of the straight line through samples first ... last - 1, for each window."""
    middle = float(places.mean())
    x = places - middle
    sums = [np.concatenate(([0.0], np.cumsum(part))) for part in (series, x, x * series, x * x)]
    count = (last - first).astype(np.float64)
    y, x1, xy, xx = (part[last] - part[first] for part in sums)
    mean_x, mean_y = x1 / count, y / count
    spread = xx - count * mean_x * mean_x
    # With fewer than three samples, or all at one place, there is no slope.
    steep = (count >= 3.0) & (spread > 1e-6 * count)
    slope = np.where(steep, (xy - count * mean_x * mean_y) / np.where(steep, spread, 1.0), 0.0)
    return np.asarray(mean_y + slope * (at - middle - mean_x))


def _median(series: Floats, cycles: Ints | None, width: int) -> Floats:
    n = series.size
    places = np.arange(n, dtype=np.int64) if cycles is None else cycles
    length = int(places[-1] - places[0]) + 1
    step = max(1, width // MEDIANS_A_WINDOW)
    half = width / 2.0
    begin, end = float(places[0]), float(places[-1])
    inner: Array = np.arange(begin + half, end - half + 0.5 * step, step)
    inner = inner if length > width else inner[:0]
    knots: list[float] = []
    values: list[float] = []
    for centre in inner:
        # Integer bounds: otherwise numpy would copy all places to floats, each time.
        ends = np.array((centre - half, centre + half)).astype(places.dtype)
        low, high = (int(end) for end in np.searchsorted(places, ends))
        if high - low >= 1:
            # Next to a gap the window is lopsided: its median belongs to its middle sample.
            at = float(places[(low + high) // 2])
            if knots and at <= knots[-1]:
                continue
            knots.append(at)
            values.append(float(np.median(series[low:high])))
    if len(knots) < 2:
        slope, centre, value = _resistant(series, places)
        return np.asarray(value + slope * (places - centre))
    for at_end in (False, True):
        inside = places >= end - width if at_end else places <= begin + width
        slope = _resistant(series[inside], places[inside])[0]
        knot, value, target = (
            (knots[-1], values[-1], end) if at_end else (knots[0], values[0], begin)
        )
        if (target > knot) if at_end else (target < knot):
            where = len(knots) if at_end else 0
            knots.insert(where, target)
            values.insert(where, value + slope * (target - knot))
    return np.asarray(np.interp(places, knots, values))


def _resistant(series: Floats, places: Ints) -> tuple[float, float, float]:
    """Slope, centre and value there of Tukey's resistant line (medians of the outer thirds)."""
    third = max(1, series.size // 3)
    left_x, right_x = float(np.median(places[:third])), float(np.median(places[-third:]))
    centre, value = float(np.median(places)), float(np.median(series))
    if right_x <= left_x:
        return 0.0, centre, value
    rise = float(np.median(series[-third:])) - float(np.median(series[:third]))
    return rise / (right_x - left_x), centre, value
