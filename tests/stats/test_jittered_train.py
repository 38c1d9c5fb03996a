# SPDX-License-Identifier: Apache-2.0
"""A period of events up to a cycle early or late: found among strays, and not invented."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.common_causes import Worst, common_causes
from kadenz.stats.event_period import Indices
from kadenz.stats.jittered_train import near_slots, search_around
from kadenz.stats.samples import Floats

from .series import Rng

LEVEL = 0.05


def apart(places: Indices) -> Indices:
    """Ascending, more than two cycles apart."""
    ordered = np.sort(places)
    return np.asarray(ordered[np.diff(ordered, prepend=-3) > 2], dtype=np.intp)


def train(rng: Rng, n: int, every: float, struck: int, strays: int) -> Indices:
    """`struck` slots of a period, each up to a cycle early or late, and strays."""
    slots = rng.choice(int((n - 4) / every), struck, replace=False)
    strikes = np.round(2.5 + every * slots).astype(np.intp) + rng.integers(-1, 2, struck)
    return apart(np.concatenate((strikes, rng.choice(n, strays, replace=False))))


@pytest.mark.parametrize(("n", "m"), [(300, 20), (2_000, 6), (5_000, 20)])
def test_places_without_a_period_get_one_at_most_at_the_stated_level(n: int, m: int) -> None:
    """Uniform places; the margin is two standard errors."""
    rng = np.random.default_rng([n, m])
    series = 150
    claimed = sum(
        search_around(apart(rng.choice(n, m, replace=False)), n, LEVEL)[0] < LEVEL
        for _ in range(series)
    )
    assert claimed / series <= LEVEL + 2.0 * (LEVEL * (1.0 - LEVEL) / series) ** 0.5


def test_a_small_p_is_no_rarer_than_it_says() -> None:
    """The least p of 400 series is not far below 1 / 400, at which one of them is expected."""
    rng = np.random.default_rng(3)
    series = (apart(rng.choice(1_000, 12, replace=False)) for _ in range(400))
    assert min(search_around(events, 1_000)[0] for events in series) > 1e-5


@pytest.mark.parametrize(
    ("n", "every", "struck", "strays"),
    [
        (5_000, 100.0, 11, 9),
        (10_000, 100.0, 11, 9),
        (20_000, 100.0, 12, 8),
        (10_000, 61.3, 13, 7),
        (10_000, 250.0, 9, 11),
        (10_000, 1_000.0, 8, 12),
        (10_000, 20.0, 18, 2),
        (2_000, 30.0, 15, 5),
    ],
)
def test_a_planted_period_is_found(n: int, every: float, struck: int, strays: int) -> None:
    rng = np.random.default_rng(n + struck)
    hits = 0
    for _ in range(10):
        events = train(rng, n, every, struck, strays)
        p_value, frequency = search_around(events, n, 0.0025)
        if not frequency:
            continue
        in_slots = near_slots(events, frequency)
        near = abs(1.0 / frequency - every) < every * every / n
        hits += p_value < 0.0025 and near and in_slots.sum() >= struck - 2
    assert hits >= 9


def worst_at(rng: Rng, n: int, places: Indices) -> Floats:
    """Latencies whose worst are at these places."""
    samples = rng.random(n)
    samples[places] += 5.0
    return np.asarray(samples)


def test_eleven_of_the_twenty_worst_at_cycles_18_to_20_of_100_have_a_period() -> None:
    rng = np.random.default_rng(6)
    hits = 0
    for _ in range(10):
        n = 10_000
        periodic = 100 * rng.choice(100, 11, replace=False) + rng.integers(18, 21, 11)
        causes = common_causes(worst_at(rng, n, np.append(periodic, rng.choice(n, 9))), {})
        assert causes.train is not None and not causes.nothing
        hits += (
            causes.train.loose
            and abs(causes.train.every - 100.0) < 0.1
            and causes.train.count >= 11
        )
    assert hits >= 9  # by chance, most of the eleven may be in every second hundred


def test_missed_cycles_do_not_hide_a_period() -> None:
    rng = np.random.default_rng(8)
    cycles = np.delete(np.arange(10_137), np.arange(5_000, 5_137))  # 137 missed in the middle
    at = 400 * rng.choice(25, 13, replace=False) + rng.integers(18, 21, 13)
    periodic = np.flatnonzero(np.isin(cycles, at))
    samples = worst_at(rng, 10_000, np.append(periodic, rng.choice(10_000, 7)))
    causes = common_causes(samples, {}, cycles=cycles)
    assert causes.train is not None and causes.train.every == pytest.approx(400.0, abs=1.0)
    without = common_causes(samples, {}).train
    assert without is None or abs(without.every - 400.0) > 10.0


def test_worst_samples_anywhere_get_a_period_at_most_at_the_stated_level() -> None:
    """A tenth of alpha is for a period; the margin is two standard errors."""
    rng = np.random.default_rng(9)
    which, series = Worst(alpha=10.0 * LEVEL), 60
    claimed = sum(
        common_causes(rng.random(2_000), {}, worst=which, seed=seed).train is not None
        for seed in range(series)
    )
    assert claimed / series <= LEVEL + 2.0 * (LEVEL * (1.0 - LEVEL) / series) ** 0.5
