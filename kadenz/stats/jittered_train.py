# SPDX-License-Identifier: Apache-2.0
"""Finds the period of events that come a cycle early or late, among as many strays."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

from kadenz.stats.event_period import FEWEST_PERIODS, Indices
from kadenz.stats.samples import Floats

# A train's events lie within three cycles: that of their slot, the one before, the one after.
WIDTH = 3.0
# Longer and shorter than three cycles there is none: whole numbers within it are three.
_REACH = WIDTH - 0.01
# Shorter periods leave no cycle that is not near a slot.
SHORTEST = 2.0 * WIDTH
# Events times frequencies: more events show their period in a single line of their spectrum.
MOST = 30_000_000
# Frequencies that are first looked at together. Their last slots are this many half cycles apart.
TOGETHER = 8
_ROWS = 1 << 18


def search_around(events: Indices, length: int, alpha: float = 1.0) -> tuple[float, float]:
    """p-value over the whole search, and the frequency in cycles per sample; (1, 0) if no p-value
    is below `alpha`.

    `events` (m,) are places in a series of `length`, ascending, more than two cycles apart.

    Method: at every frequency that can be distinguished (a step moves a slot by at most half a
    cycle over the series), the largest number s of events whose phases lie within three cycles. An
    event at a random place does so with probability w = 3 / period, so that s of m do by chance
    with at most P(binomial(m - 1, w) >= s - 1), for each of m events that may be the first one. The
    p-value is that times m and the number of frequencies (Bonferroni): at most that share of
    series of random places has one as small. Periods from 6 cycles to a fifth of the series.
    """
    m = events.size
    every = _frequencies(length)
    if m < 2 or every.size == 0 or m * every.size > MOST:
        return 1.0, 0.0
    tests = m * every.size
    blocks = every[: every.size // TOGETHER * TOGETHER].reshape(-1, TOGETHER)
    wide = _most_in_step(events, blocks[:, TOGETHER // 2], _REACH + (TOGETHER - 1) / 2)
    possible = tests * _chance(wide, m, blocks[:, 0]) < alpha
    some = np.concatenate((blocks[possible].ravel(), every[blocks.size :]))
    if some.size == 0:
        return 1.0, 0.0
    chance = tests * _chance(_most_in_step(events, some, _REACH), m, some)
    least = int(np.argmin(chance))
    return (float(chance[least]), float(some[least])) if chance[least] < alpha else (1.0, 0.0)


def near_slots(events: Indices, frequency: float) -> npt.NDArray[np.bool_]:
    """Which events lie within the three cycles that hold most of them."""
    turns = np.asarray(frequency * events % 1.0)
    ahead = (turns[np.newaxis, :] - turns[:, np.newaxis]) % 1.0 <= _REACH * frequency
    return np.asarray(ahead[int(np.argmax(ahead.sum(axis=1)))])


def _frequencies(length: int) -> Floats:
    """A step of 1 / `length` of each: the last slot of the series moves by a cycle."""
    lowest, highest = FEWEST_PERIODS / length, 1.0 / SHORTEST
    if highest <= lowest:
        return np.zeros(0)
    count = math.ceil(length * math.log(highest / lowest))
    return np.asarray(np.geomspace(lowest, highest, count), dtype=np.float64)


def _chance(most: Floats, m: int, frequencies: Floats) -> Floats:
    """The probability that `most` of m events lie within three cycles of the first of them."""
    return np.asarray(bdtrc(most - 2, m - 1, np.minimum(1.0, WIDTH * frequencies)))


def _most_in_step(events: Indices, frequencies: Floats, reach: float) -> Floats:
    """The largest number of events within `reach` cycles of a turn, at each frequency."""
    rows = max(1, _ROWS // events.size)
    pieces = [frequencies[i : i + rows] for i in range(0, frequencies.size, rows)]
    return np.concatenate([_most(events, piece, reach) for piece in pieces])


def _most(events: Indices, frequencies: Floats, reach: float) -> Floats:
    m = events.size
    turns = np.sort(np.outer(frequencies, events - events[0]) % 1.0, axis=1)
    turns = np.concatenate((turns, turns + 1.0), axis=1)
    width = np.minimum(1.0, reach * frequencies)[:, np.newaxis]
    most = np.ones(frequencies.size)
    left = np.arange(frequencies.size)
    for more in range(1, m):
        held = (turns[left, more : more + m] - turns[left, :m] <= width[left]).any(axis=1)
        left = left[held]
        if left.size == 0:
            break
        most[left] = more + 1
    return most
