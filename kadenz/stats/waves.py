# SPDX-License-Identifier: Apache-2.0
"""Smooth periodic disturbances that are too small to be seen in single samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.fft

from kadenz.stats.event_period import FEWEST_CYCLES, Indices, local_level
from kadenz.stats.samples import Array, Floats

MOST = 8
# Number of neighbouring ordinates for the level of the spectrum.
AROUND = 64
# Phases of a folded profile.
PHASES = 64


@dataclass(frozen=True)
class Wave:
    """A line in the spectrum and its harmonics.

    `every` is the period in cycles, `amplitude` half of the folded profile's range (unit of the
    samples), less the contribution of noise; `p_value` is corrected for every frequency searched.
    `of_step`: a beat of the clock's step with the period, not a disturbance (beat.py).
    """

    every: float
    amplitude: float
    p_value: float
    of_step: bool = False


def find_waves(
    series: Floats, places: Indices, length: int, slowest: float | None, alpha: float
) -> tuple[Wave, ...]:
    """Periodic waves in `series` (n,), about zero, at the cycles `places` (n,) of `length`.

    Method: the periodogram (missing cycles count as zero) divided by its local level, the median of
    neighbouring frequencies over ln 2, largest of three blocks (event_period.py). The largest
    ordinate is tested with Fisher's correction (1929) for all ordinates searched, recorded with its
    harmonics and removed; then the search is repeated. Periods from 2 cycles to `slowest` (None:
    those that recur 16 times).
    """
    grid = np.zeros(scipy.fft.next_fast_len(length, real=True), dtype=np.float32)
    # By a power of two, which changes no digit: squares of large samples overflow in float32.
    grid[places] = np.ldexp(series, -math.frexp(float(np.abs(series).max(initial=0.0)))[1])
    power: Array = np.abs(scipy.fft.rfft(grid)) ** 2
    bins = grid.size
    first = max(2 * FEWEST_CYCLES, math.ceil(length / slowest) if slowest else 0)
    first = first * bins // length + 1
    # The last ordinate is real, not complex, and so has another distribution.
    power = power[:-1]
    if power.size - first < 4 * AROUND or not power[first:].any():
        return ()
    relative = power[first:] / local_level(power[first:], 1e-300)
    searched = relative.size
    limit = -math.log(-math.expm1(math.log1p(-alpha) / searched))
    waves: list[Wave] = []
    high = relative > limit
    while high.any() and len(waves) < MOST:
        best = int(np.argmax(np.where(high, relative, 0.0)))
        centre = _lowest(high, relative, best + first, first)
        chance = -math.expm1(searched * math.log1p(-math.exp(-float(relative[best]))))
        every = bins / _fine(power, centre)
        waves.append(Wave(every, _folded(series, places, every), min(1.0, chance)))
        _strike_out(high, centre, first)
    return tuple(waves)


def _lowest(high: Array, relative: Floats, best: int, first: int) -> int:
    """The fundamental of the ordinate at `best`, if it stands out itself."""
    for divisor in range(16, 1, -1):
        near = round(best / divisor) - first
        if near < 1 or near + 2 > high.size:
            continue
        window = slice(near - 1, near + 2)
        if high[window].any():
            return near - 1 + int(np.argmax(relative[window])) + first
    return best


def _fine(power: Array, centre: int) -> float:
    """The place of a peak between two ordinates (from the two largest amplitudes)."""
    if centre + 1 >= power.size:  # the highest frequency has no neighbour beyond it
        return float(centre)
    left, middle, right = (math.sqrt(float(power[i])) for i in (centre - 1, centre, centre + 1))
    if middle <= 0.0:
        return float(centre)
    side, way = (right, 1.0) if right > left else (left, -1.0)
    return centre + way * side / (side + middle)


def _strike_out(high: Array, centre: int, first: int) -> None:
    """Removes a wave: its harmonics, with neighbours according to order and leakage."""
    for harmonic in range(1, (high.size + first) // centre + 1):
        at, reach = harmonic * centre - first, 8 + harmonic
        high[max(at - reach, 0) : at + reach + 1] = False
        if reach > centre:
            break


def _folded(series: Floats, places: Indices, every: float) -> float:
    """Half the range of the mean profile over one period, corrected for noise."""
    phases = min(PHASES, max(2, math.floor(every)))
    cell = np.minimum((places / every % 1.0 * phases).astype(np.intp), phases - 1)
    counts = np.maximum(np.bincount(cell, minlength=phases), 1)
    profile = np.bincount(cell, weights=series, minlength=phases) / counts
    noise = float(series.var()) / float(counts.mean())
    # Expected range of `phases` independent normal means, in standard deviations.
    expected = 2.0 * math.sqrt(2.0 * math.log(phases)) * math.sqrt(noise)
    span = float(np.ptp(profile))
    return 0.5 * math.sqrt(max(span * span - expected * expected, 0.0))
