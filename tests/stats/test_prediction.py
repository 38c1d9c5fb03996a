# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.prediction import maximum_bound

from .coverage import coverage
from .series import ar1


def test_the_bound_is_near_three_in_n() -> None:
    for n in (100, 1000, 1_000_000):
        bound = maximum_bound(np.arange(n), tau=1.0)
        assert bound.exceed_fraction == pytest.approx(3.0 / n, rel=0.02)
    assert "95% confidence" in bound.sentence
    assert "one in 333,8" in bound.sentence


def test_the_bound_holds_in_its_share_of_runs_and_is_not_too_wide() -> None:
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
