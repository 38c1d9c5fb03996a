# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kadenz.stats.errors import Undefined
from kadenz.stats.periodic import find_periodic
from kadenz.stats.samples import Floats

from .series import ar1

Rng = np.random.Generator


def _exp(series: Floats) -> Floats:
    return np.asarray(np.exp(series), dtype=np.float64)


def bursts(rng: Rng, n: int) -> Floats:
    """Interference in clusters, without a period."""
    series = rng.normal(100.0, 1.0, n)
    for start in rng.integers(0, n, 15):
        struck = np.arange(start, min(n, start + 60))
        series[struck[rng.random(struck.size) < 0.3]] += 50.0
    return series


APERIODIC: dict[str, Callable[[Rng, int], Floats]] = {
    "heavy-tailed": lambda rng, n: rng.pareto(2.0, n),
    "log-normal ar 0.9": lambda rng, n: _exp(2.3 * ar1(rng, n, 0.9)),
    "log-normal ar 0.5": lambda rng, n: _exp(1.2 * ar1(rng, n, 0.5)),
    "both tails": lambda rng, n: rng.standard_t(1.5, n),
    "rare and equal": lambda rng, n: 50.0 * rng.binomial(1, 0.01, n) + rng.normal(0, 1, n),
    "in ticks": lambda rng, n: rng.geometric(0.4, n).astype(np.float64),
    "bursts": bursts,
    "seven outliers": lambda rng, n: rng.permutation(np.repeat((9.0, 0.0), (7, n - 7))),
}


@pytest.mark.parametrize("name", APERIODIC)
@pytest.mark.parametrize("n", [500, 3000])
def test_no_period_is_reported_if_there_is_none(name: str, n: int) -> None:
    rng = np.random.default_rng(20261121)
    blind = ticked = 0
    for _ in range(300):
        series = APERIODIC[name](rng, n)
        blind += find_periodic(series).periodic
        ticked += find_periodic(series, sample_period=10.0, tick_period=10.3).periodic
    # Nominal 1 %; 300 series of a true 1 % stay at or below 8 with 99 %.
    assert blind <= 8
    assert ticked <= 8


def test_the_tick_of_a_back_to_back_benchmark_is_named() -> None:
    # 150 cycles per sample, and a tick every 10,001 cycles costs 100: every 66.7th sample.
    rng = np.random.default_rng(1)
    series = np.empty(5000, dtype=np.uint32)
    now, tick, truth = 0.0, 5000.0, []
    times = np.empty(5000)
    for i in range(series.size):
        cost = 140.0 + rng.integers(0, 3)
        times[i] = now
        if now + cost >= tick:
            cost += 100.0
            tick += 10_001.0
            truth.append(i)
        series[i] = cost
        now += cost + 10.0
    interference = find_periodic(series, times=times, tick_period=10_001.0)
    assert interference.periodic
    assert interference.tick_fits
    assert interference.affected.tolist() == truth
    assert interference.extra == pytest.approx(100.0, abs=2.0)
    assert interference.period == pytest.approx(10_001.0, rel=0.002)
    assert interference.every == pytest.approx(5000 / len(truth), rel=0.02)
    assert "fits the tick" in interference.sentence


@pytest.mark.parametrize("every", [7, 10, 16.7, 137, 500])
def test_every_kth_sample_is_found_with_its_phase(every: float) -> None:
    rng = np.random.default_rng(2)
    series = (150 + rng.integers(0, 4, 10_000)).astype(np.uint32)
    truth = np.floor(np.arange(3.0, series.size, every)).astype(int)
    series[truth] += 40
    interference = find_periodic(series)
    assert interference.periodic
    assert interference.every == pytest.approx(every, rel=1e-3)
    assert set(truth) == set(interference.affected.tolist())
    assert interference.phase is not None
    assert (interference.phase - 3.0 + every / 2) % every - every / 2 == pytest.approx(0.0, abs=1.0)


def test_a_period_is_found_among_as_many_stray_outliers() -> None:
    rng = np.random.default_rng(3)
    series = rng.normal(100.0, 1.0, 20_000)
    series[11::200] += 30.0
    series[rng.integers(0, series.size, 100)] += 30.0
    interference = find_periodic(series)
    assert interference.periodic
    assert interference.every == pytest.approx(200.0, rel=1e-3)
    assert 95 <= interference.affected.size <= 115
    assert interference.affected.size + interference.others.size == interference.outliers


def test_a_period_is_found_if_only_half_of_its_slots_are_struck() -> None:
    rng = np.random.default_rng(4)
    series = rng.normal(100.0, 1.0, 20_000)
    slots = np.arange(11, series.size, 200)
    series[slots[rng.random(slots.size) < 0.5]] += 30.0
    interference = find_periodic(series)
    assert interference.periodic
    assert interference.every == pytest.approx(200.0, rel=1e-3)


