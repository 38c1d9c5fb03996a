# SPDX-License-Identifier: Apache-2.0
"""Simulated rate, drift, disturbances, jitter and gaps are recovered from a series."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kadenz.stats.cycles import cycle_numbers
from kadenz.stats.decomposition import decompose
from kadenz.stats.disturbances import find_disturbances
from kadenz.stats.drift import separate_drift
from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.samples import Floats
from kadenz.stats.trend import moving_trend

from .coverage import coverage
from .series import ar1

PERIOD = 1e6  # ns, 1 kHz


def wander(n: int, size: float, cycles: float) -> Floats:
    series = size * np.sin(2 * np.pi * np.arange(n) / cycles + 0.3)
    return np.asarray(series - np.polyval(np.polyfit(np.arange(n), series, 1), np.arange(n)))


def test_every_simulated_component_is_recovered() -> None:
    """The model case: 1000 s at 1 kHz, a flush every 60 s, and more."""
    rng = np.random.default_rng(1)
    n = 1_000_000
    number = np.arange(n)
    jitter = rng.normal(0.0, 120.0, n)
    disturbed = jitter.copy()
    disturbed[30_000::60_000] += 160_000.0 * rng.uniform(0.9, 1.1, 17)
    disturbed[11::7_013] += 3_000.0
    sporadic = rng.choice(n, 40, replace=False)
    disturbed[sporadic] += 5_000.0 + rng.exponential(20_000.0, 40)
    disturbed += 25.0 * np.sin(2 * np.pi * number / 333.3)
    slow = wander(n, 3_000.0, 400_000.0)
    decomposition = decompose(number * PERIOD * 1.0002 + slow + disturbed, nominal_period=PERIOD)

    rate = decomposition.drift.rate_error_ppm
    assert rate is not None and rate.covers(200.0) and rate.high - rate.low < 0.1
    # The sine's own curvature in the window, and the mean of 16,000 normal deviations.
    assert np.abs(decomposition.drift.drift - slow).max() < 40.0
    assert np.abs(decomposition.median_drift - slow).max() < 40.0
    slowest, fast = sorted(
        decomposition.disturbances.periodic, key=lambda train: -train.every.value
    )
    assert slowest.every.covers(60_000.0) and slowest.every.high - slowest.every.low < 1.0
    assert slowest.amplitude.covers(160_000.0) and (slowest.strikes, slowest.slots) == (17, 17)
    assert slowest.p_value < 1e-10
    assert fast.every.covers(7_013.0) and abs(fast.amplitude.value - 3_000.0) < 100.0
    (wave,) = decomposition.disturbances.waves
    assert abs(wave.every - 333.3) < 0.1 and abs(wave.amplitude - 25.0) < 3.0
    assert decomposition.disturbances.sporadic_events == 40
    largest = decomposition.disturbances.sporadic[0]
    assert largest.cycle == sporadic[np.argmax(disturbed[sporadic])]
    assert largest.size == pytest.approx(disturbed[sporadic].max(), abs=600.0)
    # Without the disturbances, the rest is the simulated jitter.
    assert np.median(np.abs(decomposition.drift.jitter)) == pytest.approx(
        np.median(np.abs(jitter + 25.0 * np.sin(2 * np.pi * number / 333.3))), rel=0.02
    )


def test_the_views_add_up() -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    cycles = np.sort(rng.choice(n + 500, n, replace=False))
    cycles -= cycles[0]
    times = 7.0 + cycles * 1000.3 + rng.normal(0.0, 5.0, n)
    separation = separate_drift(times, cycles=cycles, nominal_period=1000.0)
    np.testing.assert_allclose(separation.raw, times - times[0] - 1000.0 * cycles, atol=1e-6)
    np.testing.assert_allclose(
        separation.compensated, separation.drift + separation.jitter, atol=1e-9
    )
    line = separation.raw - separation.compensated
    np.testing.assert_allclose(np.diff(line), np.diff(cycles) * (separation.period.value - 1000.0))


def test_missed_cycles_are_gaps_and_not_drift() -> None:
    rng = np.random.default_rng(3)
    cycles = np.concatenate((np.arange(5_000), np.arange(7_000, 12_000), [15_000, 15_001]))
    times = cycles * PERIOD * 1.00005 + rng.normal(0.0, 500.0, cycles.size)
    decomposition = decompose(times, nominal_period=PERIOD, cycles=cycles)
    assert decomposition.drift.rate_error_ppm is not None
    assert decomposition.drift.rate_error_ppm.value == pytest.approx(50.0, abs=0.01)
    assert np.abs(decomposition.drift.drift).max() < 1000.0
    assert decomposition.drift.jitter_sd == pytest.approx(500.0, rel=0.05)


def test_a_period_is_counted_in_cycles_across_gaps() -> None:
    rng = np.random.default_rng(4)
    cycles = np.flatnonzero(rng.random(40_000) > 0.05)
    series = rng.normal(size=cycles.size)
    series[cycles % 2_000 == 77] += 50.0
    (train,) = find_disturbances(series, cycles=cycles).periodic
    # Compressed, the period would be 1900.
    assert train.every.covers(2_000.0)
    assert train.strikes == np.count_nonzero(cycles % 2_000 == 77)


@pytest.mark.parametrize("ppm", [-400.0, 0.0, 1000.0])
def test_cycle_numbers_around_lost_edges_come_from_the_times(ppm: float) -> None:
    rng = np.random.default_rng(5)
    n = 60_000
    kept = np.flatnonzero(rng.random(n) > 0.02)
    late = rng.normal(0.0, 0.02, n)
    late[rng.choice(n, 50, replace=False)] += 0.7  # closer to the next cycle's time
    times = (np.arange(n) + late) * PERIOD * (1.0 + ppm * 1e-6)
    wrong = np.count_nonzero(cycle_numbers(times[kept], PERIOD) != kept - kept[0])
    # A late edge whose successor is lost is indistinguishable from its successor.
    assert wrong <= 5


def test_the_interval_of_the_rate_covers_even_if_the_clock_wanders() -> None:
    """AR(1) with a correlation time of n / 80: worth 20 independent edges."""

    def trial(rng: np.random.Generator, _: int) -> bool:
        edges = 1e6 * 1.0002 * np.arange(4000) + 5000.0 * ar1(rng, 4000, 0.99)
        separation = separate_drift(edges, nominal_period=1e6, replicates=200)
        assert separation.rate_error_ppm is not None
        return separation.rate_error_ppm.covers(200.0)

    assert coverage(trial, 400) >= 0.925


def test_an_unknowable_rate_is_reported() -> None:
    separation = separate_drift(
        np.arange(4000) * 1e6 + wander(4000, 1e4, 3000.0), nominal_period=1e6
    )
    assert "rate itself wanders" in separation.reason


@pytest.mark.parametrize("method", ["mean", "median"])
def test_the_ends_do_not_lag_behind_a_slope(method: str) -> None:
    series = 0.01 * np.abs(np.arange(10_000) - 5_000.0)
    trend = moving_trend(series, None, 1000, method)  # type: ignore[arg-type]
    # A plain average over the cut-off window would be 2.5 off.
    assert np.abs(trend - series)[:450].max() < 0.02
    assert np.abs(trend - series)[-450:].max() < 0.02
    holes = np.delete(np.arange(10_000), np.arange(2_000, 2_600))
    trend = moving_trend(series[holes], holes, 1000, method)  # type: ignore[arg-type]
    assert np.abs(trend - series[holes])[1_500:3_000].max() < 0.05


def test_the_average_inside_is_the_paper_s() -> None:
    series = np.random.default_rng(6).normal(size=3_000)
    expected = np.convolve(series, np.ones(101) / 101, mode="valid")
    trend = moving_trend(series, None, 101, "mean")
    np.testing.assert_allclose(trend[50:-50], expected, atol=1e-9)
    # The same with cycle numbers but without gaps.
    np.testing.assert_allclose(
        moving_trend(series, np.arange(3_000), 101, "mean"), trend, atol=1e-6
    )


def test_a_disturbance_shifts_the_average_as_stated_and_the_median_not_at_all() -> None:
    series = np.zeros(20_000)
    series[10_000:10_300] = 50.0
    average = moving_trend(series, None, 1000, "mean")
    # size x duration / window (docs/explanation/jitter.md).
    assert average.max() == pytest.approx(50.0 * 300 / 1000)
    assert np.abs(moving_trend(series, None, 1000, "median")).max() == 0.0


@pytest.mark.parametrize("period", [300.0, 1_000.0, 1_660.0, 4_000.0])
def test_the_remainder_of_a_sine_agrees_with_the_formula(period: float) -> None:
    series = np.sin(2 * np.pi * np.arange(40_000) / period)
    left = (series - moving_trend(series, None, 1000, "mean"))[5_000:-5_000]
    # 1 - sin(pi w / p) / (pi w / p), the average's response subtracted: docs/explanation/jitter.md.
    assert np.abs(left).max() == pytest.approx(1.0 - np.sinc(1000 / period), abs=0.01)


@pytest.mark.parametrize("place", [15, 5_000, 19_990])
def test_the_bound_of_the_bias_holds(place: int) -> None:
    """Compared with the same series without the disturbance, including the end windows."""
    rng = np.random.default_rng(7)
    quiet = np.arange(20_000) * PERIOD + rng.normal(0.0, 100.0, 20_000)
    struck = quiet.copy()
    struck[place : place + 10] += 200_000.0
    plain = decompose(quiet, nominal_period=PERIOD, window=4_000)
    decomposition = decompose(struck, nominal_period=PERIOD, window=4_000)
    # The regression also moves, by less than the bound.
    moved = np.abs((decomposition.drift.jitter - (struck - quiet)) - (plain.drift.jitter)).max()
    assert 0.3 * decomposition.bias.moved < moved < 1.1 * decomposition.bias.moved
    assert decomposition.bias.from_median > 0.5 * moved


# ---- periods -----------------------------------------------------------------------------------


def bursts(rng: np.random.Generator) -> Floats:
    series = rng.normal(size=10_000)
    for start in rng.integers(0, 9_900, 30):
        series[start : start + rng.integers(1, 100)] += rng.exponential(10.0)
    return np.asarray(series)


def strays(rng: np.random.Generator) -> Floats:
    series = rng.normal(size=10_000)
    series[rng.integers(0, 10_000, 60)] += 8.0 + rng.exponential(20.0, 60)
    return np.asarray(series)


NO_PERIOD: dict[str, Callable[[np.random.Generator], Floats]] = {
    "normal": lambda rng: rng.normal(size=10_000),
    "autocorrelation 0.9": lambda rng: ar1(rng, 10_000, 0.9),
    "student 3": lambda rng: rng.standard_t(3, 10_000),
    "log-normal 0.9": lambda rng: np.exp(ar1(rng, 10_000, 0.9)),
    "bursts": bursts,
    "strays": strays,
    "ticks": lambda rng: np.round(0.7 * rng.normal(size=10_000)),
}


@pytest.mark.parametrize("kind", NO_PERIOD)
def test_false_periods_are_no_more_frequent_than_stated(kind: str) -> None:
    """alpha 0.01: three or more false alarms among 40 series are less likely than 1 in 100."""
    rng = np.random.default_rng(8)
    per_series = [find_disturbances(NO_PERIOD[kind](rng), alpha=0.01) for _ in range(40)]
    assert (
        sum(bool(disturbances.periodic or disturbances.waves) for disturbances in per_series) <= 2
    )


def test_the_period_s_interval_covers_it() -> None:
    def trial(rng: np.random.Generator, _: int) -> bool:
        every = rng.uniform(300.0, 900.0)
        series = rng.normal(size=10_000)
        places = np.round(np.arange(rng.uniform(2, every), 9_996, every) + rng.uniform(-2, 2))
        series[places.astype(int)] += 40.0
        trains = find_disturbances(series).periodic
        return len(trains) == 1 and trains[0].every.covers(every)

    assert coverage(trial, 100) >= 0.88


def test_few_large_strikes_are_found_among_many_small_ones() -> None:
    rng = np.random.default_rng(9)
    series = rng.standard_t(2.5, 200_000)
    series[500::12_000] = 400.0
    disturbances = find_disturbances(series)
    assert [round(train.every.value) for train in disturbances.periodic] == [12_000]
    assert disturbances.sporadic_events > 500


def test_early_strikes_have_negative_sizes() -> None:
    series = np.random.default_rng(10).normal(size=20_000)
    series[5::1000] -= 30.0
    (train,) = find_disturbances(series).periodic
    assert train.amplitude.value == pytest.approx(-30.0, abs=1.5)
    assert train.amplitude.low <= train.amplitude.value <= train.amplitude.high


def test_too_few_events_have_no_period() -> None:
    series = np.random.default_rng(11).normal(size=20_000)
    series[100::5_000] += 30.0
    disturbances = find_disturbances(series)
    assert disturbances.periodic == () and "fewer than 6" in disturbances.reason
    with pytest.raises(TooFew):
        find_disturbances(series[:60])
    with pytest.raises(Undefined, match="ascending"):
        find_disturbances(series, cycles=np.zeros(20_000, dtype=int))


@pytest.mark.parametrize("strays", [34, 68, 150])
def test_a_train_among_strays_of_its_own_size_is_found(strays: int) -> None:
    """16 strikes among 68 strays were once found in 0 of 8 series, though the comb saw them."""
    n, every = 100_000, 6_170.3
    for seed in range(4):
        rng = np.random.default_rng(seed)
        series = rng.normal(0.0, 1.0, n)
        struck = np.round(rng.uniform(0.0, every) + every * np.arange(16)).astype(int)
        series[struck[struck < n]] += 10.0
        series[rng.choice(n, strays, replace=False)] += 10.0
        disturbances = find_disturbances(series)
        assert any(
            train.every.value == pytest.approx(every, rel=1e-3) for train in disturbances.periodic
        )


@pytest.mark.parametrize("strays", [20, 84, 166])
def test_strays_alone_form_no_train(strays: int) -> None:
    named = 0
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        series = rng.normal(0.0, 1.0, 100_000)
        series[rng.choice(series.size, strays, replace=False)] += 10.0
        named += len(find_disturbances(series).periodic)
    assert named <= 1


@pytest.mark.parametrize("size", [4.5, 5.0, 5.5, 10.0])
def test_the_amplitude_of_a_half_visible_train_is_not_too_large(size: float) -> None:
    """An amplitude of 5.00 was once estimated as 5.64, from strikes beyond five sd only."""
    amplitudes = []
    for seed in range(6):
        series = np.random.default_rng(seed).normal(0.0, 1.0, 50_000)
        series[137::501] += size
        amplitudes += [train.amplitude.value for train in find_disturbances(series).periodic]
    assert len(amplitudes) == 6
    assert np.mean(amplitudes) == pytest.approx(size, abs=0.12)


def test_slots_without_a_strike_do_not_change_the_amplitude() -> None:
    rng = np.random.default_rng(3)
    series = rng.normal(0.0, 1.0, 50_000)
    slots = np.arange(137, 50_000, 501)
    series[slots[rng.random(slots.size) < 0.4]] += 12.0
    (train,) = find_disturbances(series).periodic
    assert train.strikes < 0.6 * train.slots
    assert train.amplitude.value == pytest.approx(12.0, abs=0.6)
