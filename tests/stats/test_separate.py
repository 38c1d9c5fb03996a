# SPDX-License-Identifier: Apache-2.0
"""High samples in few bursts give no interval; in many bursts they do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from kadenz.stats.limit import limit_rate
from kadenz.stats.percentiles import percentiles
from kadenz.stats.prediction import maximum_bound
from kadenz.stats.samples import Floats
from kadenz.stats.separate import separate_events

from .series import Rng, ar1

N = 20_000


def bursts(rng: Rng, count: int, share: float = 0.02, within: float = 1.0) -> Floats:
    """Exponential samples with `count` bursts that together make up `share` of them; in a burst a
    share `within` of the samples is raised."""
    samples = rng.exponential(1.0, N)
    length = int(share * N / count)
    for start in rng.integers(0, N - length, count):
        struck = start + np.flatnonzero(rng.random(length) < within)
        samples[struck] += 5.0 + rng.exponential(2.0, struck.size)
    return samples


@pytest.mark.parametrize("within", [1.0, 0.3])
@pytest.mark.parametrize("level", [0.99, 0.999])
def test_a_percentile_that_depends_on_two_bursts_is_unknown(level: float, within: float) -> None:
    for seed in range(10):
        series = bursts(np.random.default_rng(seed), 2, 0.02 / within, within)
        (percentile,) = percentiles(series, levels=(level,))
        assert percentile.value is not None, "the samples themselves have one"
        assert percentile.low is None and percentile.high is None and not percentile.known
        assert "unknown" in percentile.reason and "Measure longer" in percentile.reason
        assert percentile.needed > N


def test_a_percentile_of_many_bursts_keeps_its_interval_and_covers() -> None:
    truth = float(
        np.quantile([bursts(np.random.default_rng(i), 64) for i in range(500, 600)], 0.99)
    )
    given = covered = 0
    for seed in range(60):
        (percentile,) = percentiles(bursts(np.random.default_rng(seed), 64), levels=(0.99,))
        if percentile.low is not None and percentile.high is not None:
            given += 1
            covered += percentile.low <= truth <= percentile.high
    assert given >= 57
    assert covered >= 0.93 * given


def test_p999_of_a_slowly_wandering_series_is_unknown() -> None:
    """AR(1) 0.99: intervals would cover in only 9 of 25 series."""
    for seed in range(20):
        (percentile,) = percentiles(ar1(np.random.default_rng(seed), N, 0.99), levels=(0.999,))
        assert percentile.low is None and percentile.high is None


def test_a_median_of_equal_samples_is_known_despite_a_burst() -> None:
    counts = np.full(59, 117)
    counts[[30, 31]] = 157
    median, p99 = percentiles(counts, levels=(0.5, 0.99))
    assert (median.low, median.value, median.high) == (117, 117, 117)
    assert p99.low is None
    counts[10:38] = 157  # a burst of nearly half: it may be more than half in the next run
    (median,) = percentiles(counts, levels=(0.5,))
    assert median.low is None and "unknown" in median.reason


def test_independent_samples_lose_no_interval() -> None:
    levels = (0.5, 0.9, 0.99, 0.999)
    given = np.zeros(4)
    covered = np.zeros(4)
    for seed in range(100):
        series = np.random.default_rng(seed).standard_normal(N)
        for place, percentile in enumerate(percentiles(series, levels=levels)):
            if percentile.low is not None and percentile.high is not None:
                given[place] += 1
                covered[place] += percentile.low <= norm.ppf(levels[place]) <= percentile.high
    assert (given >= 97).all(), given
    assert (covered >= 0.9 * given).all(), covered


def test_a_limit_exceeded_in_only_two_bursts_has_no_share() -> None:
    series = bursts(np.random.default_rng(3), 2)
    rate = limit_rate(series, 5.5)
    assert rate.above > 100 and rate.low is None and rate.high is None and rate.three is None
    assert "unknown" in rate.sentence and "separate events" in rate.sentence


def test_the_interval_of_a_limit_is_called_exact_only_for_independent_samples() -> None:
    rng = np.random.default_rng(4)
    apart = rng.random(N)
    together = np.repeat(rng.random(N // 4), 4)
    assert "(Clopper-Pearson, exact" in limit_rate(apart, 0.99, tau=1.0).sentence
    dependent = limit_rate(together, 0.99)
    assert not dependent.exact and "approximate" in dependent.sentence


def test_the_bound_beyond_all_samples_also_holds_with_two_bursts() -> None:
    """The share above the maximum of one series, counted in many others."""
    others = np.sort(np.concatenate([bursts(np.random.default_rng(i), 2) for i in range(500, 600)]))
    held = 0
    for seed in range(60):
        series = bursts(np.random.default_rng(seed), 2)
        above = 1.0 - np.searchsorted(others, series.max(), "right") / others.size
        rate = limit_rate(series, float(series.max()))
        assert rate.high is not None
        held += above <= rate.high and above <= maximum_bound(series).exceed_fraction
    assert held >= 57


def test_a_burst_without_neighbouring_samples_counts_as_one() -> None:
    happened = np.zeros(N, dtype=bool)
    happened[5_000:5_900:30] = True
    happened[15_000:15_900:30] = True
    events = separate_events(happened)
    assert events.separate < 5.0 and not events.known


def test_no_event_or_only_events_are_not_bursts() -> None:
    assert separate_events(np.zeros(100, dtype=bool)).known
    assert separate_events(np.ones(100, dtype=bool)).known
    assert separate_events(np.array([True])).known
