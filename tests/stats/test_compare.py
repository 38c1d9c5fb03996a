# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kadenz.stats.compare import compare
from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.replicate import LessLoop
from kadenz.stats.samples import Floats

from .coverage import coverage
from .series import AR9, INDEPENDENT, LOGNORMAL, LOGNORMAL_AR9, TICKS, Kind, ar1

Rng = np.random.Generator


def ratio_of(ratio: Estimate | None) -> Estimate:
    assert ratio is not None
    return ratio


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize(
    "kind", [INDEPENDENT, AR9, TICKS, LOGNORMAL, LOGNORMAL_AR9], ids=lambda kind: kind.name
)
@pytest.mark.long
def test_the_intervals_cover_difference_and_ratio(kind: Kind, statistic: str) -> None:
    truth = kind.mean if statistic == "mean" else kind.median
    ratios = 0

    def trial(rng: Rng, number: int) -> bool:
        nonlocal ratios
        base, cand = kind.make(rng, 1500), 1.2 * kind.make(rng, 1500)
        comparison = compare([base], [cand], statistic=statistic, replicates=400, seed=number)
        ratios += ratio_of(comparison.ratio).covers(1.2)
        return comparison.difference.covers(0.2 * truth)

    # A median on ticks has few possible values: its intervals cover more.
    highest = 1.0 if kind is TICKS and statistic == "median" else 0.98
    assert 0.92 <= coverage(trial, simulations=400) <= highest
    assert 0.92 <= ratios / 400 <= highest


@pytest.mark.long
def test_the_interval_of_a_high_percentile_covers() -> None:
    truth = float(np.exp(0.5 * 2.3263479))  # the 0.99 quantile of exp(0.5 z)

    def trial(rng: Rng, number: int) -> bool:
        sides = [np.exp(0.5 * ar1(rng, 8000, 0.5)) for _ in range(2)]
        comparison = compare(sides[:1], sides[1:], statistic=0.99, replicates=400, seed=number)
        assert comparison.baseline.value == pytest.approx(truth, rel=0.4)
        return ratio_of(comparison.ratio).covers(1.0)

    assert 0.92 <= coverage(trial, simulations=300) <= 0.985


def runs(rng: Rng, count: int, spread: float, factor: float = 1.0) -> list[Floats]:
    """Runs whose level varies, as between boots."""
    return [
        factor * (100.0 + spread * rng.standard_normal() + 2.0 * ar1(rng, 300, 0.5))
        for _ in range(count)
    ]


@pytest.mark.parametrize(("count", "spread"), [(3, 3.0), (5, 3.0), (10, 3.0), (4, 0.0)])
@pytest.mark.long
def test_several_runs_cover_while_one_pooled_series_would_not(count: int, spread: float) -> None:
    pooled = 0

    def trial(rng: Rng, number: int) -> bool:
        nonlocal pooled
        base, cand = runs(rng, count, spread), runs(rng, count, spread)
        comparison = compare(base, cand, statistic="mean", replicates=100, seed=number)
        joined = compare(
            [np.concatenate(base)], [np.concatenate(cand)], statistic="mean", replicates=100
        )
        pooled += joined.difference.covers(0.0)
        return comparison.difference.covers(0.0)

    seen = coverage(trial, simulations=400)
    # Without spread between runs the t interval is wider than necessary: conservative.
    assert 0.92 <= seen <= (0.98 if spread else 1.0)
    if spread and count == 3:
        assert pooled / 400 < 0.9


def test_without_a_change_at_most_a_few_percent_report_one() -> None:
    wrong = {"better": 0, "worse": 0}

    def trial(rng: Rng, number: int) -> bool:
        sides = [LOGNORMAL_AR9.make(rng, 1500) for _ in range(2)]
        comparison = compare(sides[:1], sides[1:], threshold=0.0, replicates=400, seed=number)
        if comparison.verdict in wrong:
            wrong[comparison.verdict] += 1
        return True

    coverage(trial, simulations=400)
    assert sum(wrong.values()) / 400 <= 0.07
    assert max(wrong.values()) / 400 <= 0.05


