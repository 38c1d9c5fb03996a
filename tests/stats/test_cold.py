# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.cold import cold_effect, split, suggest_cold
from kadenz.stats.errors import TooFew, Undefined

from .series import ar1


def test_cold_and_warm_together_are_all_samples() -> None:
    series = np.arange(100)
    parts = split(series, 16)
    assert np.concatenate([parts.cold, parts.warm]).tolist() == series.tolist()
    assert np.shares_memory(parts.warm, series)
    assert split(series, 0).cold.size == 0
    with pytest.raises(Undefined):
        split(series, 101)


@pytest.mark.parametrize("phi", [0.0, 0.9])
@pytest.mark.parametrize("cold", [1, 16])
def test_a_warm_start_is_reported_as_cold_in_at_most_5_percent(phi: float, cold: int) -> None:
    rng = np.random.default_rng(1)
    called = sum(cold_effect(np.exp(ar1(rng, 1000, phi)), cold).differs for _ in range(500))
    assert called / 500 <= 0.075


def test_a_slow_first_execution_is_detected() -> None:
    series = np.exp(0.2 * ar1(np.random.default_rng(2), 1000, 0.0))
    series[0] = 9.0
    effect = cold_effect(series, 1)
    assert effect.differs
    assert effect.cold_median == 9.0
    assert effect.p_value == effect.smallest_p == pytest.approx(1 / 1000)


def test_fast_first_executions_are_detected_too() -> None:
    series = 100.0 + np.random.default_rng(3).normal(0, 1, 1000)
    series[:8] -= 10.0
    effect = cold_effect(series, 8)
    assert effect.differs
    assert effect.difference < -9.0


def test_too_few_warm_windows_are_reported() -> None:
    effect = cold_effect(np.concatenate([np.full(16, 900), np.arange(160)]), 16)
    assert not effect.differs
    assert "cannot show" in effect.reason
    with pytest.raises(TooFew):
        cold_effect(np.arange(100), 16)
    with pytest.raises(TooFew):
        cold_effect(np.arange(100), 0)


@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_nothing_is_suggested_if_nothing_is_cold(phi: float) -> None:
    rng = np.random.default_rng(4)
    suggested = sum(suggest_cold(np.exp(ar1(rng, 1000, phi))) > 0 for _ in range(500))
    assert suggested / 500 <= 0.025


@pytest.mark.parametrize("cold", [1, 3, 20])
def test_cold_first_samples_are_counted(cold: int) -> None:
    rng = np.random.default_rng(5)
    seen = []
    for _ in range(50):
        series = np.round(1000.0 * np.exp(0.1 * ar1(rng, 2000, 0.3))).astype(np.uint32)
        series[:cold] *= 3
        seen.append(suggest_cold(series))
    assert np.median(seen) == cold


def test_equal_samples_and_short_series_suggest_nothing() -> None:
    assert suggest_cold(np.full(1000, 65)) == 0
    assert suggest_cold(np.array([900] * 5 + [1] * 95)) == 0
