# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.change_points import LEAST, change_points
from kadenz.stats.errors import TooFew

from .coverage import coverage


def shifted(rng: np.random.Generator, step: float, at: int = 37, n: int = 60) -> np.ndarray:  # type: ignore[type-arg]
    series = rng.normal(100.0, 1.0, n)
    series[at:] += step
    return series


@pytest.mark.parametrize("tail", ["normal", "heavy"])
@pytest.mark.long
def test_a_series_without_a_change_gives_a_false_alarm_in_about_one_percent(tail: str) -> None:
    def trial(rng: np.random.Generator, _: int) -> bool:
        series = rng.normal(0, 1, 50) if tail == "normal" else rng.standard_cauchy(50)
        return bool(change_points(series))

    assert 0.0 <= coverage(trial) <= 0.03


@pytest.mark.long
def test_a_step_of_three_standard_deviations_is_always_found() -> None:
    def trial(rng: np.random.Generator, _: int) -> bool:
        return any(change.first <= 37 <= change.last for change in change_points(shifted(rng, 3.0)))

    assert coverage(trial) > 0.95


@pytest.mark.parametrize("step", [1.0, 2.0])
def test_the_interval_of_a_found_step_covers_its_place(step: float) -> None:
    covered: list[bool] = []
    rng = np.random.default_rng(8)
    while len(covered) < 300:
        changes = change_points(shifted(rng, step))
        if changes:
            nearest = min(changes, key=lambda change: abs(change.at - 37))
            covered.append(nearest.first <= 37 <= nearest.last)
    assert np.mean(covered) >= 0.92


def test_two_steps_are_found_in_order_with_their_levels() -> None:
    rng = np.random.default_rng(1)
    series = np.r_[rng.normal(100, 1, 30), rng.normal(110, 1, 20), rng.normal(95, 1, 25)]
    first, second = change_points(series)
    assert (first.at, second.at) == (30, 50)
    assert first.before == pytest.approx(100, abs=1)
    assert first.after == second.before == pytest.approx(110, abs=1)
    assert second.after == pytest.approx(95, abs=1)


def test_one_slow_run_is_no_change() -> None:
    series = np.r_[np.full(20, 5.0), 900.0, np.full(20, 5.0)]
    assert change_points(series) == []


def test_a_constant_series_has_no_change() -> None:
    assert change_points(np.full(40, 3.0)) == []


def test_too_few_values_are_an_error() -> None:
    with pytest.raises(TooFew):
        change_points(np.arange(LEAST - 1.0))