def test_verdicts_name_the_change() -> None:
    rng = np.random.default_rng(1)
    base = rng.lognormal(7, 0.1, 20_000)

    def verdict(factor: float, **options: Any) -> str:
        return compare([base], [factor * rng.lognormal(7, 0.1, 20_000)], **options).verdict

    assert verdict(1.2) == "worse"
    assert verdict(0.8) == "better"
    assert verdict(1.0) == "equivalent"
    assert verdict(1.05) == "worse"  # a change as large as the threshold matters
    assert verdict(1.03) == "equivalent"  # a change, but below the threshold
    assert verdict(1.03, threshold=0.01) == "worse"


def test_exchanging_the_sides_reverses_the_verdict() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.lognormal(7, 0.1, 5000), 1.2 * rng.lognormal(7, 0.1, 5000)
    assert compare([a], [b]).verdict == "worse"
    assert compare([b], [a]).verdict == "better"


def test_an_inconclusive_verdict_has_a_reason_and_the_detectable_change() -> None:
    rng = np.random.default_rng(3)
    comparison = compare([rng.lognormal(7, 0.5, 50)], [rng.lognormal(7, 0.5, 50)], threshold=0.02)
    assert comparison.verdict == "inconclusive"
    assert "Measure longer" in comparison.reason
    assert comparison.detectable is not None
    assert comparison.detectable > 0.05


def test_a_change_of_the_detectable_size_is_found_four_times_in_five() -> None:
    rng = np.random.default_rng(4)
    detectable = np.mean(
        [
            compare(
                [rng.normal(100, 10, 1000)],
                [rng.normal(100, 10, 1000)],
                statistic="mean",
                threshold=0.01,
                replicates=400,
            ).detectable
            for _ in range(20)
        ]
    )
    detected = sum(
        compare(
            [rng.normal(100, 10, 1000)],
            [rng.normal(100, 10, 1000) * (1 + detectable)],
            statistic="mean",
            threshold=0.01,
            replicates=400,
            seed=i,
        ).verdict
        == "worse"
        for i in range(300)
    )
    assert 0.7 <= detected / 300 <= 0.9


def test_deterministic_sides_compare_exactly_with_a_caveat() -> None:
    same = np.full(1000, 120, dtype=np.uint32)
    comparison = compare([same], [same])
    assert comparison.verdict == "equivalent"
    assert "neither side varies" in comparison.caveat
    slower = compare([same, same], [same + 20, same + 20])
    assert slower.verdict == "worse"
    assert ratio_of(slower.ratio).zero_width
    assert slower.difference.low == slower.difference.high == 20.0


def test_a_side_that_reaches_zero_has_no_ratio_and_is_never_worse() -> None:
    zeros = np.zeros(100, dtype=np.uint32)
    comparison = compare([zeros], [np.arange(100)])
    assert comparison.ratio is None
    assert comparison.verdict == "inconclusive"
    assert "not above zero" in comparison.reason and "kadenz gate --limit" in comparison.reason
    assert compare([zeros], [zeros]).verdict == "equivalent"


def test_caveats_name_what_the_intervals_omit() -> None:
    rng = np.random.default_rng(5)
    series = rng.normal(100, 1, 100)
    assert "one run per side" in compare([series], [series]).caveat
    slow = 100.0 + ar1(rng, 300, 0.9)
    few = compare([slow], [1.5 * slow], statistic="mean")
    assert (few.verdict, few.decidable) == ("inconclusive", False)
    assert "independent samples" in few.reason
    assert compare([series], [1.5 * series]).verdict == "worse"
    assert "single run" in compare([series], [series, series + 1, series + 2]).caveat
    assert compare([series, series + 1], [series, series + 1]).caveat == ""


def test_a_percentile_needs_enough_samples() -> None:
    with pytest.raises(TooFew, match="368"):
        compare([np.arange(1, 300)], [np.arange(1, 300)], statistic=0.99)
    with pytest.raises(Undefined, match="unknown"):
        compare([np.arange(1, 300)], [np.arange(1, 300)], statistic="mode")
    with pytest.raises(Undefined, match="without runs"):
        compare([], [np.arange(1, 300)])


