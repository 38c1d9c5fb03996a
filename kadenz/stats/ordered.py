# SPDX-License-Identifier: Apache-2.0
"""Samples sorted once, so that every later order statistic is a look-up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Array, as_samples, is_integer


@dataclass(frozen=True, eq=False)
class Ordered:
    """`values` (n,) ascending, read-only, in the type of the samples (u4 stays u4)."""

    values: Array

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.values.size)

    def rank(self, rank: int) -> float:
        """The order statistic X_(rank), 1 <= rank <= n."""
        if not 1 <= rank <= self.n:
            raise Undefined("order statistic", f"rank {rank} of {self.n} samples does not exist")
        return float(self.values[rank - 1])

    def quantile(self, level: float) -> float:
        """The smallest sample that at least `level` of the samples do not exceed.

        Inverse of the empirical distribution (Hyndman and Fan 1996, definition 1): always a value
        that was measured, never an interpolation between two ticks.
        """
        if not 0.0 <= level <= 1.0:
            raise Undefined("quantile", f"level {level} is outside 0 ... 1")
        # The factor undoes the rounding of level * n, so that 0.07 * 100 is 7 and not 7.000...01.
        rank = int(np.ceil(level * self.n * (1.0 - 1e-12)))
        return self.rank(min(max(rank, 1), self.n))

    @property
    def median(self) -> float:
        """The middle sample; the mean of the two middle ones for even n."""
        half = self.n // 2
        if self.n % 2:
            return float(self.values[half])
        return (float(self.values[half - 1]) + float(self.values[half])) / 2.0

    def count_below(self, value: float) -> int:
        """The number of samples smaller than `value`."""
        return self._count(math.ceil, value, "left")

    def count_up_to(self, value: float) -> int:
        """The number of samples up to `value`."""
        return self._count(math.floor, value, "right")

    def _count(
        self, whole: Callable[[float], int], value: float, side: Literal["left", "right"]
    ) -> int:
        if not is_integer(self.values):
            return int(np.searchsorted(self.values, value, side=side))
        # numpy would copy all samples to f8 to compare them with a float.
        if value < float(self.values[0]):
            return 0
        if value > float(self.values[-1]):
            return self.n
        bound = self.values.dtype.type(whole(value))
        return int(np.searchsorted(self.values, bound, side=side))


def order(samples: npt.ArrayLike | Ordered) -> Ordered:
    """Sorts `samples` (n,), n >= 1, any order; an Ordered passes through. One copy, same type."""
    if isinstance(samples, Ordered):
        return samples
    values = np.sort(as_samples(samples, "order statistics"))
    values.flags.writeable = False
    return Ordered(values)