def test_the_beat_of_a_tick_faster_than_the_samples_is_named() -> None:
    # Sampled every 10.003 ms, struck when a 1 ms tick falls into the first 1 % of its period.
    rng = np.random.default_rng(5)
    times = np.arange(20_000) * 10.003
    series = rng.normal(100.0, 1.0, times.size)
    series[times % 1.0 < 0.01] += 50.0
    interference = find_periodic(series, sample_period=10.003, tick_period=1.0)
    assert interference.tick_fits
    assert interference.beat == pytest.approx(1.0 / 0.003, rel=1e-3)
    assert interference.affected.size == interference.outliers


def test_fast_outliers_are_found_too() -> None:
    # Seen with stream buffers of FreeRTOS: of every 61 messages three are copied in one piece less.
    series = np.full(1000, 1823, dtype=np.uint32)
    for start in (58, 119, 180, 241, 302, 363, 424, 485, 546, 607, 668, 729, 790, 851, 912, 973):
        series[start : start + 3] -= np.array([33, 22, 11], dtype=np.uint32)
    interference = find_periodic(series)
    assert interference.periodic
    assert interference.every == pytest.approx(61.0, abs=0.05)
    assert interference.extra == -22.0
    assert interference.affected.size == 48


def test_several_strikes_in_one_period_belong_to_it() -> None:
    # Seen with message buffers of 60 bytes: samples 62 to 64 and 67 to 68 of every 65.
    series = np.full(1000, 1980, dtype=np.uint32)
    struck = [s + i for s in range(62, 1000, 65) for i in (0, 1, 2, 5, 6) if s + i < 1000]
    series[struck] -= 22
    interference = find_periodic(series)
    assert interference.every == pytest.approx(65.0, rel=1e-3)
    assert interference.affected.tolist() == sorted(struck)


def test_too_few_periods_are_not_reported_as_a_shorter_period() -> None:
    # Three strikes of pairs 305 apart look like every 101.7th sample to a spectrum.
    series = np.full(1000, 1980, dtype=np.uint32)
    for start in (2, 302, 307, 607, 612, 912, 917):
        series[start : start + 2] += 22
    interference = find_periodic(series)
    assert not interference.periodic


def test_slow_outliers_are_reported_before_fast_ones() -> None:
    series = np.random.default_rng(9).normal(100.0, 1.0, 5000)
    series[7::100] += 30.0
    series[31::150] -= 30.0
    interference = find_periodic(series)
    assert interference.every == pytest.approx(100.0, rel=1e-3)
    assert interference.extra == pytest.approx(30.0, abs=2.0)


def test_a_period_that_is_not_the_ticks_is_not_blamed_on_it() -> None:
    rng = np.random.default_rng(6)
    series = rng.normal(100.0, 1.0, 20_000)
    series[5::173] += 50.0
    interference = find_periodic(series, sample_period=1.0, tick_period=100.0)
    assert interference.periodic
    assert interference.tick_fits is False
    assert "does not fit" in interference.sentence


def test_a_slow_period_is_not_blamed_on_a_tick_in_step_with_the_sampling() -> None:
    # Sampled every tick: strikes every 12,000 samples may or may not be a beat of 83 ppm.
    rng = np.random.default_rng(8)
    series = rng.normal(100.0, 1.0, 300_000)
    series[5::12_000] += 50.0
    interference = find_periodic(series, sample_period=1.0, tick_period=1.0)
    assert interference.periodic
    assert interference.every == pytest.approx(12_000, rel=1e-3)
    assert interference.tick_fits is None
    assert "tick" not in interference.sentence


def test_knowing_the_tick_finds_what_a_blind_search_cannot() -> None:
    # 32 strikes, each up to 15 % of the period early or late, and thirty strays.
    rng = np.random.default_rng(7)
    blind = ticked = other = 0
    for _ in range(60):
        series = rng.normal(100.0, 1.0, 20_000)
        slots = rng.choice(np.arange(125, series.size, 250), 32, replace=False)
        series[slots + rng.integers(-37, 38, slots.size)] += 50.0
        series[rng.integers(0, series.size, 30)] += 50.0
        blind += find_periodic(series).periodic
        ticked += find_periodic(series, sample_period=1.0, tick_period=250.0).periodic
        other += find_periodic(series, sample_period=1.0, tick_period=777.0).periodic
    assert ticked >= 36
    assert blind <= 20
    assert other <= 20


def test_few_or_no_outliers_are_reported() -> None:
    flat = find_periodic(np.full(100, 7))
    assert flat.sentence == "no outliers"
    assert not flat.periodic
    few = np.full(1000, 7)
    few[[100, 200, 300]] = 50
    interference = find_periodic(few)
    assert interference.outliers == 3
    assert not interference.periodic
    assert "3 outlier events" in interference.sentence


def test_times_that_do_not_ascend_are_refused() -> None:
    series = np.arange(100)
    with pytest.raises(Undefined, match="ascend"):
        find_periodic(series, times=np.zeros(100))
    with pytest.raises(Undefined, match="times for 100"):
        find_periodic(series, times=np.arange(99))
