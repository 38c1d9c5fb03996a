# SPDX-License-Identifier: Apache-2.0
"""Bootstrap replicates of a mean or a quantile; the cost does not grow with the samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.percentiles import needed_for_interval
from kadenz.stats.resample import studentised_deviates
from kadenz.stats.samples import Array, Floats, as_samples, exact_mean
from kadenz.stats.separate import separate_events

NEEDED = 10
ONE_SIGMA = 0.6827  # of a normal distribution lies within one standard deviation


@dataclass(frozen=True, eq=False)
class LessLoop:
    """Batches and the empty loop to subtract: a run whose figure is (samples - loop) / per.

    `samples` (b,) and `loop` (e,) are repetitions in one unit; of the batches the statistic is
    taken, of the loops the median (mazzi2021, equation 1).
    """

    samples: npt.ArrayLike
    loop: npt.ArrayLike
    per: float


@dataclass(frozen=True, eq=False)
class Replicated:
    """A statistic and its replicates: quantiles of `values` (B,) are its interval's ends.

    `stretched(k)` are replicates k times as far out in standard errors (of the level, for a
    quantile), k >= 0, infinite beyond the samples. `effective_n` is the number of independent
    samples behind it; for a quantile, `limits` are the smallest and largest sample.
    """

    value: float
    stretched: Callable[[float], Floats]
    standard_error: float
    constant: bool
    effective_n: float
    limits: tuple[float, float] = (-math.inf, math.inf)
    few: str = ""  # why the samples beyond a quantile come in too few bursts for an interval

    @property
    def values(self) -> Floats:
        """The replicates as drawn, none beyond the samples."""
        return np.asarray(self.stretched(1.0).clip(*self.limits))

    def interval(self, confidence: float) -> tuple[float, float]:
        """The ends at `confidence`; never beyond the value itself on either side."""
        low, high = ends(self.values, confidence)
        return min(low, self.value), max(high, self.value)

    def open_interval(self, confidence: float) -> tuple[float, float]:
        """The same, with an infinite end if it is beyond all samples and thus unknown."""
        low, high = ends(self.stretched(1.0), confidence)
        return min(low, self.value), max(high, self.value)


def ends(values: Floats, confidence: float) -> tuple[float, float]:
    """The middle share `confidence` of `values` (B,), rounded outwards; infinities allowed.

    NaN (infinity minus infinity) could be any value: it counts both as below and above the rest.
    """
    last = values.size - 1
    low = math.floor((1.0 - confidence) / 2.0 * last)
    unknown = np.isnan(values)
    if not unknown.any():
        parted = np.partition(values, (low, last - low))
        return float(parted[low]), float(parted[last - low])
    return (
        float(np.partition(np.where(unknown, -np.inf, values), low)[low]),
        float(np.partition(np.where(unknown, np.inf, values), last - low)[last - low]),
    )


def level_of(statistic: str | float) -> float | None:
    """None for "mean", 0.5 for "median", else the level itself, 0 < level < 1."""
    if statistic == "mean":
        return None
    if statistic == "median":
        return 0.5
    if isinstance(statistic, str) or not 0.0 < statistic < 1.0:
        raise Undefined(
            "statistic", f"{statistic!r} is unknown. Use 'mean', 'median' or a level such as 0.99"
        )
    return float(statistic)


def replicate(
    samples: npt.ArrayLike, statistic: str | float, replicates: int, rng: np.random.Generator
) -> Replicated:
    """Replicates of `statistic` of `samples` (n,) in time order, n >= 10.

    Method: for the mean, mean - t * se with studentised block-bootstrap t (resample.py), so that
    quantiles of the replicates are the bootstrap-t interval. For a quantile the same for the
    series "does not exceed the quantile", whose mean is the level, read back through the sorted
    samples (Woodruff 1952): Q(level + t * se). One pass over the samples serves all replicates.
    "max" is the observed maximum of this run and has no replicates: only runs show its error.
    A quantile also needs log(0.025) / log(max(level, 1 - level)) samples; fewer raise TooFew.
    """
    if statistic == "max":
        highest = as_samples(samples, "maximum", needed=NEEDED)
        return _constant(float(highest.max()), replicates, highest.size, constant=False)
    level = level_of(statistic)
    array = as_samples(samples, f"interval of {statistic}", needed=NEEDED)
    if array.min() == array.max():
        return _constant(float(array[0]), replicates, array.size)
    if level is None:
        mean = exact_mean(array)
        drawn = studentised_deviates(array, replicates, rng)
        worth = array.size / drawn.cell / max(drawn.tau, 1.0)

        def of_mean(factor: float) -> Floats:
            return np.asarray(mean - factor * drawn.t * drawn.standard_error)

        return Replicated(mean, of_mean, drawn.standard_error, False, worth)
    needed = needed_for_interval(level, 0.95)
    if array.size < needed:
        raise TooFew(f"interval of {statistic}", array.size, needed)
    data = order(array)
    value = data.median if statistic in ("median", 0.5) else data.quantile(level)
    drawn = studentised_deviates(_reached(array, data, level), replicates, rng)
    worth = array.size / drawn.cell / max(drawn.tau, 1.0)

    def of_quantile(factor: float) -> Floats:
        return _read_back(data, level + factor * drawn.t * drawn.standard_error)

    limits = float(data.values[0]), float(data.values[-1])
    error = _central_sd(of_quantile(1.0).clip(*limits))
    beyond = separate_events(array > value if limits[1] > value else array >= value)
    return Replicated(value, of_quantile, error, False, worth, limits, beyond.reason)


def replicate_less_loop(
    run: LessLoop, statistic: str | float, replicates: int, rng: np.random.Generator
) -> Replicated:
    """Replicates of (statistic of the batches - median of the loops) / per; at least 10 of each.

    Method: both are replicated separately and subtracted, so that the interval includes the spread
    of the loop. Assumes that batches and loops are independent; a shared disturbance makes the
    interval wider than necessary.
    """
    whole = replicate(run.samples, statistic, replicates, rng)
    loop = replicate(run.loop, "median", replicates, rng)

    def stretched(factor: float) -> Floats:
        with np.errstate(invalid="ignore"):  # infinite on both sides: any value is possible
            return np.asarray((whole.stretched(factor) - loop.stretched(factor)) / run.per)

    return Replicated(
        (whole.value - loop.value) / run.per,
        stretched,
        math.hypot(whole.standard_error, loop.standard_error) / run.per,
        whole.constant and loop.constant,
        min(whole.effective_n, loop.effective_n),
        few=whole.few or loop.few,
    )


def varied_between_runs(of: Replicated, spread: float, rng: np.random.Generator) -> Replicated:
    """Adds a known spread between runs: a normal factor of relative sd `spread`."""
    noise = rng.standard_normal(of.values.size)

    def stretched(factor: float) -> Floats:
        return np.asarray(of.stretched(factor) * np.exp(factor * spread * noise))

    error = math.hypot(of.standard_error, spread * of.value)
    return Replicated(of.value, stretched, error, False, of.effective_n, few=of.few)


def _constant(value: float, replicates: int, n: int, *, constant: bool = True) -> Replicated:
    values = np.full(replicates, value)
    return Replicated(value, lambda _: values, 0.0, constant, float(n))


def _central_sd(values: Floats) -> float:
    """The sd of normal `values` (B,), from half the width of their middle 68 %.

    Otherwise a few replicates of a high percentile, far out in a heavy tail, would dominate.
    """
    low, high = ends(values, ONE_SIGMA)
    return (high - low) / 2.0 or float(values.std())


def _reached(array: Array, data: Ordered, level: float) -> Floats:
    """1 below the quantile, 0 above, and a share for ties so that the mean is `level` exactly."""
    quantile = data.quantile(level)
    below = data.count_below(quantile)
    equal = data.count_up_to(quantile) - below
    share = (level * data.n - below) / equal
    reached: Floats = (array < quantile) + share * (array == quantile)
    return reached


def _read_back(data: Ordered, levels: Floats) -> Floats:
    """The samples at `levels` (B,); infinite for levels beyond all samples."""
    ranks = np.ceil(levels * data.n * (1.0 - 1e-12)).astype(np.int64)
    samples = data.values.take(ranks - 1, mode="clip").astype(np.float64)
    samples[ranks > data.n] = np.inf
    samples[ranks < 1] = -np.inf
    return np.asarray(samples)