def test_a_p_value_agrees_with_the_interval() -> None:
    """Below 5 % exactly if the interval excludes 1, with one run per side and with several."""
    rng = np.random.default_rng(6)
    for number in range(24):
        factor = 1.0 + 0.01 * rng.standard_normal()
        count = 1 + 2 * (number % 2)
        base = [np.exp(0.1 * ar1(rng, 2000, 0.5)) for _ in range(count)]
        cand = [factor * np.exp(0.1 * ar1(rng, 2000, 0.5)) for _ in range(count)]
        comparison = compare(base, cand, replicates=400, seed=number)
        assert comparison.p_changed is not None
        if abs(comparison.p_changed - 0.05) > 0.002:  # the search ends at 1/500 of the distance
            assert (comparison.p_changed < 0.05) == (not ratio_of(comparison.ratio).covers(1.0))


def test_p_values_without_a_change_are_uniform() -> None:
    values = []

    def trial(rng: Rng, number: int) -> bool:
        sides = [10.0 + ar1(rng, 1500, 0.5) for _ in range(2)]
        comparison = compare(sides[:1], sides[1:], replicates=400, seed=number)
        values.append(comparison.p_changed)
        return True

    coverage(trial, simulations=150)
    p_values = np.array(values)
    for level in (0.01, 0.05, 0.2, 0.5):
        assert (p_values <= level).mean() <= level + 2.6 * np.sqrt(level * (1 - level) / 150) + 0.01


def test_the_p_value_beyond_the_threshold_refers_to_the_threshold() -> None:
    rng = np.random.default_rng(7)
    base, cand = rng.lognormal(7, 0.1, 20_000), 1.08 * rng.lognormal(7, 0.1, 20_000)
    clear, close = compare([base], [cand]), compare([base], [cand], threshold=0.08)
    assert clear.p_beyond is not None and clear.p_beyond < 1e-6
    assert close.p_beyond is not None and close.p_beyond > 0.01
    faster = compare([cand], [base])
    assert faster.p_beyond == 1.0 and faster.p_changed is not None and faster.p_changed < 1e-6


def test_a_given_spread_between_runs_makes_one_run_per_side_valid() -> None:
    told = untold = 0

    def trial(rng: Rng, number: int) -> bool:
        nonlocal told, untold
        base, cand = ([runs(rng, 1, 3.0)[0]] for _ in range(2))
        alone = compare(base, cand, statistic="mean", replicates=200, seed=number)
        untold += not ratio_of(alone.ratio).covers(1.0)
        comparison = compare(
            base, cand, statistic="mean", between_runs=0.03, replicates=400, seed=number
        )
        told += not ratio_of(comparison.ratio).covers(1.0)
        return "3 % was assumed" in comparison.caveat

    assert coverage(trial, simulations=80) == 1.0
    assert untold / 80 > 0.5
    assert told / 80 <= 0.14


def test_the_spread_between_runs_is_reported() -> None:
    rng = np.random.default_rng(8)
    comparison = compare(runs(rng, 8, 3.0), runs(rng, 8, 3.0), statistic="mean")
    assert comparison.between_runs == pytest.approx(0.03, rel=0.6)
    series = rng.normal(100, 1, 100)
    assert compare([series], [series]).between_runs is None


def test_the_spread_of_the_empty_loop_is_in_the_interval_of_a_batch() -> None:
    """Nine tenths of the spread is the loop's: without it the interval covers almost nothing."""
    bare = 0

    def trial(rng: Rng, number: int) -> bool:
        nonlocal bare
        sides = [
            LessLoop(rng.normal(7e6, 1e3, 40), rng.normal(1e6, 9e3, 40), 50_000.0) for _ in range(2)
        ]
        without = [
            (np.asarray(side.samples) - np.median(np.asarray(side.loop))) / side.per
            for side in sides
        ]
        comparison = compare(sides[:1], sides[1:], replicates=400, seed=number)
        bare += compare(without[:1], without[1:], replicates=400).difference.covers(0.0)
        return comparison.difference.covers(0.0)

    assert coverage(trial, simulations=300) >= 0.92
    assert bare / 300 < 0.5


def test_an_interval_beyond_the_samples_is_open() -> None:
    """p99 depends on bursts, and four bursts do not bound it."""
    rng = np.random.default_rng(9)
    series = rng.normal(100, 1, 2000)
    series[500:510] += 50
    series[1500:1516] += 80
    comparison = compare([series], [series[::-1].copy()], statistic=0.99)
    assert comparison.baseline.high == np.inf
    assert comparison.verdict == "inconclusive"
