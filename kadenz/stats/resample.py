# SPDX-License-Identifier: Apache-2.0
"""The engine of every bootstrap here: studentised moving blocks over cell means.

Long series are averaged over cells first. That loses nothing: the mean of a resample whose blocks
begin and end at cell borders depends on the cell means alone, so resampling cells gives exactly the
numbers of resampling those blocks of samples (tested). Only blocks that begin inside a cell are
left out; with 4096 cells or more there are enough others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kadenz.stats.block_length import politis_white
from kadenz.stats.effective import monotone_tau
from kadenz.stats.samples import Array, Floats, cell_means

CELLS = 4096
# Simulated coverage chose this factor (docs/explanation/statistics.md): Politis and White minimise
# the error of the variance; an interval's coverage wants less bias, hence longer blocks.
LENGTHEN = 1.5
FEWEST_BLOCKS = 4
# A resample that misses the only outlier among 1000 equal samples has no spread. With a floor of a
# quarter of the original's spread its t is -4, and the interval's upper end is five times the
# outlier's share of the mean: close to the 5.6 of an exact Poisson interval for one event. Without
# a floor it could be infinite. Simulated coverage is the same for every floor up to a half.
SMALLEST_SPREAD = 0.25
# Replicates are drawn in batches of about this many block picks: 16 MiB of f8.
BATCH = 1 << 21


@dataclass(frozen=True, eq=False)
class Deviates:
    """Studentised deviations of a mean: t (B,) = (resampled mean - mean) / its standard error.

    `standard_error` is the original mean's, in the unit of the samples; `block` is in samples.
    """

    t: Floats
    standard_error: float
    block: int
    cell: int
    tau: float


def studentised_deviates(
    array: Array, replicates: int, rng: np.random.Generator, block: int | None = None
) -> Deviates:
    """Studentised circular moving-block bootstrap of the mean of `array` (n,), n >= 10.

    Method: Kuensch (1989) blocks, made circular (Politis and Romano 1992) so that no sample is
    drawn less often than another; studentised as by Goetze and Kuensch (1996) with the spread of
    the drawn blocks. The original's standard error is the larger one from overlapping blocks and
    from Geyer's sum (effective.py): each is too small in other cases. A resample's own spread
    counts as at least a quarter of the original's (SMALLEST_SPREAD). `block` in samples overrides
    the automatic length.
    """
    cell = max(1, array.size // CELLS) if block is None else _cell_of(block, array.size)
    means = cell_means(array, cell)
    m = means.size
    wanted = LENGTHEN * politis_white(means) if block is None else block / cell
    length = int(min(max(1, math.ceil(wanted - 1e-9)), max(1, m // FEWEST_BLOCKS)))
    deviations = means - means.mean()
    sums = np.concatenate(([0.0], np.cumsum(np.concatenate((deviations, deviations[:length])))))
    blocks = (sums[length : length + m] - sums[:m]) / length
    # A sum of deviations is zero only up to rounding; below this it counts as zero.
    scale = float(np.abs(means).max()) * 1e-13
    blocks[np.abs(blocks) <= scale] = 0.0
    by_blocks = math.sqrt(float((blocks**2).mean()) * length / m / (1.0 - length / m))
    tau, _ = monotone_tau(means)
    standard_error = max(by_blocks, math.sqrt(max(float(means.var()) * tau, 0.0) / m))
    # All blocks may be equal although samples are not (an alternation): then every t is 0.
    smallest = SMALLEST_SPREAD * by_blocks or 1.0
    picks = -(-m // length)
    t = np.zeros(replicates)
    step = max(1, BATCH // picks)
    for first in range(0, replicates, step):
        last = min(replicates, first + step)
        drawn = blocks[rng.integers(0, m, size=(last - first, picks))]
        spread = drawn.std(axis=1, ddof=1) / math.sqrt(picks)
        spread = np.maximum(spread, smallest)
        t[first:last] = drawn.mean(axis=1) / spread
    return Deviates(t, standard_error, length * cell, cell, tau)


def _cell_of(block: int, n: int) -> int:
    """The largest divisor of `block` that leaves about CELLS cells, so that blocks stay exact."""
    most = max(1, n // CELLS)
    return max(size for size in range(1, min(block, most) + 1) if block % size == 0)
