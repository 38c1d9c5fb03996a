# SPDX-License-Identifier: Apache-2.0
"""Common causes of the worst samples: known causes are found, none is invented."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.common_causes import CommonCauses, Worst, common_causes
from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.samples import Array, Floats

from .series import Rng, ar1

N = 10_000


def bursts(rng: Rng, n: int, rate: float, length: int) -> Array:
    """Counts that come in bursts: 0 or 1, `rate` of them 1."""
    begins = np.flatnonzero(rng.random(n) < rate / length)
    marks = np.zeros(n, dtype=np.uint32)
    for begin in begins:
        marks[begin : begin + length] = 1
    return marks


def companions(rng: Rng, n: int) -> dict[str, Array]:
    """Eight companions as in a real run, none of them a cause."""
    return {
        "cpu": (np.arange(n) // 1000 % 2).astype(np.uint32),
        "involuntary-switches": bursts(rng, n, 0.02, 1),
        "interrupts": rng.poisson(np.exp(0.5 * ar1(rng, n, 0.99)) * 4.0).astype(np.uint32),
        "soft-interrupts": rng.poisson(2.0, n).astype(np.uint32),
        "migrations": np.zeros(n, dtype=np.uint32),
        "faults": bursts(rng, n, 0.01, 20),
        "steal": bursts(rng, n, 0.05, 50),
        "smi": (rng.random(n) < 0.0005).astype(np.uint32),
    }


def latencies(rng: Rng, n: int, phi: float) -> Floats:
    """A skewed latency whose neighbours depend on each other."""
    return np.asarray(np.exp(0.5 * ar1(rng, n, phi)) * 1000.0)


def test_no_cause_is_invented_if_samples_and_companions_wander() -> None:
    """200 series, nominal 4 %; the margin is two standard errors."""
    rng = np.random.default_rng(8)
    invented = 0
    for number in range(200):
        causes = common_causes(
            latencies(rng, N, 0.99), companions(rng, N), places=("cpu",), seed=number
        )
        invented += bool(causes.common)
    assert invented / 200 <= 0.05 + 0.03


def test_independent_samples_show_no_common_cause() -> None:
    """Events, clusters and periods together: at most 5 % of 200 series, and two standard errors."""
    rng = np.random.default_rng(9)
    said = sum(
        not common_causes(
            latencies(rng, N, 0.0), companions(rng, N), places=("cpu",), seed=number
        ).nothing
        for number in range(200)
    )
    assert said / 200 <= 0.05 + 0.03


@pytest.mark.parametrize(
    ("cause", "value"),
    [("involuntary-switches", 1), ("interrupts", 40), ("faults", 1), ("steal", 3), ("smi", 1)],
)
def test_a_known_cause_is_found_and_comes_first(cause: str, value: int) -> None:
    rng = np.random.default_rng(10)
    hits = 0
    for _ in range(20):
        samples, beside = latencies(rng, N, 0.9), companions(rng, N)
        struck = rng.choice(N, 12, replace=False)  # of the 20 worst; the others are just large
        samples[struck] += 20_000.0
        beside[cause][struck] += value
        causes = common_causes(samples, beside, places=("cpu",))
        hits += bool(causes.common) and causes.common[0].name == cause
    assert hits >= 19


def test_the_cpu_of_the_worst_samples_is_named() -> None:
    rng = np.random.default_rng(11)
    samples, cpu = latencies(rng, N, 0.0), rng.integers(0, 4, N)
    samples[(cpu == 3) & (rng.random(N) < 0.01)] += 30_000.0
    causes = common_causes(samples, {"cpu": cpu}, places=("cpu",))
    assert causes.common[0].place == 3
    assert causes.common[0].worst_share > 0.9
    assert causes.common[0].rest_share == pytest.approx(0.25, abs=0.02)


def test_the_interval_of_the_odds_ratio_contains_the_true_one() -> None:
    """With an event (5 % of samples) one in 50 samples is slow, without it one in 1000."""
    rng = np.random.default_rng(12)
    truth = (0.02 / 0.98) / (0.001 / 0.999)
    inside = 0
    for number in range(300):
        event = rng.random(N) < 0.05
        slow = rng.random(N) < np.where(event, 0.02, 0.001)
        samples = np.where(slow, 5000.0 + rng.random(N), rng.random(N))
        share = float(slow.mean())
        causes = common_causes(samples, {"event": event}, worst=Worst(share, fewest=2), seed=number)
        assert causes.count == slow.sum()
        inside += causes.factors[0].low <= truth <= causes.factors[0].high
    assert inside / 300 >= 0.93


def test_the_counts_of_the_table_add_up() -> None:
    rng = np.random.default_rng(13)
    samples, event = np.arange(N), rng.random(N) < 0.1
    causes = common_causes(samples, {"event": event})
    factor = causes.factors[0]
    assert (causes.count, causes.threshold) == (20, N - 20)
    assert factor.worst_n + factor.rest_n == N
    assert factor.worst_with == event[-20:].sum()
    assert factor.worst_with + factor.rest_with == event.sum()


def test_an_event_that_none_of_the_worst_has_gives_zero_odds() -> None:
    event = np.zeros(N, dtype=bool)
    event[123] = True
    factor = common_causes(np.arange(N), {"event": event}).factors[0]
    assert (factor.worst_with, factor.odds_ratio, factor.low) == (0, 0.0, 0.0)
    assert factor.high > 1.0 and not factor.common


def test_fishers_p_is_the_exact_one() -> None:
    """Compared with scipy's own."""
    from scipy.stats import fisher_exact

    rng = np.random.default_rng(14)
    event = rng.random(N) < 0.1
    factor = common_causes(np.arange(N), {"event": event}).factors[0]
    table = np.array(
        [
            [factor.worst_with, factor.worst_n - factor.worst_with],
            [factor.rest_with, factor.rest_n - factor.rest_with],
        ]
    )
    assert factor.fisher_p == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


