# SPDX-License-Identifier: Apache-2.0
"""Formats figures: grouped thousands, significant digits only, no exponents."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kadenz.analysis.units import Unit
from kadenz.stats.percentiles import Percentile
from kadenz.stats.plain import plain

ABSENT = "–"
SIGNIFICANT = 4
_NOTHING = 5e-10  # smaller values show no digit of the nine
_ABOUT = 0.8  # the nearer end of an interval, as a share of the farther one's distance


def number(value: float | None) -> str:
    """Four significant digits; integers in full; "–" for a missing value."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if abs(value) < _NOTHING:
        return "0"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    decimals = SIGNIFICANT - 1 - math.floor(math.log10(abs(value)))
    if decimals <= 0:
        return f"{value:,.0f}"
    text = f"{value:,.{min(decimals, 9)}f}"
    while decimals > 3 and text.endswith("0"):  # 0.02100 µs is 21 ns: the zeros are not data
        text, decimals = text[:-1], decimals - 1
    return text


def printed(value: float) -> str:
    """A published figure as it was printed: every digit, grouped thousands."""
    text = f"{value:,.12g}" if abs(value) >= 1e-4 or value == 0.0 else f"{value:.12g}"
    return f"{value:,.0f}" if "e" in text and value.is_integer() else text


def figure(ticks: float | None, unit: Unit) -> str:
    """A number of ticks in the display unit, without the unit's name."""
    return ABSENT if ticks is None else number(unit.figure(ticks))


def interval(low: float | None, high: float | None, unit: Unit) -> str:
    """ "[3.41, 3.52]"; "…" for an end that n cannot give; "" without any interval."""
    if low is None and high is None:
        return ""
    ends = ["…" if end is None else number(unit.figure(end)) for end in (low, high)]
    return f"[{ends[0]}, {ends[1]}]"


def ends(of: Percentile | None, unit: Unit) -> str:
    """The interval of a percentile; "unknown" if too few bursts exceed it."""
    if of is None:
        return ""
    return interval(of.low, of.high, unit) if of.known else "unknown"


def count(value: int) -> str:
    """A count with separators: 1234567 as "1,234,567"."""
    return f"{value:,}"


def axis(ticks: Sequence[float]) -> list[str]:
    """Short, consistent axis labels: thousands as "k" on all of them, or, if the axis spans small
    and large figures, only on those from 10,000."""
    sizes = [abs(tick) for tick in ticks if tick]
    if sizes and max(sizes) >= 1e4:
        divisor, suffix = (1e6, "M") if min(sizes) >= 1e6 else (1e3, "k")
        short = [f"{tick / divisor:.10g}" for tick in ticks]
        if min(sizes) >= divisor and max(len(label.lstrip("-")) for label in short) <= 4:
            return [label + suffix if label != "0" else label for label in short]
    return [_tick(tick) for tick in ticks]


def _tick(tick: float) -> str:
    for divisor, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(tick) >= 10 * divisor or abs(tick) == divisor == 1e6:
            short = f"{tick / divisor:.10g}"
            if len(short) <= 4:
                return short + suffix
    return f"{tick:,.10g}" if abs(tick) >= 1e-4 or tick == 0.0 else f"{tick:.0e}"


def factor(value: float, low: float, high: float) -> str:
    """A ratio with its interval: "1.34" if exact, "1.100 ± 0.020" if both ends are about equally
    far, else "14.2 [9.1, 21.3]"."""
    if low == value == high:
        return _three(value)
    near, far = sorted((value - low, high - value))
    if near < _ABOUT * far or not math.isfinite(far):
        return f"{_three(value)} [{_three(low)}, {_three(high)}]"
    decimals = max(0, 1 - math.floor(math.log10(far)))
    return f"{value:,.{decimals}f} ± {far:,.{decimals}f}"


def _three(ratio: float) -> str:
    """Three significant digits; "…" for an infinite ratio."""
    return plain(ratio) if ratio >= 100.0 else f"{ratio:#.3g}".rstrip(".")
