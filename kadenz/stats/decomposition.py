# SPDX-License-Identifier: Apache-2.0
"""Decomposes a cyclic task's edges or wake-ups into clock, drift, disturbances and jitter."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kadenz.stats.beat import mark_beats
from kadenz.stats.cycles import check_span
from kadenz.stats.disturbances import Disturbances, find_disturbances
from kadenz.stats.drift import Drift, separate_drift
from kadenz.stats.samples import Floats
from kadenz.stats.summary import Summary, summarize
from kadenz.stats.trend import moving_trend

# Spectral lines slower than half a window belong to the drift.
SLOWEST_WAVE = 0.5
# Operations that round one after the other, at most.
ROUNDINGS = 16.0


@dataclass(frozen=True)
class Bias:
    """The effect on the jitter of removing the drift by moving average, in the samples' unit.

    `mean` of the jitter, which processing alone may shift from zero (cereia2011: 2 ns); `moved`
    bounds the shift of the average by the disturbances found: the jitter there is off by the
    opposite; `share` bounds the relative loss of a disturbance's size; `from_median` is the largest
    distance of the average from the moving median, without their constant difference: large if
    disturbances leaked into the average.
    """

    mean: float
    moved: float
    share: float
    from_median: float


@dataclass(frozen=True, eq=False)
class Jitter:
    """Everything about one series; `median_drift` (n,) is the robust alternative to drift.drift."""

    drift: Drift
    median_drift: Floats
    summary: Summary
    disturbances: Disturbances
    bias: Bias


def decompose(
    times: npt.ArrayLike,
    *,
    nominal_period: float,
    cycles: npt.ArrayLike | None = None,
    window: int | None = None,
    step: float = 0.0,
    alpha: float = 0.01,
    seed: int = 1,
) -> Jitter:
    """Decomposes the times `times` (n,) of edges or wake-ups, n >= 64, in one unit of time.

    Method: drift.py (rate by regression, drift by moving average over `window` cycles), drift also
    by moving median (trend.py), disturbances.py on the rest. `cycles` (n,) gives the cycle of each
    time if some were missed. The bias is bounded by the moving average of the events' absolute
    deviations: below the event threshold, everything is jitter by definition. `step` is the clock's
    (0: none): no event is smaller, and a wave at a beat of step and period (beat.py) is marked.
    What only the rounding of float64 makes is zero. Undefined as in drift.py and disturbances.py.
    """
    if cycles is not None:
        check_span(np.asarray(cycles), "jitter")
    drift = separate_drift(
        times, cycles=cycles, nominal_period=nominal_period, window=window, seed=seed
    )
    rounding = _rounding(times, drift)
    drift = _without(drift, rounding)
    disturbances = find_disturbances(
        drift.jitter,
        cycles=drift.cycles,
        slowest=SLOWEST_WAVE * drift.window,
        alpha=alpha,
        step=step,
        rounding=rounding,
    )
    if step > 0.0:
        disturbances = replace(disturbances, waves=mark_beats(disturbances.waves, drift, step))
    robust = moving_trend(drift.compensated, drift.cycles, drift.window, "median")
    return Jitter(
        drift=drift,
        median_drift=robust,
        summary=summarize(drift.jitter),
        disturbances=disturbances,
        bias=_bias(drift, robust, disturbances),
    )


def _rounding(times: npt.ArrayLike, drift: Drift) -> float:
    """The numerical error of the views: that of the times, and of products as large as they."""
    given = np.asarray(times)
    largest = drift.period.value * drift.n
    if given.dtype.kind == "f":
        largest = max(largest, float(np.abs(given).max()))
    return ROUNDINGS * float(np.finfo(np.float64).eps) * largest


def _without(drift: Drift, rounding: float) -> Drift:
    """Drift and jitter; values below `rounding` are zero."""

    def clean(view: Floats) -> Floats:
        return np.asarray(np.where(np.abs(view) < rounding, 0.0, view), dtype=np.float64)

    return replace(
        drift,
        compensated=clean(drift.compensated),
        drift=clean(drift.drift),
        jitter=clean(drift.jitter),
    )


def _bias(drift: Drift, robust: Floats, disturbances: Disturbances) -> Bias:
    # Relative to the median's line, which disturbances do not move: otherwise their effect on the
    # average would itself look like a disturbance.
    off = drift.compensated - robust
    off = np.abs(off - np.median(off))
    outside = off > disturbances.threshold
    moved = share = 0.0
    if outside.any():
        # Windows of samples, not of cycles: a gap makes a window shorter, never fuller.
        width = min(drift.window, drift.n)
        half = max(1, width // 2)
        sums = np.concatenate(([0.0], np.cumsum(np.where(outside, off, 0.0))))
        counts = np.concatenate(([0], np.cumsum(outside)))
        share = min(1.0, float((counts[width:] - counts[:-width]).max()) / width)
        inside = float((sums[width:] - sums[:-width]).max()) / width
        # The line at an end rests on half a window: weights of up to 4 / half there, 2 beyond.
        head = 4.0 * sums[half] + 2.0 * (sums[width] - sums[half])
        tail = sums[::-1]
        foot = 4.0 * (tail[0] - tail[half]) + 2.0 * (tail[half] - tail[width])
        moved = max(inside, float(head) / half, float(foot) / half)
    apart = drift.drift - robust
    return Bias(
        mean=float(drift.jitter.mean()),
        moved=moved,
        share=share,
        from_median=float(np.abs(apart - np.median(apart)).max()),
    )
