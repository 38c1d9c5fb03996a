# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.mean_interval import mean_interval
from kadenz.stats.resample import studentised_deviates
from kadenz.stats.samples import cell_means

from .coverage import coverage
from .series import AR5, AR9, INDEPENDENT, KINDS, LOGNORMAL_AR9, Kind, ar1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.long
def test_a_95_percent_interval_covers_the_mean_in_92_to_98_percent(kind: Kind) -> None:
    def trial(rng: np.random.Generator, number: int) -> bool:
        return mean_interval(kind.make(rng, 1500), replicates=400, seed=number).covers(kind.mean)

    assert 0.92 <= coverage(trial) <= 0.98


@pytest.mark.parametrize("kind", [INDEPENDENT, AR9], ids=lambda kind: kind.name)
@pytest.mark.long
def test_a_90_percent_interval_covers_in_87_to_93_percent(kind: Kind) -> None:
    def trial(rng: np.random.Generator, number: int) -> bool:
        interval = mean_interval(kind.make(rng, 2000), confidence=0.9, replicates=400, seed=number)
        return interval.covers(kind.mean)

    assert 0.87 <= coverage(trial) <= 0.93


@pytest.mark.parametrize("kind", [AR9, LOGNORMAL_AR9], ids=lambda kind: kind.name)
def test_ours_covers_where_an_interval_for_independent_samples_fails(kind: Kind) -> None:
    def independent(rng: np.random.Generator, _: int) -> bool:
        series = kind.make(rng, 1500)
        half = 1.96 * series.std(ddof=1) / np.sqrt(series.size)
        return bool(abs(series.mean() - kind.mean) <= half)

    assert coverage(independent) < 0.5


def test_coverage_holds_when_samples_are_averaged_over_cells_first() -> None:
    def trial(rng: np.random.Generator, number: int) -> bool:
        interval = mean_interval(10.0 + ar1(rng, 50_000, 0.9), replicates=400, seed=number)
        assert interval.cell == 12
        return interval.covers(10.0)

    assert 0.92 <= coverage(trial, simulations=500) <= 0.98


@pytest.mark.parametrize("n", [1000, 4000, 16_000])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.long
def test_coverage_holds_at_every_length(kind: Kind, n: int) -> None:
    def trial(rng: np.random.Generator, number: int) -> bool:
        return mean_interval(kind.make(rng, n), replicates=400, seed=number).covers(kind.mean)

    assert 0.92 <= coverage(trial, simulations=800) <= 0.98


def test_resampling_cells_equals_resampling_blocks_that_begin_at_their_borders() -> None:
    # The identity behind `cell`: the same picks on cells and on samples give the same resampled
    # means.
    rng = np.random.default_rng(3)
    series = rng.integers(100, 200, 960)
    cell, length = 8, 3
    means = cell_means(series, cell)
    m = means.size
    picks = rng.integers(0, m, size=(50, m // length))
    on_cells = np.array(
        [np.mean([means[(p + np.arange(length)) % m] for p in row]) for row in picks]
    )
    on_samples = np.array(
        [
            np.mean([series[(p * cell + np.arange(length * cell)) % series.size] for p in row])
            for row in picks
        ]
    )
    np.testing.assert_allclose(on_cells, on_samples, rtol=1e-13)


def test_averaging_over_cells_changes_the_interval_by_little() -> None:
    series = 100.0 + ar1(np.random.default_rng(4), 200_000, 0.9)
    coarse = studentised_deviates(series, 2000, np.random.default_rng(1))
    fine = studentised_deviates(series[: 200_000 // 5 * 5], 2000, np.random.default_rng(1), 255)
    assert coarse.cell > 1
    assert coarse.standard_error == pytest.approx(fine.standard_error, rel=0.15)
    exact = np.sqrt((1 + 0.9) / (1 - 0.9) / series.size)
    assert coarse.standard_error == pytest.approx(exact, rel=0.15)


def test_the_same_seed_gives_the_same_interval_and_another_seed_nearly() -> None:
    series = AR5.make(np.random.default_rng(5), 1000)
    assert mean_interval(series, seed=7) == mean_interval(series, seed=7)
    first, second = mean_interval(series, seed=7), mean_interval(series, seed=8)
    assert first.low != second.low
    assert first.low == pytest.approx(second.low, abs=0.3 * (first.high - first.low))


def test_constant_samples_give_zero_width_with_a_reason() -> None:
    interval = mean_interval(np.full(1000, 168, dtype=np.uint32))
    assert (interval.low, interval.value, interval.high) == (168.0, 168.0, 168.0)
    assert interval.zero_width
    assert "do not vary" in interval.reason


@given(
    st.lists(st.integers(0, 3), min_size=10, max_size=200),
    st.sampled_from([np.uint32, np.int64, np.float64]),
)
@settings(max_examples=150, deadline=None)
def test_tick_quantised_samples_never_give_nan(ticks: list[int], kind: type) -> None:
    interval = mean_interval(np.array(ticks, dtype=kind) * 1000, replicates=100)
    assert np.isfinite([interval.low, interval.high, interval.standard_error]).all()
    assert interval.low <= interval.value <= interval.high
    assert interval.value == np.mean(ticks) * 1000 or interval.value == pytest.approx(
        np.mean(ticks) * 1000, rel=1e-12
    )


def test_one_odd_sample_among_equal_ones_counts_like_one_rare_event() -> None:
    # An exact Poisson interval for one event seen is 0.03 ... 5.6 events.
    series = np.full(1000, 65, dtype=np.uint32)
    series[500] = 66
    interval = mean_interval(series)
    assert not interval.zero_width
    assert 64.998 <= interval.low <= 65.001
    assert 65.004 <= interval.high <= 65.007


def test_one_huge_outlier_does_not_inflate_the_interval() -> None:
    series = np.random.default_rng(1).normal(5400.0, 300.0, 3000)
    series[77] = 1e6
    interval = mean_interval(series)
    share = 1e6 / series.size
    assert interval.high <= interval.value + 6.0 * share


def test_blocks_that_cancel_give_a_finite_interval() -> None:
    interval = mean_interval(np.tile([1, 2], 500), block=2)
    assert np.isfinite([interval.low, interval.high]).all()


def test_the_interval_moves_and_stretches_with_the_unit() -> None:
    series = AR5.make(np.random.default_rng(6), 500)
    plain, scaled = mean_interval(series), mean_interval(1000.0 * series + 5.0)
    assert scaled.low == pytest.approx(1000.0 * plain.low + 5.0, rel=1e-9)
    assert scaled.high == pytest.approx(1000.0 * plain.high + 5.0, rel=1e-9)


def test_a_series_worth_few_samples_is_reported() -> None:
    slow = ar1(np.random.default_rng(8), 400, 0.99)
    assert "independent samples" in mean_interval(slow).reason


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(TooFew, match="9 samples, at least 10"):
        mean_interval(np.arange(9))
    with pytest.raises(Undefined, match="NaN"):
        mean_interval(np.array([1.0, np.nan] * 10))
    with pytest.raises(Undefined, match="quarter"):
        mean_interval(np.arange(100), block=26)
    with pytest.raises(Undefined, match="confidence"):
        mean_interval(np.arange(100), confidence=95.0)
