# SPDX-License-Identifier: Apache-2.0
"""A slow period in few events: all harmonics of a pulse train added up."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from kadenz.stats.event_period import FEWEST_CYCLES, padded
from kadenz.stats.samples import Array, Floats

HARMONICS = 32
# Periods that come round more often than this have enough events for a single line.
MOST_CYCLES = 1000
# The local level is the median of so many ordinates around.
AROUND = 257


def search_comb(power: Array, events: int, length: int) -> tuple[float, float]:
    """p-value over everything searched, and the frequency in cycles a sample.

    `power` is the spectrum (event_period.py) of so many events in `length` samples. Short strikes
    at one period have all harmonics alike, so the sum of 32 of them, each divided by the local
    level of the periodogram, shows sixteen strikes among as many strays, which no single line does
    (the Z^2 statistic of Buccheri et al. 1983, read from one FFT). Periods that come round 8 to
    1000 times are searched, 32 steps a bin. Under no period an ordinate is exponential and the sum
    gamma; counted are all sums looked at.
    """
    bins = padded(length)
    most = min(MOST_CYCLES * bins // length, bins // (2 * HARMONICS) - 1)
    fewest = FEWEST_CYCLES * bins // length
    if most <= fewest:
        return 1.0, 0.0
    power = power[: (most + 1) * HARMONICS]
    relative = power / _smooth_level(power, events)
    steps = np.arange(fewest * HARMONICS, most * HARMONICS)
    sums = np.zeros(steps.size)
    for harmonic in range(1, HARMONICS + 1):
        sums += relative[(steps * harmonic + HARMONICS // 2) // HARMONICS]
    best = int(np.argmax(sums))
    chance = float(gammaincc(HARMONICS, float(sums[best])))
    return min(1.0, chance * steps.size), float(steps[best]) / HARMONICS / bins


def _smooth_level(power: Array, events: int) -> Floats:
    """Local mean from above: median / ln 2 of blocks, the largest of three, at least chance."""
    blocks = max(1, power.size // AROUND)
    size = power.size // blocks
    medians = np.median(power[: blocks * size].reshape(blocks, size), axis=1) / np.log(2.0)
    around = np.concatenate((medians[:1], medians, medians[-1:]))
    medians = np.maximum(np.maximum(around[:-2], around[1:-1]), around[2:])
    level = np.repeat(medians, size)
    level = np.concatenate((level, np.full(power.size - level.size, medians[-1])))
    return np.asarray(np.maximum(level, float(events)), dtype=np.float64)
