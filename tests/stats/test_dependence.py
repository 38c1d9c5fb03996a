# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.autocorrelation import autocorrelation
from kadenz.stats.block_length import politis_white
from kadenz.stats.effective import effective_size
from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Floats

from .series import ar1


def direct(series: Floats, lags: int) -> Floats:
    d = series - series.mean()
    products = [float(d[: d.size - k] @ d[k:]) for k in range(lags + 1)]
    return np.array(products) / products[0]


@pytest.mark.parametrize("n", [2, 7, 1000, 200_000])
def test_the_transform_equals_the_sum_of_products(n: int) -> None:
    series = np.random.default_rng(1).integers(0, 50, n).astype(np.uint32)
    series[0] = 99
    lags = min(n - 1, 40)
    np.testing.assert_allclose(
        autocorrelation(series, lags).rho, direct(series.astype(float), lags), atol=1e-10
    )


def test_ar1_shows_powers_of_its_coefficient() -> None:
    rho = autocorrelation(ar1(np.random.default_rng(2), 400_000, 0.8), 10).rho
    np.testing.assert_allclose(rho, 0.8 ** np.arange(11), atol=0.02)


def test_alternation_shows_as_minus_one() -> None:
    rho = autocorrelation(np.tile([1, 2], 5000), 2).rho
    np.testing.assert_allclose(rho, [1, -1, 1], atol=1e-3)


def test_samples_that_do_not_vary_have_no_correlation_and_no_nan() -> None:
    correlation = autocorrelation(np.full(100, 7, dtype=np.uint32), 3)
    assert correlation.constant
    assert correlation.rho.tolist() == [1, 0, 0, 0]
    worth = effective_size(np.full(100, 7))
    assert worth.constant
    assert worth.effective_n == 100


def test_a_lag_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Undefined, match="lag 10 of 10"):
        autocorrelation(np.arange(10), 10)


@pytest.mark.parametrize(("phi", "n"), [(0.0, 20_000), (0.5, 20_000), (0.9, 20_000), (0.9, 10**6)])
def test_tau_is_the_true_one_of_the_process(phi: float, n: int) -> None:
    taus = [effective_size(ar1(np.random.default_rng(i), n, phi)).tau for i in range(10)]
    assert np.mean(taus) == pytest.approx((1 + phi) / (1 - phi), rel=0.12)


def test_averaging_over_cells_keeps_the_long_run_variance() -> None:
    # The same series, once short enough for no cells and once with cells.
    series = ar1(np.random.default_rng(3), 32_768, 0.9)
    fine = effective_size(series)
    coarse = effective_size(np.concatenate([series, series, series, series]))
    assert fine.cell == 1
    assert coarse.cell == 4
    assert coarse.long_run_sd == pytest.approx(fine.long_run_sd, rel=0.1)


def test_negative_correlation_never_adds_samples() -> None:
    worth = effective_size(ar1(np.random.default_rng(4), 5000, -0.6))
    assert worth.tau < 0.5
    assert worth.effective_n == 5000


def test_blocks_grow_with_dependence() -> None:
    rng = np.random.default_rng(5)
    lengths = [
        np.mean([politis_white(ar1(rng, 2000, phi)) for _ in range(20)]) for phi in (0, 0.5, 0.9)
    ]
    assert lengths[0] < 6 < lengths[1] < lengths[2]
    # Optimal for AR(1), circular blocks: (2 G^2/D)^(1/3) n^(1/3), G = 2 phi/(1-phi)^2 and
    # D = 4/3 /(1-phi)^4 per unit innovation variance, G scaled by gamma(0) = 1/(1-phi^2).
    g = 2 * 0.5 / ((1 - 0.5) ** 2 * (1 - 0.5**2))
    density = 1 / (1 - 0.5) ** 2
    optimal = (2 * g * g / (4 / 3 * density * density)) ** (1 / 3) * 2000 ** (1 / 3)
    assert lengths[1] == pytest.approx(optimal, rel=0.4)


@pytest.mark.parametrize("series", [np.ones(50), np.arange(9), np.tile([0, 1], 40)])
def test_a_block_length_exists_for_any_series(series: Floats) -> None:
    assert 1 <= politis_white(series.astype(float)) <= max(series.size / 3, 1)
