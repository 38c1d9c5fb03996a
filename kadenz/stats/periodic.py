# SPDX-License-Identifier: Apache-2.0
"""Periodic outliers: finds and names interference such as the tick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.event_period import (
    FEWEST_PERIODS,
    Indices,
    fundamental,
    in_phase,
    is_tick,
    line,
    search,
)
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.samples import Array, as_samples

# An outlier lies this many robust standard deviations from the median, and in the outer fifth.
DEVIATIONS = 5.0
LARGEST_SHARE = 0.2
FEWEST_EVENTS = 6


@dataclass(frozen=True, eq=False)
class PeriodicOutliers:
    """The outliers on one side of the samples, and their period if they have one.

    `threshold` and `extra` (median of the affected minus median of all: positive for slow outliers,
    negative for fast ones) are in the unit of the samples. `every` is the period in samples,
    `phase` the index of the first slot, `period` the period in the unit of time. `affected` indices
    belong to the period, `others` do not. `p_value` is corrected for every period searched.
    `tick_fits` is None if no tick period was given, or if the sampling is in step with the tick
    (then any period would fit). `beat` (samples) is the length of the beat if the tick is faster
    than the sampling. `sentence` is for a report.
    """

    n: int
    threshold: float
    outliers: int
    periodic: bool
    p_value: float | None
    every: float | None
    phase: float | None
    extra: float | None
    affected: npt.NDArray[np.intp]
    others: npt.NDArray[np.intp]
    period: float | None
    tick_fits: bool | None
    beat: float | None
    sentence: str


def find_periodic(
    samples: npt.ArrayLike,
    *,
    sample_period: float | None = None,
    times: npt.ArrayLike | None = None,
    tick_period: float | None = None,
    alpha: float = 0.01,
    ordered: Ordered | None = None,
) -> PeriodicOutliers:
    """Finds outliers in `samples` (n,), n >= 32, in time order, and tests them for a period.

    `sample_period` (or `times` (n,), ascending) and `tick_period` share one unit of time, e.g.
    ticks of the run's clock; without them the period is given only in samples.

    Method: outliers lie 5 robust standard deviations (MAD and IQR) from the median and in the outer
    fifth. Slow and fast ones are examined separately; the slow ones are reported unless only the
    fast ones are periodic (a message that does not wrap in its ring). Neighbours are one event. The
    events' periodogram over sample number is divided by its local level (median of 64 neighbouring
    frequencies), so that clusters, which raise whole ranges, do not count as a period. The largest
    ordinate is tested with Fisher's correction for all frequencies searched (Fisher 1929; for
    events, Bartlett 1963). With a tick, its alias |P/T - nearest integer| cycles per sample and two
    harmonics are tested too, within 100 ppm of two crystals' rates. The fundamental is the longest
    period at which the events' phases still agree (resultant length, Rayleigh). At most `alpha` of
    series without a period are reported as periodic. Needs six events and five full periods.
    Periods shorter than five samples, or that affect every sample equally, cannot be seen. Assumes
    nearly even sampling (`times` are put on an even grid). Pass `ordered` if the samples are
    already sorted.
    """
    array = as_samples(samples, "periodic outliers", needed=32)
    grid, spacing, length = _grid(array.size, sample_period, times)
    rate = None if tick_period is None or spacing is None else spacing / tick_period
    fast, median, slow = _limits(order(array) if ordered is None else ordered)
    slow_ones = _Side(array, median, slow, np.flatnonzero(array > slow), grid, spacing, length)
    fast_ones = _Side(array, median, fast, np.flatnonzero(array < fast), grid, spacing, length)
    # Each side that is searched gets its share of alpha.
    searched = max(1, slow_ones.enough + fast_ones.enough)
    result = slow_ones.examine(rate, alpha / searched, searched)
    if not result.periodic and fast_ones.enough:
        other = fast_ones.examine(rate, alpha / searched, searched)
        if other.periodic or not slow_ones.outliers.size:
            return other
    return result


@dataclass(frozen=True, eq=False)
class _Side:
    """The `outliers` on one side of `array`, beyond `threshold`."""

    array: Array
    median: float
    threshold: float
    outliers: Indices
    grid: Indices | None
    spacing: float | None
    length: int

    @property
    def first(self) -> npt.NDArray[np.bool_]:
        """Which outliers do not directly follow another one."""
        return np.diff(self.outliers, prepend=-2) > 1

    @property
    def events(self) -> Indices:
        """Places of runs of outliers."""
        begins = self.outliers[self.first]
        return self.grid[begins] if self.grid is not None else begins

    @property
    def enough(self) -> bool:
        return int(np.count_nonzero(self.first)) >= FEWEST_EVENTS

    def examine(self, rate: float | None, alpha: float, searched: int) -> PeriodicOutliers:
        """Search for a period; `p_value` is multiplied by the sides `searched`."""
        outliers, events = self.outliers, self.events
        if outliers.size == 0:
            return self._quiet("no outliers", None)
        if not self.enough:
            return self._quiet(
                f"{events.size} outlier events: fewer than {FEWEST_EVENTS}, too few for a period",
                None,
            )
        p_side, frequency = search(events, self.length, rate)
        p_value = min(1.0, searched * p_side)
        if p_side >= alpha:
            sentence = f"{outliers.size} outliers without a period (p = {p_value:.2g})"
            return self._quiet(sentence, p_value)
        frequency = fundamental(events, frequency, self.length)
        if frequency * self.length < FEWEST_PERIODS:
            return self._quiet(
                f"{outliers.size} outliers, about every {1.0 / frequency:.0f} samples: fewer than "
                f"{FEWEST_PERIODS} periods, too few to show one",
                p_value,
            )
        struck = in_phase(events, frequency)
        every, turn = line(events, frequency)
        # A neighbour of an event belongs to it, in or out of phase.
        near = struck[np.cumsum(self.first) - 1]
        affected = outliers[near]
        extra = float(np.median(self.array[affected])) - self.median
        fits = None if rate is None else is_tick(frequency, rate, self.length)
        beat = every if fits and rate is not None and rate > 0.5 else None
        return PeriodicOutliers(
            n=self.array.size,
            threshold=self.threshold,
            outliers=int(outliers.size),
            periodic=True,
            p_value=p_value,
            every=every,
            phase=turn,
            extra=extra,
            affected=affected,
            others=outliers[~near],
            period=None if self.spacing is None else every * self.spacing,
            tick_fits=fits,
            beat=beat,
            sentence=_sentence(every, extra, int(affected.size), int(outliers.size), fits, beat),
        )

    def _quiet(self, sentence: str, p_value: float | None) -> PeriodicOutliers:
        return PeriodicOutliers(
            n=self.array.size,
            threshold=self.threshold,
            outliers=int(self.outliers.size),
            periodic=False,
            p_value=p_value,
            every=None,
            phase=None,
            extra=None,
            affected=self.outliers[:0],
            others=self.outliers,
            period=None,
            tick_fits=None,
            beat=None,
            sentence=sentence,
        )


def _sentence(
    every: float, extra: float, affected: int, outliers: int, fits: bool | None, beat: float | None
) -> str:
    text = f"every {every:.6g} samples, {extra:+.6g}, {affected} of {outliers} outliers"
    if fits:
        text += ", fits the tick"
        if beat is not None:
            text += f" (beat of tick and sampling, {beat:.6g} samples)"
    elif fits is False:
        text += ", does not fit the tick"
    return text


def _grid(
    n: int, sample_period: float | None, times: npt.ArrayLike | None
) -> tuple[Indices | None, float | None, int]:
    """Place of each sample on an even grid (None: its number), the grid's step, its length."""
    if sample_period is not None and sample_period <= 0.0:
        raise Undefined("periodic outliers", f"sample period {sample_period} is not positive")
    if times is None:
        return None, sample_period, n
    moments = np.asarray(times)
    if moments.shape != (n,):
        raise Undefined("periodic outliers", f"{moments.shape} times for {n} samples")
    relative = (moments - moments[0]).astype(np.float64)
    if (np.diff(relative) <= 0.0).any():
        raise Undefined("periodic outliers", "times do not ascend. Give them in order, no repeats")
    step = float(relative[-1]) / (n - 1)
    places = np.round(relative / step).astype(np.intp)
    return places, step, int(places[-1]) + 1


def _limits(data: Ordered) -> tuple[float, float, float]:
    """The limit of fast outliers, the median, and the limit of slow outliers."""
    median = data.median
    reach = DEVIATIONS * robust_spread(data)
    fast = min(median - reach, data.quantile(LARGEST_SHARE))
    slow = max(median + reach, data.quantile(1.0 - LARGEST_SHARE))
    return fast, median, slow


def robust_spread(data: Ordered) -> float:
    """Standard deviation of normal samples with this MAD or IQR, the larger one."""
    mad = float(np.median(np.abs(data.values[:: max(1, data.n // 100_000)] - data.median)))
    iqr = data.quantile(0.75) - data.quantile(0.25)
    return max(1.4826 * mad, iqr / 1.349)
