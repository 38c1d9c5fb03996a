# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.place_effect import marked_effect

from .series import ar1


@pytest.mark.parametrize("phi", [0.0, 0.9])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.long
def test_marks_without_effect_are_reported_as_different_in_at_most_5_percent(
    phi: float, clustered: bool
) -> None:
    rng = np.random.default_rng(1)
    called = 0
    for number in range(300):
        series = np.exp(ar1(rng, 1000, phi))
        marks = np.arange(300, 330) if clustered else rng.integers(0, 1000, 30)
        called += marked_effect(series, marks, alpha=0.05, seed=number).differs
    assert called / 300 <= 0.08


def test_the_first_sample_after_each_drain_is_shown_to_be_slower() -> None:
    rng = np.random.default_rng(2)
    series = (1000 + rng.integers(0, 50, 20_000)).astype(np.uint32)
    drains = np.arange(1024, series.size, 1024)
    series[drains] += 80
    effect = marked_effect(series, drains)
    assert effect.differs
    assert effect.difference == pytest.approx(80, abs=20)
    assert effect.marked_n == drains.size
    assert effect.smallest_p == pytest.approx(1 / 1000)


def test_marks_in_a_short_period_limit_the_p_value() -> None:
    series = np.random.default_rng(3).normal(size=1000)
    effect = marked_effect(series, np.arange(0, 1000, 10))
    assert effect.smallest_p == 0.1
    assert not effect.differs


def test_equal_samples_do_not_differ() -> None:
    assert not marked_effect(np.full(100, 7), [3, 50, 70]).differs


def test_invalid_marks_are_refused() -> None:
    with pytest.raises(TooFew):
        marked_effect(np.arange(100), [])
    with pytest.raises(TooFew):
        marked_effect(np.arange(10), [1])
    with pytest.raises(Undefined, match="negative"):
        marked_effect(np.arange(100), [-1])
    with pytest.raises(Undefined, match="are marked"):
        marked_effect(np.arange(100), np.arange(60))
