# SPDX-License-Identifier: Apache-2.0
"""Percentiles with order-statistic intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, gammaincinv

from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.samples import Array, as_samples
from kadenz.stats.separate import (
    FEWEST_INDEPENDENT,
    FEWEST_SEPARATE,
    Separate,
    separate_events,
)

LEVELS = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


@dataclass(frozen=True)
class Percentile:
    """One percentile. Fields that need more samples are None, and `reason` says so.

    `name` is e.g. "p99.9"; `value`, `low`, `high` are in the unit of the samples, each a measured
    value; both ends are None if the interval is unknown because the samples beyond come in few
    bursts. `attained` is the exact confidence of [low, high] for independent samples, at least
    `confidence`; `tau` is the dependence taken into account (1: independent); `needed` is the
    number of samples (of this dependence) from which value and both ends exist.
    """

    level: float
    name: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    attained: float | None
    tau: float
    needed: int
    reason: str = ""
    known: bool = True  # False if only bursts prevent an interval, regardless of n


def percentiles(
    samples: npt.ArrayLike,
    *,
    levels: Sequence[float] = LEVELS,
    confidence: float = 0.95,
    ordered: Ordered | None = None,
    dependent: bool = True,
) -> tuple[Percentile, ...]:
    """Percentiles of `samples` (n,), n >= 1, in time order unless `dependent` is False.

    Method: the value is the smallest sample that a share `level` does not exceed. The interval is
    [X_(r), X_(s)] with r, s from the binomial distribution of the number of samples below the
    quantile (David and Nagaraja 2003, section 7.1): exact, conservative, and valid for any
    distribution, ties included. With `dependent`, the number of samples in that binomial is
    n / tau, tau being the dependence of the events "sample i exceeds the value" (separate.py):
    approximate, and never narrower. If these events come in too few bursts, both ends are None,
    unless ties still decide the quantile.
    Assumes stationarity; `dependent=False` assumes independence. Simulated coverage, for many and
    for few bursts, is in docs/performance.md.

    Minimum: the value needs n * min(level, 1 - level) >= 1, the interval
    log((1 - confidence) / 2) / log(max(level, 1 - level)) samples (p99.99 at 95 %: 36,887), times
    tau. With fewer samples the field is None and `reason` gives the number needed; nothing is
    extrapolated.
    """
    array = as_samples(samples, "percentiles")
    data = order(array) if ordered is None else ordered
    if data.n != array.size:
        raise Undefined("percentiles", f"{array.size} samples, but {data.n} sorted ones")
    if not 0.0 < confidence < 1.0:
        raise Undefined("percentiles", f"confidence {confidence} is outside 0 ... 1")
    return tuple(_percentile(array, data, level, confidence, dependent) for level in levels)


def quantile_ranks(n: int, level: float, confidence: float) -> tuple[int, int]:
    """Ranks (r, s) so that X_(r) <= quantile <= X_(s) with at least `confidence`.

    r = 0 or s = n + 1 if n is too small for that end. Each tail has at most half of the rest:
    P(B <= r - 1) <= (1 - confidence) / 2 and P(B >= s) <= (1 - confidence) / 2, B ~ Bin(n, level).
    """
    tail = (1.0 - confidence) / 2.0
    low = _first_rank(n, level, tail)
    # The upper end is the lower end of the mirrored problem.
    high = n + 1 - _first_rank(n, 1.0 - level, tail)
    return low, high


def _first_rank(n: int, level: float, tail: float) -> int:
    """The largest r with P(Bin(n, level) <= r - 1) <= tail, 0 if there is none."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        if bdtr(middle - 1, n, level) <= tail:
            low = middle
        else:
            high = middle - 1
    return low


def needed_for_interval(level: float, confidence: float) -> int:
    """The smallest n for both ends of the interval, for independent samples."""
    return math.ceil(math.log((1.0 - confidence) / 2.0) / math.log(max(level, 1.0 - level)))


def _percentile(
    array: Array, data: Ordered, level: float, confidence: float, dependent: bool
) -> Percentile:
    if not 0.0 < level < 1.0:
        raise Undefined("percentile", f"level {level} is outside 0 ... 1")
    n = data.n
    name = f"p{round(100.0 * level, 6):g}"
    # Decimal levels: 1 - 0.9999 is 1.0000000000000286e-4 in binary.
    for_value = math.ceil(round(1.0 / min(level, 1.0 - level), 6))
    for_interval = needed_for_interval(level, confidence)
    if n < for_value:
        needed = max(for_value, for_interval)
        reason = f"not enough samples: {n:,}, {for_value:,} needed for the value"
        return Percentile(level, name, n, None, None, None, confidence, None, 1.0, needed, reason)
    value = data.quantile(level)
    beyond = _beyond(array, data, value) if dependent else Separate(n, 0, 1.0, 0.0)
    tau = beyond.tau
    worth = max(1, math.floor(n / tau))
    low, high = quantile_ranks(worth, level, confidence)
    needed = max(for_value, math.ceil(for_interval * tau))
    if not beyond.known and _ties_decide(array, value, level, confidence):
        return Percentile(
            level, name, n, value, value, value, confidence, confidence, tau, needed, ""
        )
    if not beyond.known:
        bursts = tau * max(FEWEST_SEPARATE / min(level, 1.0 - level), FEWEST_INDEPENDENT)
        needed = max(needed, math.ceil(bursts), n + 1)
        reason = f"interval unknown: {beyond.reason}"
        return Percentile(
            level, name, n, value, None, None, confidence, None, tau, needed, reason, False
        )
    missing = [end for end, gone in (("lower", low < 1), ("upper", high > worth)) if gone]
    reason = (
        f"not enough samples for the {' and '.join(missing)} end: {n:,}, {needed:,} needed"
        if missing
        else ""
    )
    attained = (
        None if missing else float(bdtr(high - 1, worth, level) - bdtr(low - 1, worth, level))
    )
    if worth < n:
        # Ranks of the n / tau samples as ranks of all n, rounded outwards.
        low_rank = math.floor((low - 1) / worth * n) + 1
        high_rank = min(n, math.ceil(high / worth * n))
    else:
        low_rank, high_rank = low, high
    return Percentile(
        level=level,
        name=name,
        n=n,
        value=value,
        low=None if "lower" in missing else data.rank(low_rank),
        high=None if "upper" in missing else data.rank(high_rank),
        confidence=confidence,
        attained=attained,
        tau=tau,
        needed=needed,
        reason=reason,
    )


def _ties_decide(array: Array, value: float, level: float, confidence: float) -> bool:
    """Whether ties at `value` are so common that no burst beyond it can move the quantile.

    For the bursts above and for those below, the upper bound of their Poisson number (Garwood 1936)
    at their observed size must leave the level between the two. A median of 117, with two of 59
    samples at 157, stays 117, however rare and dependent the two are.
    """
    for beyond, room in ((array > value, 1.0 - level), (array < value, level)):
        count = int(np.count_nonzero(beyond))
        if count >= room * array.size:
            return False
        tau = separate_events(beyond).tau
        most = float(gammaincinv(count / tau + 1.0, (1.0 + confidence) / 2.0))
        if most * tau >= room * array.size:
            return False
    return True


def _beyond(array: Array, data: Ordered, value: float) -> Separate:
    """The events "exceeds `value`", or "reaches it" if no sample exceeds it."""
    return separate_events(array > value if data.rank(data.n) > value else array >= value)
