# SPDX-License-Identifier: Apache-2.0
"""Exceedance: the share of planned samples at or above a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.samples import Floats, Ints

# All of the largest samples are kept; below them as many per decade as a plot can show.
LARGEST = 40
PER_DECADE = 16


@dataclass(frozen=True, eq=False)
class Exceedance:
    """`counts[i]` of `planned` are at least `values[i]`, `above[i]` exceed it; `values` (p,) are
    ascending, in the unit of the samples. Missed samples have no value and exceed all.
    """

    n: int
    missed: int
    values: Floats
    counts: Ints
    above: Ints

    @property
    def planned(self) -> int:
        """Samples taken and missed."""
        return self.n + self.missed


def exceedance(
    samples: npt.ArrayLike | Ordered,
    *,
    missed: int = 0,
    largest: int = LARGEST,
    per_decade: int = PER_DECADE,
) -> Exceedance:
    """Exceedance of `samples` (n,), n >= 1, any order, at measured values only.

    Method: 1 - F of the empirical distribution F and its left limit; every count is exact. Values
    are the `largest` order statistics, the smallest, and between them ranks in geometric
    progression, `per_decade` per decade. Undefined for a negative `missed`.
    """
    if missed < 0:
        raise Undefined("exceedance", f"{missed} missed samples")
    ordered = order(samples)
    n = ordered.n
    from_top = np.arange(1, min(largest, n) + 1)
    if n > largest:
        decades = np.log10(n / largest)
        steps = np.geomspace(largest, n, 2 + int(np.ceil(per_decade * decades)))
        from_top = np.concatenate((from_top, np.round(steps).astype(np.int64)))
    values = np.unique(ordered.values[n - np.unique(from_top)])
    planned = n + missed
    counts = planned - np.searchsorted(ordered.values, values, side="left")
    above = planned - np.searchsorted(ordered.values, values, side="right")
    return Exceedance(
        n, missed, values.astype(np.float64), counts.astype(np.int64), above.astype(np.int64)
    )
