# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from kadenz.stats.errors import Undefined
from kadenz.stats.prediction import maximum_bound, prediction_interval

from .coverage import coverage
from .series import ar1


def test_the_bound_is_near_three_in_n() -> None:
    for n in (100, 1000, 1_000_000):
        made = maximum_bound(np.arange(n), tau=1.0)
        assert made.exceed_fraction == pytest.approx(3.0 / n, rel=0.02)
    assert "95% confidence" in made.sentence
    assert "one in 333,8" in made.sentence


def test_the_bound_holds_in_its_share_of_runs_and_is_not_wider_than_need_be() -> None:
    # Uniform: the share above the maximum is 1 - maximum.
    def trial(rng: np.random.Generator, _: int) -> bool:
        series = rng.random(200)
        return bool(1.0 - series.max() <= maximum_bound(series).exceed_fraction)

    assert 0.93 <= coverage(trial) <= 0.97


@pytest.mark.parametrize("n", [200, 2000])
def test_the_bound_holds_for_dependent_samples(n: int) -> None:
    from scipy.stats import norm

    def trial(rng: np.random.Generator, _: int) -> bool:
        series = ar1(rng, n, 0.9)
        return bool(norm.sf(series.max()) <= maximum_bound(series).exceed_fraction)

    assert coverage(trial) >= 0.95


@pytest.mark.parametrize("side", ["both", "upper"])
def test_the_next_execution_falls_inside_as_often_as_said(
    side: Literal["both", "upper"],
) -> None:
    attained = prediction_interval(np.arange(100), side=side).attained
    assert attained is not None

    def trial(rng: np.random.Generator, _: int) -> bool:
        series = rng.lognormal(size=101)
        made = prediction_interval(series[:100], side=side)
        assert made.high is not None
        low = -np.inf if made.low is None else made.low
        return bool(low <= series[100] <= made.high)

    assert coverage(trial, simulations=4000) == pytest.approx(attained, abs=0.012)


def test_too_few_samples_for_a_prediction_are_stated() -> None:
    made = prediction_interval(np.arange(38))
    assert made.low is made.high is made.attained is None
    assert made.needed == 39
    assert "39 needed" in made.reason
    assert prediction_interval(np.arange(39)).high == 38
    assert prediction_interval(np.arange(19), side="upper").high == 18
    assert prediction_interval(np.arange(18), side="upper").high is None
    with pytest.raises(Undefined):
        prediction_interval(np.arange(100), coverage=1.0)
