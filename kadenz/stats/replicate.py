# SPDX-License-Identifier: Apache-2.0
"""Bootstrap replicates of a mean or a quantile, at a cost that does not grow with the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.percentiles import needed_for_interval
from kadenz.stats.resample import studentised_deviates
from kadenz.stats.samples import Array, Floats, as_samples, exact_mean

NEEDED = 10


@dataclass(frozen=True, eq=False)
class Replicated:
    """A statistic and where it may lie: quantiles of `values` (B,) are its interval's ends.

    `effective_n` is the number of independent samples behind it.
    """

    value: float
    values: Floats
    standard_error: float
    constant: bool
    effective_n: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """The ends at `confidence`; never beyond the value itself on either side."""
        tail = (1.0 - confidence) / 2.0
        low, high = np.quantile(self.values, (tail, 1.0 - tail))
        return min(float(low), self.value), max(float(high), self.value)


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
    A quantile also needs log(0.025) / log(max(level, 1 - level)) samples; fewer raise TooFew.
    """
    level = level_of(statistic)
    array = as_samples(samples, f"interval of {statistic}", needed=NEEDED)
    if array.min() == array.max():
        value = float(array[0])
        return Replicated(value, np.full(replicates, value), 0.0, True, float(array.size))
    if level is None:
        mean = exact_mean(array)
        drawn = studentised_deviates(array, replicates, rng)
        values = mean - drawn.t * drawn.standard_error
        worth = array.size / drawn.cell / max(drawn.tau, 1.0)
        return Replicated(mean, values, drawn.standard_error, False, worth)
    needed = needed_for_interval(level, 0.95)
    if array.size < needed:
        raise TooFew(f"interval of {statistic}", array.size, needed)
    data = order(array)
    value = data.median if statistic in ("median", 0.5) else data.quantile(level)
    drawn = studentised_deviates(_reached(array, data, level), replicates, rng)
    values = _read_back(data, level + drawn.t * drawn.standard_error)
    worth = array.size / drawn.cell / max(drawn.tau, 1.0)
    return Replicated(value, values, float(values.std()), False, worth)


def _reached(array: Array, data: Ordered, level: float) -> Floats:
    """1 below the quantile, 0 above, and a share for ties so that the mean is `level` exactly."""
    quantile = data.quantile(level)
    below = data.count_below(quantile)
    equal = data.count_up_to(quantile) - below
    share = (level * data.n - below) / equal
    reached: Floats = (array < quantile) + share * (array == quantile)
    return reached


def _read_back(data: Ordered, levels: Floats) -> Floats:
    ranks = np.ceil(levels * data.n * (1.0 - 1e-12)).astype(np.int64)
    return np.asarray(data.values.take(ranks - 1, mode="clip").astype(np.float64))
