# SPDX-License-Identifier: Apache-2.0
"""The period of releases is found with its evidence, and each release has its cycle."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.release_period import release_cycles, release_period

PERIOD = 1_000_000


def test_releases_on_a_grid_have_its_period() -> None:
    of = release_period(np.arange(100) * PERIOD + 7)
    assert of.period == PERIOD
    assert (of.intervals, of.on_grid, of.close) == (99, 99, 99)


def test_missing_releases_do_not_change_the_period() -> None:
    cycles = np.delete(np.arange(200), [3, 50, 51, 120])
    of = release_period(cycles * PERIOD)
    assert of.period == PERIOD
    assert (of.intervals, of.on_grid, of.close) == (195, 195, 192)
    assert release_cycles(cycles * PERIOD, of.period).tolist() == cycles.tolist()


def test_late_releases_keep_their_cycles() -> None:
    random = np.random.default_rng(7)
    late = (random.random(1000) ** 40 * 0.85 * PERIOD).astype(np.int64)
    times = np.arange(1000) * PERIOD + late
    of = release_period(times)
    assert of.period == pytest.approx(PERIOD, rel=1e-3)
    assert release_cycles(times, PERIOD).tolist() == list(range(1000))


def test_relative_sleeps_have_a_period_and_no_missing_cycle() -> None:
    """Each interval is the sleep and the work: the releases drift away from every fixed grid."""
    random = np.random.default_rng(3)
    times = np.cumsum(PERIOD + random.normal(0, 0.02 * PERIOD, 5000)).astype(np.int64)
    of = release_period(times)
    assert of.period == pytest.approx(PERIOD, rel=1e-2)
    assert release_cycles(times, of.period).tolist() == list(range(5000))


def test_releases_at_random_have_no_period() -> None:
    times = np.cumsum(np.random.default_rng(1).exponential(PERIOD, 5000)).astype(np.int64)
    with pytest.raises(Undefined, match="whole multiples of one period"):
        release_period(times)


def test_bursts_have_no_period() -> None:
    """Two releases in each cycle are no thread of one period."""
    times = np.sort(np.concatenate([np.arange(500) * PERIOD, np.arange(500) * PERIOD + 230_000]))
    with pytest.raises(Undefined):
        release_period(times)


def test_few_releases_and_equal_times_are_no_period() -> None:
    with pytest.raises(TooFew):
        release_period(np.arange(7) * PERIOD)
    with pytest.raises(Undefined, match="one moment"):
        release_period(np.full(20, 5))
    assert release_cycles([], PERIOD).size == 0
