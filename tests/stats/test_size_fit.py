# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.samples import Array
from kadenz.stats.size_fit import fit_size

from .coverage import coverage
from .series import ar1

SIZES = tuple(range(60, 601, 60))  # yoo2024, section 3.2: 60 ... 600 bytes
Rng = np.random.Generator


def noisy(rng: Rng, n: int = 400) -> list[Array]:
    """500 + 0.8 per byte in the median; spread grows with size, dependent, with outliers."""
    samples = []
    for size in SIZES:
        series = 500.0 + 0.8 * size + (5.0 + 0.03 * size) * ar1(rng, n, 0.7)
        series[rng.random(n) < 0.02] += 400.0
        # Outliers on both sides do not move the median.
        series[rng.random(n) < 0.02] -= 400.0
        samples.append(series)
    return samples


@pytest.mark.parametrize("statistic", ["median", "mean"])
@pytest.mark.long
def test_the_intervals_cover_both_costs(statistic: str) -> None:
    fixed = 0
    bent = 0

    def trial(rng: Rng, number: int) -> bool:
        nonlocal fixed, bent
        fit = fit_size(SIZES, noisy(rng), statistic=statistic, replicates=300, seed=number)
        fixed += fit.fixed.covers(500.0)
        bent += not fit.linear
        return fit.per_byte.covers(0.8)

    assert 0.92 <= coverage(trial, simulations=400) <= 0.98
    assert 0.92 <= fixed / 400 <= 0.98
    assert bent / 400 <= 0.03


def test_rounding_to_ticks_widens_the_interval_without_a_bend() -> None:
    fixed = np.random.default_rng(1).uniform(100, 200, 200)
    slopes = np.random.default_rng(2).uniform(0.1, 2.0, 200)
    hits = 0
    for cost, slope in zip(fixed, slopes, strict=True):
        samples = [np.full(20, round(cost + slope * size), dtype=np.uint32) for size in SIZES]
        fit = fit_size(SIZES, samples, replicates=300)
        assert not fit.per_byte.zero_width
        hits += fit.per_byte.covers(slope) and fit.fixed.covers(cost)
    assert hits / 200 >= 0.9


def test_an_exact_line_is_found_exactly() -> None:
    fit = fit_size(SIZES, [np.full(20, 500.0 + 0.5 * size) for size in SIZES])
    assert fit.fixed.value == pytest.approx(500.0)
    assert fit.per_byte.value == pytest.approx(0.5)
    assert fit.linear
    assert fit.r_squared == pytest.approx(1.0)


def test_outliers_do_not_move_the_medians_line() -> None:
    rng = np.random.default_rng(3)
    clean = [np.full(200, 500 + size) + rng.integers(-2, 3, 200) for size in SIZES]
    struck = [series.copy() for series in clean]
    for series in struck:
        series[::50] += 100_000
    clean_fit, struck_fit = fit_size(SIZES, clean), fit_size(SIZES, struck)
    assert struck_fit.per_byte.value == pytest.approx(clean_fit.per_byte.value, abs=0.01)


def test_a_step_is_not_linear_and_widens_the_interval() -> None:
    rng = np.random.default_rng(4)
    stepped = [500 + size + 150 * (size > 300) + rng.integers(0, 5, 200) for size in SIZES]
    fit = fit_size(SIZES, stepped)
    assert not fit.linear
    assert fit.worst_size in (300.0, 360.0)
    assert "not a straight line" in fit.reason
    assert fit.per_byte.high - fit.per_byte.low > 0.1


def test_a_curve_is_not_linear() -> None:
    rng = np.random.default_rng(5)
    fit = fit_size(SIZES, [500 + 0.002 * size**2 + rng.normal(0, 3, 300) for size in SIZES])
    assert not fit.linear


def test_the_order_of_the_sizes_does_not_matter() -> None:
    samples = noisy(np.random.default_rng(6))
    forward = fit_size(SIZES, samples)
    backward = fit_size(SIZES[::-1], samples[::-1])
    assert forward.per_byte == backward.per_byte


def test_a_cost_that_does_not_depend_on_size_has_no_r_squared() -> None:
    fit = fit_size(SIZES, [np.full(20, 500) for _ in SIZES])
    assert fit.r_squared is None
    assert fit.per_byte.covers(0.0)


def test_impossible_fits_are_refused() -> None:
    with pytest.raises(TooFew):
        fit_size((1, 2), [np.arange(20)] * 2)
    with pytest.raises(Undefined, match="twice"):
        fit_size((1, 2, 2), [np.arange(20)] * 3)
    with pytest.raises(Undefined, match="3 sizes"):
        fit_size((1, 2, 3), [np.arange(20)] * 2)
