# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.drift import separate_drift
from kadenz.stats.errors import Undefined

from .coverage import coverage
from .series import ar1


@pytest.mark.parametrize("phi", [0.0, 0.9])
@pytest.mark.long
def test_the_interval_covers_the_clock_rate_error(phi: float) -> None:
    # cereia2011 measured 200 ppm between its two oscillators.
    def trial(rng: np.random.Generator, _: int) -> bool:
        edges = 1e6 * 1.0002 * np.arange(2000) + 5000.0 * ar1(rng, 2000, phi)
        separation = separate_drift(edges, nominal_period=1e6, replicates=400)
        assert separation.rate_error_ppm is not None
        return separation.rate_error_ppm.covers(200.0)

    assert 0.92 <= coverage(trial) <= 0.98


def test_rate_drift_and_jitter_are_separated_and_add_up() -> None:
    rng = np.random.default_rng(1)
    n = 100_000
    wander = 400.0 * np.sin(np.arange(n) * 2 * np.pi / 40_000)
    jitter = rng.normal(0.0, 20.0, n)
    edges = 1000.2 * np.arange(n) + wander + jitter
    separation = separate_drift(edges, nominal_period=1000.0, window=1001)
    inner = slice(2000, -2000)
    slope = np.polyfit(np.arange(n), wander, 1)
    np.testing.assert_allclose(
        separation.drift[inner], (wander - np.polyval(slope, np.arange(n)))[inner], atol=6.0
    )
    assert separation.jitter_sd == pytest.approx(20.0, rel=0.05)
    rebuilt = separation.period.value * np.arange(n) + separation.drift + separation.jitter
    assert np.ptp(edges - rebuilt) < 1e-4


def test_nanoseconds_since_an_epoch_keep_their_digits() -> None:
    start = 1_767_225_600_000_000_000
    edges = start + 1_000_000 * np.arange(1000, dtype=np.int64)
    edges[::2] += 1
    separation = separate_drift(edges.astype(np.uint64), nominal_period=1e6)
    assert separation.period.value == pytest.approx(1e6, abs=1e-2)
    assert separation.jitter_range == pytest.approx(1.0, abs=0.1)


def test_a_perfect_clock_has_no_jitter_and_zero_width() -> None:
    separation = separate_drift(np.arange(0, 64_000, 1000), nominal_period=1000.0)
    assert separation.jitter_range == 0.0
    assert separation.period.zero_width
    assert separation.rate_error_ppm is not None
    assert separation.rate_error_ppm.value == 0.0


def test_a_repeated_edge_is_named() -> None:
    edges = np.arange(100)
    edges[50] = 49
    with pytest.raises(Undefined, match="edge 50"):
        separate_drift(edges)
    with pytest.raises(Undefined, match="window"):
        separate_drift(np.arange(100), window=101)