def test_worst_samples_in_one_burst_are_clustered_and_not_a_cause() -> None:
    """A burst that coincides with steal time by chance is one coincidence, not twenty."""
    rng = np.random.default_rng(15)
    samples, steal = rng.random(N), np.zeros(N)
    samples[5000:5020] += 5.0
    for begin in range(0, N, 1000):
        steal[begin : begin + 200] = 1
    causes = common_causes(samples, {"steal": steal})
    assert causes.clustered and causes.bursts == 1
    assert causes.factors[0].worst_with == 20 and causes.factors[0].fisher_p < 1e-6
    assert causes.factors[0].p_value > 0.1
    assert not causes.common


def test_the_period_of_the_worst_samples_is_found() -> None:
    rng = np.random.default_rng(16)
    samples = rng.random(N)
    samples[123::400] += 5.0
    causes = common_causes(samples, {})
    assert causes.train is not None and not causes.train.loose
    assert causes.train.every == pytest.approx(400, rel=0.001)
    assert not causes.clustered


def test_marks_are_tested_like_companions() -> None:
    rng = np.random.default_rng(17)
    samples = rng.random(N)
    drains = np.array([1111, 2500, 3777, 5120, 6000, 8111, 9000, 9500])
    samples[drains] += 5.0
    causes = common_causes(samples, {}, marks={"drain": drains})
    assert [f.name for f in causes.common] == ["drain"]
    assert causes.common[0].rest_with == 0


def refused(samples: Array, worst: Worst = Worst()) -> str:  # noqa: B008 (frozen)
    with pytest.raises(Undefined) as caught:
        common_causes(samples, {}, worst=worst)
    return str(caught.value)


def test_samples_without_a_worst_are_refused_with_a_reason() -> None:
    assert "share the largest values" in refused(np.full(N, 7))
    assert "outside" in refused(np.arange(N), Worst(share=0.5))
    with pytest.raises(TooFew):
        common_causes(np.arange(199), {})


def test_with_ties_at_the_threshold_only_samples_above_it_count() -> None:
    samples = np.full(N, 7)
    samples[100:115] = 9
    causes: CommonCauses = common_causes(samples, {})
    assert (causes.count, causes.threshold) == (15, 9.0)


def test_a_constant_companion_is_left_out_by_name() -> None:
    causes = common_causes(np.arange(N), {"smi": np.zeros(N)})
    assert causes.left_out == {"smi": "0 at every sample"}
    assert causes.asked == 0
