# SPDX-License-Identifier: Apache-2.0
"""Tests samples at known places: after a drain of storage, on another core, under load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.ordered import order
from kadenz.stats.samples import Array, Floats, as_samples

SHIFTS = 999
# Longer series are cut here: more samples would only sharpen a clear answer.
LONGEST = 1 << 20


@dataclass(frozen=True)
class MarkedEffect:
    """Marked samples compared with all others.

    `difference` of medians (marked - others) in the unit of the samples; `p_value` is two-sided,
    `differs` = p_value < alpha. `smallest_p` is the smallest p that these data can give.
    """

    marked_n: int
    marked_median: float
    others_median: float
    difference: float
    p_value: float
    smallest_p: float
    differs: bool


def marked_effect(
    samples: npt.ArrayLike, indices: npt.ArrayLike, *, alpha: float = 0.01, seed: int = 1
) -> MarkedEffect:
    """Tests whether `samples` (n,) at `indices` (m,) differ from the others, n >= 64, m >= 1.

    Method: the mean mid-rank of the marked samples, compared with the same figure after all marks
    are rotated through the series together, by up to 999 distances drawn without repeats (a
    restricted permutation test; Besag and Diggle 1977 shift in the plane). Marks keep their
    distances and samples their neighbours, so neither need be independent. p = (1 + shifts as
    extreme) / (1 + shifts). Assumes a stationary series. Marks in a strict period k have only k - 1
    other places, which limits p (`smallest_p`). The first 2^20 samples are used.
    """
    array = as_samples(samples, "effect of marks", needed=64)[:LONGEST]
    marks = np.unique(np.asarray(indices, dtype=np.int64))
    if marks.size and marks[0] < 0:
        raise Undefined("effect of marks", f"index {marks[0]} is negative")
    marks = marks[marks < array.size]
    if marks.size == 0:
        raise TooFew("effect of marks (marked samples)", 0, 1)
    if marks.size > array.size // 2:
        raise Undefined("effect of marks", f"{marks.size} of {array.size} samples are marked")
    ranks = _mid_ranks(array)
    places = _other_places(marks, array.size)
    rng = np.random.default_rng(seed)
    if places.size > SHIFTS:
        places = rng.choice(places, SHIFTS, replace=False)
    distance = abs(float(ranks[marks].mean()) - 0.5)
    others = [abs(float(ranks[(marks + by) % array.size].mean()) - 0.5) for by in places]
    count = sum(other >= distance - 1e-12 for other in others)
    unmarked = np.ones(array.size, dtype=bool)
    unmarked[marks] = False
    marked_median = order(array[marks]).median
    others_median = order(array[unmarked]).median
    p_value = (1 + count) / (1 + places.size)
    return MarkedEffect(
        marked_n=int(marks.size),
        marked_median=marked_median,
        others_median=others_median,
        difference=marked_median - others_median,
        p_value=p_value,
        smallest_p=1.0 / (1 + places.size),
        differs=p_value < alpha,
    )


def _other_places(marks: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Shifts that move the marks off themselves: up to the period, if they have one."""
    gaps = np.diff(marks)
    if gaps.size and (gaps == gaps[0]).all():
        return np.arange(1, int(gaps[0]))
    return np.arange(1, n)


def _mid_ranks(array: Array) -> Floats:
    """Share of samples below each, ties by half: 0 ... 1."""
    ascending = order(array).values
    below = np.searchsorted(ascending, array, side="left")
    up_to = np.searchsorted(ascending, array, side="right")
    return np.asarray((below + up_to) / (2.0 * array.size))
