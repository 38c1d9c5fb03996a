# SPDX-License-Identifier: Apache-2.0
"""The rate of deadline misses that come in bursts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv, stdtrit

from kadenz.stats.clusters import decluster
from kadenz.stats.effective import effective_size
from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Array, as_samples

# Fewer independent occasions do not show the size of the next one (tests/stats/test_miss_rate).
OCCASIONS = 10.0
# In shorter series the correlation cannot be estimated.
_SERIES = 100


@dataclass(frozen=True)
class MissRate:
    """`missed` of `chances` cycles in `runs` runs; the long-run share is in [low, high].

    `occasions` is the equivalent number of independent misses: 300 misses in bursts of 30 are 10.
    `low` and `high` are None if there are too few, and `reason` says so. Without a miss `low` is 0
    and `high` the one-sided bound on occasions.
    """

    missed: int
    chances: int
    runs: int
    occasions: float
    low: float | None
    high: float | None
    confidence: float
    reason: str = ""

    @property
    def value(self) -> float:
        """The observed share of misses, 0 to 1."""
        return self.missed / self.chances


def miss_rate(
    runs: Sequence[npt.ArrayLike], *, each: int = 1, confidence: float = 0.95
) -> MissRate:
    """The miss rate; `runs[i]` (n_i,), in time order, are the misses of every cycle.

    `each` is the number of chances in a cycle: the number of parallel threads, so that a pause that
    stops all of them is one occasion.

    Method: misses arrive in bursts, bursts as a Poisson process, so that the number of misses is a
    sum of Poisson counts weighted by the sizes of bursts: v, the sum of squared sizes, is its
    variance. The sizes come from the intervals estimator of Ferro and Segers (2003, clusters.py);
    if the autocorrelation of the series (effective.py) gives a larger v, that is used. The interval
    of the weighted sum is the gamma interval of Fay and Feuer (1997), which is exact (Garwood 1936)
    if all bursts have the same size. If more cycles miss than meet the deadline, the met ones are
    counted instead. With two runs or more, the interval also includes t's interval with runs - 1
    degrees of freedom on the logarithm of the rate, with the variance between runs (a sandwich
    estimator: runs are clusters, too). Without a miss: one-sided, 1 - (1 - confidence)^(1 / n).

    Minimum: 10 independent occasions, and with several runs a miss in at least two. Assumes that
    the series is stationary, that bursts are short compared with it, and that future runs are like
    these. Undefined without cycles and for counts outside 0 … `each`.
    """
    series = [as_samples(run, "miss rate") for run in runs if np.size(run)]
    n = sum(misses.size for misses in series)
    if n == 0:
        raise Undefined("miss rate", "no cycles")
    if any(misses.min() < 0 or misses.max() > each for misses in series):
        raise Undefined("miss rate", f"a cycle has 0 to {each} misses")
    if not 0.0 < confidence < 1.0:
        raise Undefined("miss rate", f"confidence {confidence} is outside 0 ... 1")
    chances = n * each
    missed = sum(int(misses.sum()) for misses in series)
    rare = [each - misses for misses in series] if 2 * missed > chances else series
    is_turned = rare is not series
    count = chances - missed if is_turned else missed

    def estimate(
        occasions: float, low: float | None, high: float | None, why: str = ""
    ) -> MissRate:
        if is_turned and low is not None and high is not None:
            low, high = 1.0 - high, 1.0 - low
        return MissRate(missed, chances, len(series), occasions, low, high, confidence, why)

    if count == 0:
        return estimate(0.0, 0.0, -math.expm1(math.log1p(-confidence) / n))
    squares, largest = 0.0, 0.0
    for counts in rare:
        its_squares, its_largest = _bursts(counts)
        squares += its_squares
        largest = max(largest, its_largest)
    between = _between(rare, count, n)
    occasions = count * count / max(squares, between)
    if count * count / squares < OCCASIONS:
        worth = max(1, round(count * count / squares))
        what = "met deadlines" if is_turned else "miss" if count == 1 else "misses"
        why = f"{count:,} {what} worth {worth} independent: at least {OCCASIONS:.0f} are needed"
        return estimate(occasions, None, None, why)
    low, high = _gamma(count, squares, largest, 1.0 - confidence)
    if len(series) > 1:
        quantile = float(stdtrit(len(series) - 1, 0.5 + confidence / 2.0))
        spread = min(quantile * math.sqrt(between) / count, 700.0)
        low, high = min(low, count * math.exp(-spread)), max(high, count * math.exp(spread))
    return estimate(occasions, low / chances, min(1.0, high / chances))


def _bursts(series: Array) -> tuple[float, float]:
    """Sum of the squared sizes of bursts, and the largest size."""
    at = np.flatnonzero(series)
    if at.size == 0:
        return 0.0, 1.0
    values = series[at].astype(np.float64)
    total = float(values.sum())
    if at.size == 1:
        return total * total, total
    clusters = decluster(series, 0.0)
    begins = np.concatenate(([0], np.flatnonzero(np.diff(at) > max(clusters.run, 1)) + 1))
    sizes = np.add.reduceat(values, begins)
    squares, largest = float((sizes**2).sum()), float(sizes.max())
    if series.size >= _SERIES and series.min() != series.max():
        long_run = effective_size(series).long_run_sd
        squares = max(squares, min(series.size * long_run**2, total * total))
    return squares, largest


def _between(series: Sequence[Array], count: int, n: int) -> float:
    """Variance of the number of misses from the differences between runs; 0 for a single run."""
    if len(series) < 2:
        return 0.0
    rests = [float(misses.sum()) - count * misses.size / n for misses in series]
    return len(series) / (len(series) - 1) * sum(rest * rest for rest in rests)


def _gamma(count: float, squares: float, largest: float, alpha: float) -> tuple[float, float]:
    """Fay and Feuer 1997, equations 4 and 5: ends of the expected number of misses."""
    shape = count * count / squares
    low = squares / count * float(gammaincinv(shape, alpha / 2.0))
    more, spread = count + largest, squares + largest * largest
    high = spread / more * float(gammaincinv(more * more / spread, 1.0 - alpha / 2.0))
    return low, high
