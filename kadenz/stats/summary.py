# SPDX-License-Identifier: Apache-2.0
"""The plain description of one series: n, mean, sd, extremes, median."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.ordered import Ordered
from kadenz.stats.samples import Array, as_samples, centred_squares, exact_mean


@dataclass(frozen=True)
class Summary:
    """All but `n` in the unit of the samples. `sd` is None for a single sample."""

    n: int
    mean: float
    sd: float | None
    min: float
    max: float
    median: float

    @property
    def constant(self) -> bool:
        """True if all samples are equal."""
        return self.min == self.max


def summarize(samples: npt.ArrayLike, *, ordered: Ordered | None = None) -> Summary:
    """Describes `samples` (n,), n >= 1. Pass `ordered` if the samples are already sorted.

    Method: integer samples are summed as integers, so the mean is exact to its last bit; the sd is
    the two-pass sum of squared deviations over n - 1, in pieces, so that a u4 array is never fully
    copied to f8. Assumes nothing about the samples; if they depend on each other, the sd does not
    give the mean's error (see mean_interval).
    """
    array = as_samples(samples, "summary")
    n = array.size
    mean = exact_mean(array)
    low, high = (
        (float(array.min()), float(array.max()))
        if ordered is None
        else (ordered.rank(1), ordered.rank(n))
    )
    squares = 0.0 if low == high else centred_squares(array, mean)
    return Summary(
        n=n,
        mean=mean,
        sd=math.sqrt(squares / (n - 1)) if n > 1 else None,
        min=low,
        max=high,
        median=ordered.median if ordered is not None else _median(array),
    )


def _median(array: Array) -> float:
    """The median by selection, without a full sort. One copy, same type."""
    half = array.size // 2
    if array.size % 2:
        return float(np.partition(array, half)[half])
    middle = np.partition(array, (half - 1, half))
    return (float(middle[half - 1]) + float(middle[half])) / 2.0
