# SPDX-License-Identifier: Apache-2.0
"""Finds a slow period in few events by adding up all harmonics of a pulse train."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from kadenz.stats.event_period import FEWEST_CYCLES, padded
from kadenz.stats.samples import Array, Floats

HARMONICS = 32
# Periods that recur more often than this have enough events for a single line.
MOST_CYCLES = 1000
# The local level is the median of this number of neighbouring ordinates.
AROUND = 257


def search_comb(power: Array, events: int, length: int) -> tuple[float, float]:
    """p-value over the whole search, and the frequency in cycles per sample.

    `power` is the spectrum (event_period.py) of `events` events in `length` samples. Short strikes
    at one period have equal harmonics, so the sum of 32 of them, each divided by the local level of
    the periodogram, shows sixteen strikes among as many strays, which no single line does (the Z^2
    statistic of Buccheri et al. 1983, from one FFT). Searches periods that recur 8 to 1000 times,
    32 steps per bin. Without a period an ordinate is exponential and the sum gamma; the p-value is
    corrected for all sums examined.
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
    """Upper local mean: median / ln 2 of blocks, the largest of three, at least chance."""
    blocks = max(1, power.size // AROUND)
    size = power.size // blocks
    medians = np.median(power[: blocks * size].reshape(blocks, size), axis=1) / np.log(2.0)
    around = np.concatenate((medians[:1], medians, medians[-1:]))
    medians = np.maximum(np.maximum(around[:-2], around[1:-1]), around[2:])
    level = np.repeat(medians, size)
    level = np.concatenate((level, np.full(power.size - level.size, medians[-1])))
    return np.asarray(np.maximum(level, float(events)), dtype=np.float64)
