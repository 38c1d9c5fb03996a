# SPDX-License-Identifier: Apache-2.0
"""Recognises by its shape a series that is not what it was said to be: periods, counts, wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kadenz.stats.autocorrelation import autocorrelation
from kadenz.stats.cycles import period_of
from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Array, Floats

Kind = Literal["edges", "latencies", "periods"]
KINDS: tuple[Kind, ...] = ("edges", "latencies", "periods")

# Values this close to the period, relatively, are periods or lie near one by chance.
NEAR = 0.2
FEWEST = 1000
# The autocorrelation of differences of independent values is -1/2 at lag 1, then zero; that of a
# pattern that recurs is 1 again.
_OPPOSITE = (-0.65, -0.3)
_NEXT = 0.2
_LAGS = 64
# A running sum of n independent values spreads by about sqrt(n / 6) of them, of differences by one.
_BOUND = 4.0
# Values this far out are clipped for the autocorrelation, in interquartile ranges.
_CLIP = 3.0
_COUNTERS = (16, 24, 32)  # bits
_SIGNED = (2**31 - 1, 2**63 - 1)


def check_latencies(values: Array, period: float, shown: Callable[[float], str]) -> str:
    """A note on latencies (n,) that may be periods, or "". `shown` gives ticks with their unit.

    Undefined, with the cause, for values that are another quantity: "counts" that only rise,
    "periods", "differences" of successive latencies.
    """
    if values.size < FEWEST:
        return ""
    if bool((values[1:] >= values[:-1]).all()) and values[-1] > values[0]:
        raise Undefined(
            "jitter",
            "no value is smaller than the one before: these are times of wake-ups, or counts",
            cause="counts",
        )
    middle = float(np.median(values))
    near = abs(middle / period - 1.0) < NEAR
    if _differences(values):
        if near:
            raise Undefined(
                "jitter",
                f"the values lie about the period itself (median {shown(middle)}), and a long one "
                "is followed by a short one: these are measured periods, not latencies",
                cause="periods",
            )
        raise Undefined(
            "jitter",
            "each value is followed by its opposite (autocorrelation about -0.5): these are "
            "differences of successive latencies",
            cause="differences",
        )
    if not near:
        return ""
    return (
        f"the median, {shown(middle)}, is near the period: if these are measured periods, use "
        "--kind periods"
    )


def edges_of_periods(values: Array, period: float, shown: Callable[[float], str]) -> Array:
    """The edges (n + 1,) of measured periods (n,): their running sum, from 0.

    Undefined for values whose median is not about the period.
    """
    middle = float(np.median(values)) if values.size else 0.0
    if not abs(middle / period - 1.0) < NEAR:
        raise Undefined(
            "jitter",
            f"the median is {shown(middle)}, which is not the period: these are not periods",
            cause="no periods",
        )
    return np.concatenate((np.zeros(1, values.dtype), np.cumsum(values)))


def check_edges(times: Array, period: float, shown: Callable[[float], str]) -> None:
    """Undefined for times (n,) that are measured periods."""
    middle = float(np.median(times)) if times.size else 0.0
    if times.size >= FEWEST and abs(middle / period - 1.0) < NEAR:
        raise Undefined(
            "jitter",
            f"the values lie about the period itself (median {shown(middle)}) instead of rising: "
            "these are measured periods, not edges",
            cause="periods",
        )


def unwrapped(times: Array) -> tuple[Array, str]:
    """Times (n,) of a counter that wraps, continued, and a note; without a wrap as they are.

    A wrap is at 2^16, 2^24 or 2^32 if every descent, so continued, is about one period.
    """
    whole = bool((times == np.round(times)).all())
    down = np.flatnonzero(times[1:] < times[:-1])
    if not (whole and down.size and down.size < times.size // 2):
        return times, ""
    period = float(np.median(np.diff(times.astype(np.float64))))
    drops = times[down].astype(np.float64) - times[down + 1].astype(np.float64)
    for bits in _COUNTERS:
        if times.max() < 2.0**bits and (np.abs(2.0**bits - drops - period) < period / 2).all():
            wraps = np.zeros(times.size, np.int64)
            wraps[down + 1] = 1
            wide = times.astype(np.int64) + np.cumsum(wraps) * 2**bits
            places = f"{down.size:,} {'place' if down.size == 1 else 'places'}"
            return wide, f"the counter wraps at 2^{bits} in {places}: continued there"
    return times, ""


def restarts(times: Array) -> bool:
    """Whether times (n,) fall back by more than a swap of neighbours would."""
    down = np.diff(times.astype(np.float64))
    down = down[down < 0]
    return bool(down.size) and bool((-down > 10.0 * abs(period_of(times))).any())


def refuse_unsigned(values: npt.NDArray[Any]) -> None:
    """Undefined for a small negative number, or "none", that an unsigned type made huge."""
    if not values.size:
        return
    middle = abs(float(np.median(values)))
    for bits in (32, 64):
        top = 2.0**bits
        high = (values >= top - top / 256) & (values <= top) if middle < top / 256 else None
        if high is not None and high.any():
            at = int(np.argmax(high))
            raise Undefined(
                "jitter",
                f"value {at:,} (from 0) is {int(values[at]):,}: {int(values[at]) - 2**bits} as an "
                f"unsigned number of {bits} bits",
                cause="unsigned",
            )
    for none in _SIGNED:
        if middle < none / 256 and (marked := values == none).any():
            raise Undefined(
                "jitter",
                f"value {int(np.argmax(marked)):,} (from 0) is {none:,}, the largest signed number "
                "of its size: it stands for no value",
                cause="unsigned",
            )


def _differences(values: Array) -> bool:
    """Whether values (n,) are differences of others, or periods: a surplus is taken back next."""
    relative: Floats = values.astype(np.float64)
    low, middle, high = np.quantile(relative, (0.25, 0.5, 0.75))
    reach = _CLIP * (high - low)
    if not reach > 0.0:
        return False
    clipped = np.clip(relative, middle - reach, middle + reach)
    lags = autocorrelation(clipped, _LAGS).rho
    off = relative - relative.mean()
    bounded = float(np.std(np.cumsum(off))) < _BOUND * float(np.std(off))
    return bool(
        _OPPOSITE[0] < lags[1] < _OPPOSITE[1] and np.abs(lags[2:]).max() < _NEXT and bounded
    )
