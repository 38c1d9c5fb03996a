# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import order
from kadenz.stats.percentiles import needed_for_interval, percentiles, quantile_ranks

from .coverage import coverage
from .series import ar1


def test_the_ranks_for_the_median_are_those_of_the_tables() -> None:
    # Conover, Practical Nonparametric Statistics: n = 20, 95 %: the 6th and the 15th.
    assert quantile_ranks(20, 0.5, 0.95) == (6, 15)
    # The sign test's interval for n = 10: the 2nd and the 9th.
    assert quantile_ranks(10, 0.5, 0.95) == (2, 9)


@given(
    st.integers(1, 5000),
    st.sampled_from([0.01, 0.5, 0.9, 0.99, 0.999]),
    st.sampled_from([0.9, 0.95, 0.99]),
)
@settings(max_examples=200, deadline=None)
def test_each_tail_keeps_at_most_its_half_and_the_ranks_are_the_closest(
    n: int, level: float, confidence: float
) -> None:
    low, high = quantile_ranks(n, level, confidence)
    tail = (1.0 - confidence) / 2.0
    slack = 1e-9
    if low >= 1:
        assert binom.cdf(low - 1, n, level) <= tail + slack
    assert binom.cdf(low, n, level) > tail - slack
    if high <= n:
        assert binom.sf(high - 1, n, level) <= tail + slack
    assert binom.sf(high - 2, n, level) > tail - slack


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_interval_of_independent_samples_covers_the_quantile(level: float) -> None:
    truth = float(np.exp(norm.ppf(level)))

    def trial(rng: np.random.Generator, _: int) -> bool:
        (percentile,) = percentiles(rng.lognormal(size=1000), levels=(level,), dependent=False)
        assert percentile.low is not None
        assert percentile.high is not None
        return percentile.low <= truth <= percentile.high

    assert 0.94 <= coverage(trial) <= 0.985


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_dependence_breaks_the_exact_interval_and_the_wider_one_covers(level: float) -> None:
    truth = float(norm.ppf(level))
    seen = {True: 0, False: 0}

    def trial(rng: np.random.Generator, _: int) -> bool:
        series = ar1(rng, 2000, 0.9)
        for dependent in seen:
            (percentile,) = percentiles(series, levels=(level,), dependent=dependent)
            if percentile.low is not None and percentile.high is not None:
                seen[dependent] += percentile.low <= truth <= percentile.high
        return True

    coverage(trial)
    assert seen[False] < 600
    assert 920 <= seen[True] <= 985


def test_with_ties_the_interval_covers_more_never_less() -> None:
    # Three values, 0.3 / 0.4 / 0.3: the median is 1.
    refused = []

    def trial(rng: np.random.Generator, _: int) -> bool:
        (percentile,) = percentiles(rng.choice(3, 100, p=(0.3, 0.4, 0.3)), levels=(0.5,))
        if percentile.low is None or percentile.high is None:
            refused.append(percentile.reason)  # looks dependent by chance
            return True
        return percentile.low <= 1 <= percentile.high

    assert coverage(trial) >= 0.95 + len(refused) / 1000
    assert len(refused) <= 5


@given(st.lists(st.integers(-5, 1000), min_size=1, max_size=300))
@settings(max_examples=200, deadline=None)
def test_every_figure_is_a_measured_value_in_order(values: list[int]) -> None:
    seen = set(values)
    for percentile in percentiles(np.array(values)):
        known = [x for x in (percentile.low, percentile.value, percentile.high) if x is not None]
        assert known == sorted(known)
        assert all(x in seen for x in known)
        if percentile.value is not None:
            # The definition: the smallest sample that a share `level` does not exceed.
            below = sum(v < percentile.value for v in values)
            up_to = sum(v <= percentile.value for v in values)
            assert below < percentile.level * len(values) <= up_to + 1e-9


def test_too_few_samples_are_reported_and_nothing_is_extrapolated() -> None:
    by_name = {p.name: p for p in percentiles(np.arange(2000), dependent=False)}
    assert by_name["p99"].high is not None
    assert by_name["p99.9"].value == 1997
    assert by_name["p99.9"].high is None
    assert "3,688 needed" in by_name["p99.9"].reason
    assert by_name["p99.99"].value is None
    assert "10,000 needed" in by_name["p99.99"].reason
    assert [p.name for p in percentiles(np.arange(5))] == [
        "p50",
        "p90",
        "p95",
        "p99",
        "p99.9",
        "p99.99",
    ]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99, 0.999, 0.9999])
def test_the_number_needed_is_the_smallest_that_gives_both_ends(level: float) -> None:
    needed = needed_for_interval(level, 0.95)
    low, high = quantile_ranks(needed, level, 0.95)
    assert low >= 1
    assert high <= needed
    low, high = quantile_ranks(needed - 1, level, 0.95)
    assert low < 1 or high > needed - 1


def test_dependence_raises_the_number_needed() -> None:
    series = ar1(np.random.default_rng(1), 4000, 0.95)
    plain, dependent = (
        percentiles(series, levels=(0.5,), dependent=flag)[0] for flag in (False, True)
    )
    assert dependent.tau > 10 * plain.tau
    assert dependent.needed > plain.needed


def test_decimal_levels_hit_their_rank_exactly() -> None:
    data = order(np.arange(1, 101))
    for percent in range(1, 101):
        assert data.quantile(percent / 100.0) == percent


def test_levels_outside_zero_and_one_are_refused() -> None:
    with pytest.raises(Undefined, match=r"level 99"):
        percentiles(np.arange(10), levels=(99.0,))
