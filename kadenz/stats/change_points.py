# SPDX-License-Identifier: Apache-2.0
"""Where the level of a series changed, with an interval for each place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew
from kadenz.stats.samples import Floats

LEAST = 6  # fewer values give no p-value below 1 % worth having
_SEED = 20061122
_PERMUTATIONS = 999
_BLOCK = 128  # permutations at once


@dataclass(frozen=True)
class Change:
    """The level changes between the values `at - 1` and `at`.

    `first` to `last`: the interval for `at`, at the asked level. `before` and `after`: medians of
    the two segments beside it. `p`: of no change between its neighbours.
    """

    at: int
    first: int
    last: int
    before: float
    after: float
    p: float


def change_points(
    series: npt.ArrayLike, *, alpha: float = 0.01, level: float = 0.95
) -> list[Change]:
    """Changes of level in `series` (n,), in order; [] if there is none. Unit of the series.

    Method: binary segmentation (Vostrikova 1981). In a segment the place with the largest
    standardised difference of mean ranks is taken; it counts as a change if at most `alpha` of 999
    random orders of the segment have a larger one (permutation test, seeded; as in Matteson and
    James 2014). Ranks: a single slow run moves nothing. The significance is that of one segment:
    segments are searched only below an accepted change, so a series without a change gives a false
    alarm with probability alpha. The interval has the places whose log-likelihood, for two levels
    of the ranks, is within -log(1 - sqrt(level)) of the largest: it falls on both sides as a random
    walk whose maximum is exponential (Siegmund 1988). Assumes values that are exchangeable without
    a change. Raises TooFew below 6 values.
    """
    values = np.asarray(series, dtype=np.float64)
    if values.size < LEAST:
        raise TooFew("change points", values.size, LEAST)
    rng = np.random.default_rng(_SEED)
    accepted: list[tuple[int, float]] = []
    todo = [(0, values.size)]
    while todo:
        low, high = todo.pop()
        if high - low < LEAST:
            continue
        at, p = _largest(values[low:high], rng)
        if p <= alpha:
            accepted.append((low + at, p))
            todo += [(low, low + at), (low + at, high)]
    accepted.sort()
    borders = [0, *(at for at, _ in accepted), values.size]
    return [
        _change(values, borders[i], at, borders[i + 2], p, level)
        for i, (at, p) in enumerate(accepted)
    ]


def _ranks(values: Floats) -> Floats:
    """Mid-ranks less their mean: values (n,) -> (n,)."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2.0
    ranks: Floats = middle[inverse] - (values.size + 1) / 2.0
    return ranks


def _statistic(ranks: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Squared standardised difference of means for each split; ranks (..., n) -> (..., n - 1)."""
    n = ranks.shape[-1]
    k = np.arange(1, n)
    sums = np.cumsum(ranks, axis=-1)[..., :-1]
    result: npt.NDArray[np.float64] = sums**2 * n / (k * (n - k))
    return result


def _largest(values: Floats, rng: np.random.Generator) -> tuple[int, float]:
    """The best split of a segment and its p-value."""
    ranks = _ranks(values)
    splits = _statistic(ranks)
    at = int(np.argmax(splits))
    largest = splits[at]
    if largest == 0.0:  # all values are equal
        return at + 1, 1.0
    beyond = 0
    for start in range(0, _PERMUTATIONS, _BLOCK):
        many = min(_BLOCK, _PERMUTATIONS - start)
        orders = rng.permuted(np.broadcast_to(ranks, (many, ranks.size)), axis=1)
        beyond += int((_statistic(orders).max(axis=1) >= largest * (1.0 - 1e-12)).sum())
    return at + 1, (1 + beyond) / (1 + _PERMUTATIONS)


def _change(values: Floats, low: int, at: int, high: int, p: float, level: float) -> Change:
    segment = values[low:high]
    ranks = _ranks(segment)
    splits = _statistic(ranks)
    best = at - low
    # Variance of the ranks about their two levels.
    rest = float((ranks**2).sum() - splits[best - 1]) / max(1, segment.size - 2)
    distance = -2.0 * math.log(1.0 - math.sqrt(level)) * rest
    near = np.flatnonzero(splits >= splits[best - 1] - distance) + 1
    return Change(
        at=at,
        first=low + int(near.min()),
        last=low + int(near.max()),
        before=float(np.median(segment[:best])),
        after=float(np.median(segment[best:])),
        p=p,
    )
