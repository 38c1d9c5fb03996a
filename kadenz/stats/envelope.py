# SPDX-License-Identifier: Apache-2.0
"""Thinning for plots: extremes and quantile bands of consecutive cells, all exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Floats, Ints, as_samples


@dataclass(frozen=True, eq=False)
class Envelope:
    """Consecutive cells of samples: `first` (c,) is each cell's first index, `length` (c,) its n.

    `low`, `high` (c,) are extremes and `bands` (len(levels), c) quantiles, in the samples' unit.
    """

    n: int
    first: Ints
    length: Ints
    low: Floats
    high: Floats
    levels: tuple[float, ...]
    bands: Floats


def envelope(
    samples: npt.ArrayLike, *, cells: int = 1000, levels: Sequence[float] = (0.25, 0.5, 0.75)
) -> Envelope:
    """Thins `samples` (n,), n >= 1, in time order, to at most `cells` cells.

    Method: ceil(n / cells) samples per cell, the last one shorter; each cell is sorted, so every
    figure is a measured value (quantiles by definition 1 of Hyndman and Fan 1996) and no peak is
    lost. Assumes nothing.
    """
    array = as_samples(samples, "envelope")
    if cells < 1 or not all(0.0 < level <= 1.0 for level in levels):
        raise Undefined("envelope", f"{cells} cells, levels {tuple(levels)} outside 0 ... 1")
    n = array.size
    width = -(-n // cells)
    whole = n // width
    first = np.arange(0, n, width, dtype=np.int64)
    length = np.minimum(width, n - first)
    low = np.empty(first.size)
    high = np.empty(first.size)
    bands = np.empty((len(levels), first.size))
    groups = [(slice(0, whole), np.sort(array[: whole * width].reshape(whole, width), axis=1))]
    if whole < first.size:
        groups.append((slice(whole, whole + 1), np.sort(array[whole * width :])[np.newaxis, :]))
    for cell, rows in groups:
        low[cell], high[cell] = rows[:, 0], rows[:, -1]
        for band, level in enumerate(levels):
            rank = int(np.ceil(level * rows.shape[1] * (1.0 - 1e-12)))
            bands[band, cell] = rows[:, max(rank, 1) - 1]
    return Envelope(n, first, length, low, high, tuple(levels), bands)
