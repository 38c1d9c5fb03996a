# SPDX-License-Identifier: Apache-2.0
"""Which cycle an edge belongs to, where edges are missing and nobody wrote the numbers down."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Ints, as_samples

# Phase is followed over blocks of so many edges; two clocks 500 ppm apart turn it by an eighth.
BLOCK = 256
# A spectrum has a place for every cycle, taken or not: 16 bytes each. Up to so many they are worth
# it for any series, beyond only where at least this share of them was taken.
MOST_SPAN = 1 << 24
FEWEST_TAKEN = 0.1


def check_span(cycles: npt.NDArray[Any], statistic: str) -> None:
    """Undefined where the cycles `cycles` (n,), ascending, can be no numbers of cycles.

    That is where they span more than 16.8 million and fewer than a tenth of these were taken: a
    series that leaves out so much is rather numbered by a time.
    """
    span = int(cycles[-1]) - int(cycles[0]) + 1 if cycles.size else 0
    if span > max(MOST_SPAN, cycles.size / FEWEST_TAKEN):
        raise Undefined(
            statistic,
            f"{cycles.size:,} samples are spread over {span:,} cycles, fewer than one in "
            f"{1 / FEWEST_TAKEN:g}",
            cause="cycles",
        )


def cycle_numbers(times: npt.ArrayLike, period: float) -> Ints:
    """Number of the cycle of each of the edge times `times` (n,), n >= 2, ascending; first is 0.

    Method: the phase of the edges against the nominal `period` (unit of the times) is followed over
    blocks of 256 edges by its circular mean, which neither a missing edge nor a late one moves, and
    an edge belongs to the cycle whose expected moment is nearest. Where two edges claim one cycle,
    the earlier one was late and takes the cycle before. Assumes a rate error below 1,900 ppm
    (half a turn in a block) and that most edges are less than half a period off.
    """
    edges = as_samples(times, "cycle numbers", needed=2)
    if not period > 0.0:
        raise Undefined("cycle numbers", f"period {period} is not positive", cause="period")
    relative = (edges - edges[0]).astype(np.float64) / period
    n = relative.size
    starts = np.arange(0, n, BLOCK)
    counts = np.diff(np.append(starts, n))
    sums = np.add.reduceat(np.exp(2j * np.pi * (relative - np.round(relative))), starts)
    phase = np.unwrap(np.angle(sums)) / (2.0 * np.pi)
    centres = np.add.reduceat(relative, starts) / counts
    number = np.round(relative - np.interp(relative, centres, phase)).astype(np.int64)
    # Cycles less positions never fall: holes only add.
    ahead = number - np.arange(n)
    number = np.minimum.accumulate(ahead[::-1])[::-1] + np.arange(n)
    return np.asarray(number - number[0], dtype=np.int64)
