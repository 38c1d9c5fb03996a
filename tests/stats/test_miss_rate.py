# SPDX-License-Identifier: Apache-2.0
"""The miss rate: simulated coverage with and without bursts, refusal, extremes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator

from kadenz.stats.errors import Undefined
from kadenz.stats.miss_rate import OCCASIONS, miss_rate
from kadenz.stats.samples import Array

SIMULATIONS = 400
# The error of a simulated 95 % over 400 is 1.1 %: three of these below.
LEAST = 0.917


def independent(rng: Generator, n: int, rate: float) -> Array:
    return (rng.random(n) < rate).astype(np.uint8)


def bursts(rng: Generator, n: int, rate: float, length: float, within: float) -> Array:
    """Bursts at random times, of geometric length, in which a share `within` misses."""
    missed = np.zeros(n + 40 * int(length), np.uint8)
    for at in rng.integers(0, n, rng.poisson(n * rate)):
        size = rng.geometric(1.0 / length)
        missed[at : at + size] |= (rng.random(size) < within)[: missed.size - at]
    return missed[:n]


def covered(trial: Callable[[Generator], list[Array]], truth: float) -> tuple[float, float]:
    """Share of intervals that contain the truth, and share of trials that gave one."""
    rng = np.random.default_rng(20261122)
    rates = [miss_rate(trial(rng)) for _ in range(SIMULATIONS)]
    known = [rate for rate in rates if rate.low is not None and rate.high is not None]
    hits = sum((rate.low or 0.0) <= truth <= (rate.high or 0.0) for rate in known)
    return hits / max(1, len(known)), len(known) / SIMULATIONS


@pytest.mark.parametrize("rate", [0.01, 0.16, 0.5, 0.98])
def test_independent_misses_are_covered(rate: float) -> None:
    share, known = covered(lambda rng: [independent(rng, 4000, rate)], rate)
    assert share >= LEAST and known == 1.0


@pytest.mark.parametrize("occasions", [30, 100])
@pytest.mark.parametrize("length", [3.0, 20.0])
@pytest.mark.parametrize("within", [1.0, 0.3])
@pytest.mark.long
def test_misses_in_bursts_are_covered(occasions: int, length: float, within: float) -> None:
    n = 20_000

    def run_of_bursts(rng: Generator) -> list[Array]:
        return [bursts(rng, n, occasions / n, length, within)]

    rng = np.random.default_rng(1)
    truth = float(np.mean([run_of_bursts(rng)[0].mean() for _ in range(800)]))
    share, _ = covered(run_of_bursts, truth)
    assert share >= LEAST


@pytest.mark.parametrize("runs", [2, 3, 5])
@pytest.mark.parametrize("factor", [1.0, 1.3, 2.0])
@pytest.mark.long
def test_runs_whose_rates_differ_are_covered(runs: int, factor: float) -> None:
    """A log-normal rate per run: `factor` is one standard deviation."""
    sigma = float(np.log(factor))
    mean = 0.02

    def several(rng: Generator) -> list[Array]:
        rates = mean * np.exp(rng.normal(-sigma * sigma / 2.0, sigma, runs))
        return [independent(rng, 4000, min(rate, 1.0)) for rate in rates]

    share, known = covered(several, mean)
    assert share >= LEAST and known == 1.0


def test_a_count_of_single_misses_alone_would_not_cover_bursts() -> None:
    """The failure that the test above prevents: bursts treated as independent misses."""
    rng = np.random.default_rng(7)
    series = [bursts(rng, 20_000, 0.002, 20.0, 1.0) for _ in range(60)]
    truth = float(np.mean([run.mean() for run in series]))
    shuffled = [miss_rate([rng.permutation(run)]) for run in series]
    hits = sum((rate.low or 0.0) <= truth <= (rate.high or 1.0) for rate in shuffled)
    assert hits < 0.7 * len(series)


def test_with_few_bursts_the_rate_is_unknown() -> None:
    series = np.zeros(10_000, np.uint8)
    for at in range(1000, 10_000, 1100):
        series[at : at + 40] = 1
    rate = miss_rate([series])
    assert rate.low is None and rate.high is None and rate.value == 0.036
    assert rate.occasions < OCCASIONS and "at least 10 are needed" in rate.reason


def test_no_miss_gives_the_one_sided_bound_over_all_runs() -> None:
    rate = miss_rate([np.zeros(1000, np.uint8)] * 3)
    assert rate.low == 0.0
    assert rate.high == pytest.approx(1.0 - 0.05 ** (1.0 / 3000.0))


def test_all_missed_is_the_mirror_of_none() -> None:
    none, every = miss_rate([np.zeros(500)]), miss_rate([np.ones(500)])
    assert every.high == 1.0 and every.value == 1.0
    assert every.low == pytest.approx(1.0 - (none.high or 0.0))


def test_threads_that_stop_together_are_one_occasion_per_cycle() -> None:
    rng = np.random.default_rng(3)
    alone = independent(rng, 3000, 0.02)
    one_thread, four_threads = miss_rate([alone]), miss_rate([4 * alone], each=4)
    assert four_threads.value == one_thread.value
    assert four_threads.occasions == pytest.approx(one_thread.occasions)
    assert four_threads.low == pytest.approx(one_thread.low)
    assert four_threads.high == pytest.approx(one_thread.high)


@pytest.mark.parametrize(
    ("runs", "each"), [([], 1), ([np.zeros(0)], 1), ([np.full(9, 2)], 1), ([np.full(9, -1)], 1)]
)
def test_invalid_counts_of_misses_are_undefined(runs: list[Array], each: int) -> None:
    with pytest.raises(Undefined):
        miss_rate(runs, each=each)
