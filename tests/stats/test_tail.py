# SPDX-License-Identifier: Apache-2.0
"""The tail: return levels if a fit holds, otherwise a refusal with a reason."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta, norm

from kadenz.stats.clusters import decluster
from kadenz.stats.errors import TooFew
from kadenz.stats.gpd import anderson_darling, estimate, fit_gpd, likelihood, p_value
from kadenz.stats.limit import limit_rate
from kadenz.stats.samples import Array, Floats
from kadenz.stats.tail import fit_tail

from .coverage import coverage

N = 20_000


def gpd(rng: np.random.Generator, shape: float, size: tuple[int, ...] | int) -> Floats:
    drawn = rng.standard_exponential(size)
    return np.asarray(np.expm1(shape * drawn) / shape if shape else drawn)


# ---- the distribution --------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [-0.4, 0.0, 0.3, 0.8])
def test_the_estimate_is_unbiased(shape: float) -> None:
    rng = np.random.default_rng(1)
    shapes, scales = estimate(np.sort(7.0 * gpd(rng, shape, (400, 300)), axis=1))
    assert abs(float(shapes.mean()) - shape) < 0.06
    assert float(scales.mean()) == pytest.approx(7.0, rel=0.04)
    # Near the error of maximum likelihood, (1 + shape) / sqrt(n).
    assert float(shapes.std()) < 1.25 * max(1.0 + shape, 0.7) / np.sqrt(300)


@pytest.mark.parametrize("shape", [-0.35, 0.05, 0.6])
@pytest.mark.parametrize("n", [80, 400])
def test_the_p_value_of_a_good_fit_is_uniform(shape: float, n: int) -> None:
    rng = np.random.default_rng(2)
    rows = np.sort(gpd(rng, shape, (600, n)), axis=1)
    shapes, scales = estimate(rows)
    p_values = [
        p_value(float(a), float(s))
        for a, s in zip(anderson_darling(rows, shapes, scales), shapes, strict=True)
    ]
    for level in (0.01, 0.1, 0.5):
        share = float(np.mean(np.array(p_values) <= level))
        assert abs(share - level) < 0.01 + 4.0 * np.sqrt(level * (1 - level) / 600)


def test_a_bad_fit_is_detected() -> None:
    rng = np.random.default_rng(3)
    two = np.concatenate((rng.exponential(1.0, 280), rng.normal(30.0, 0.5, 20)))
    assert fit_gpd(two).p_value < 1e-3
    assert fit_gpd(np.abs(rng.normal(5.0, 1.0, 300))).p_value < 1e-3


@pytest.mark.parametrize("shape", [-0.2, 0.0, 0.3])
def test_profile_intervals_cover_shape_and_level(shape: float) -> None:
    inside = []

    def trial(rng: np.random.Generator, _: int) -> bool:
        excess = gpd(rng, shape, 200)
        surface = likelihood(excess, fit := fit_gpd(excess))
        low, high = surface.shape()
        inside.append(low <= shape <= high)
        truth = np.expm1(shape * np.log(20_000)) / shape if shape else np.log(20_000)
        return surface.level(fit.level(20_000), 20_000).covers(float(truth))

    assert 0.90 <= coverage(trial, 200) <= 0.99
    assert 0.90 <= np.mean(inside) <= 0.99


def test_the_interval_is_that_of_the_profile_likelihood() -> None:
    """Against a direct maximisation over the scale, shape by shape."""
    excess = gpd(np.random.default_rng(4), 0.2, 150)
    surface = likelihood(excess, fit_gpd(excess))
    scales = np.geomspace(0.4, 2.5, 1_000)

    def profile(shape: float) -> float:
        ratio = shape * excess[:, np.newaxis] / scales
        inner = np.log1p(np.maximum(ratio, -1.0 + 1e-15)).sum(axis=0)
        value = -excess.size * np.log(scales) - (1.0 + 1.0 / shape) * inner
        return float(np.where(ratio.min(axis=0) > -1.0, value, -np.inf).max())

    shapes = np.linspace(-0.199, 0.7, 300)
    values = np.array([profile(float(shape)) for shape in shapes])
    inside = shapes[values >= values.max() - 0.5 * 3.8415]
    assert surface.shape() == pytest.approx((inside.min(), inside.max()), abs=0.02)


# ---- clusters ----------------------------------------------------------------------------------


def test_independent_samples_are_their_own_clusters() -> None:
    series = np.random.default_rng(5).exponential(size=N)
    clusters = decluster(series, float(np.quantile(series, 0.98)))
    assert clusters.extremal_index > 0.9
    assert clusters.peaks.size > 360


def test_clusters_are_found_with_their_peaks() -> None:
    """max(z[i], ..., z[i + 3]) of independent z: four exceedances per cluster."""
    rng = np.random.default_rng(6)
    z = gpd(rng, 0.2, N + 3)
    series = np.max([z[i : i + N] for i in range(4)], axis=0)
    clusters = decluster(series, float(np.quantile(series, 0.98)))
    assert clusters.extremal_index == pytest.approx(0.25, abs=0.05)
    assert 85 <= clusters.peaks.size <= 115
    assert (series[clusters.at] == clusters.peaks).all()


# ---- levels ------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Callable[[np.random.Generator], Array], Callable[[float], float]]] = {
    "exponential": (lambda rng: rng.exponential(1.0, N), lambda m: float(np.log(m))),
    "normal": (lambda rng: rng.normal(size=N), lambda m: float(norm.isf(1.0 / m))),
    "ticks": (
        lambda rng: np.round(rng.exponential(8.0, N)).astype(np.uint32),
        lambda m: float(8.0 * np.log(m)),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_existing_levels_are_covered_and_rarely_refused(kind: str) -> None:
    make, truth = KINDS[kind]
    refused = 0
    misses = [0, 0, 0]
    rng = np.random.default_rng(7)
    for number in range(60):
        tail = fit_tail(make(rng), seed=number)
        refused += bool(tail.refusal)
        for place, return_level in enumerate(tail.levels):
            misses[place] += not return_level.level.covers(truth(return_level.samples))
    # Six tests at 0.01, with a margin; a level 100 times beyond normal samples is the hardest.
    assert refused <= 12
    assert misses[0] <= 9 and misses[1] <= 12 and misses[2] <= 14


@pytest.mark.parametrize(
    ("series", "why"),
    [
        (lambda rng: np.round(rng.exponential(1.0, N)).astype(np.uint32), "clock's step"),
        (lambda rng: rng.normal(size=N) + np.arange(N) / 1e4, "not stationary"),
        (
            lambda rng: rng.normal(size=N) + 1400.0 * (np.arange(N) % 600 == 17),
            "no generalised Pareto",
        ),
        (lambda rng: np.full(N, 3.0), "fewer than 60 separate peaks"),
        # The jump at half time doubles the peaks.
        (lambda rng: rng.exponential(1.0, N) * (1.0 + (np.arange(N) > N / 2)), "not stationary"),
    ],
)
def test_invalid_extrapolation_is_refused_with_a_reason(
    series: Callable[[np.random.Generator], Array], why: str
) -> None:
    tail = fit_tail(series(np.random.default_rng(8)))
    assert tail.levels == () and why in tail.refusal


def test_a_dependent_series_is_declustered_first() -> None:
    z = gpd(np.random.default_rng(9), 0.1, N + 3)
    tail = fit_tail(np.max([z[i : i + N] for i in range(4)], axis=0))
    assert tail.chosen is not None and not tail.refusal
    assert tail.chosen.extremal_index < 0.4
    assert tail.chosen.fit.n < tail.chosen.exceedances


def test_every_threshold_tried_is_shown() -> None:
    tail = fit_tail(np.random.default_rng(10).exponential(size=N))
    thresholds = [fit.threshold for fit in tail.tried]
    assert thresholds == sorted(thresholds) and len(thresholds) >= 5
    assert {check.name for check in tail.checks} >= {"fit", "rate", "size", "independence"}
    with pytest.raises(TooFew):
        fit_tail(np.arange(1_000))


# ---- a limit -----------------------------------------------------------------------------------


def test_none_above_gives_the_rule_of_three_and_the_exact_bound() -> None:
    series = np.random.default_rng(11).random(10_000)
    rate = limit_rate(series, 2.0, tau=1.0)
    assert rate.three == pytest.approx(3e-4)
    assert rate.high == pytest.approx(1.0 - 0.05 ** (1 / 10_000))
    assert "0 of 10,000 samples" in rate.sentence and "0.0003" in rate.sentence


def test_some_above_give_the_interval_of_clopper_and_pearson() -> None:
    series = np.zeros(1_000)
    series[::100] = 1.0
    rate = limit_rate(series, 0.5, tau=1.0)
    assert rate.above == 10 and rate.three is None
    assert rate.low == pytest.approx(beta.ppf(0.025, 10, 991))
    assert rate.high == pytest.approx(beta.ppf(0.975, 11, 990))


def test_dependent_samples_are_worth_less() -> None:
    series = np.repeat(np.random.default_rng(12).random(1_000), 10)
    dependent, independent = limit_rate(series, 2.0), limit_rate(series, 2.0, tau=1.0)
    assert dependent.high is not None and independent.high is not None
    assert dependent.high > 5.0 * independent.high
    assert "worth" in dependent.sentence and "approximate" in dependent.sentence
    assert "exact for independent samples" in independent.sentence
