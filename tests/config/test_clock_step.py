# SPDX-License-Identifier: Apache-2.0
"""The step of a clock from rounded readings: neither finer nor coarser than the data show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from kadenz.config.clock_step import clock_step


def readings(step: float, unit: float, round_: np.ufunc, seed: int = 1) -> npt.NDArray[np.int64]:
    """Edges of pulses of 200 to 250 ns at random distances, in whole units."""
    rng = np.random.default_rng(seed)
    apart = np.stack([rng.uniform(16e3, 24e3, 500), rng.uniform(200.0, 250.0, 500)], axis=1)
    return np.asarray(round_(np.floor(np.cumsum(apart.ravel()) / step) * step / unit), np.int64)


@pytest.mark.parametrize("mhz", [7, 12, 16, 24, 48, 54, 100, 150, 200, 500])
@pytest.mark.parametrize("unit", [1.0, 0.1, 0.001])
@pytest.mark.parametrize("round_", [np.floor, np.rint])
def test_the_step_of_an_analyser_is_found(mhz: int, unit: float, round_: np.ufunc) -> None:
    step = clock_step(np.diff(readings(1e3 / mhz, unit, round_))) * unit
    assert step == pytest.approx(1e3 / mhz, rel=1e-4)


def test_readings_of_a_fine_clock_have_no_coarser_step() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        size, most = int(rng.integers(3, 300)), int(rng.choice([100, 1_000, 100_000]))
        drawn = rng.integers(1, most, size)
        assert clock_step(drawn) == np.gcd.reduce(drawn), seed


@pytest.mark.parametrize(
    ("distances", "step"),
    [
        ([], 0.0),
        ([0], 0.0),
        ([10_000] * 5, 10_000.0),
        ([100, 142], 2.0),
        ([100, 101, 150, 151], 1.0),
    ],
)
def test_few_distances_show_what_divides_them(distances: list[int], step: float) -> None:
    """Two modes of 1 ns each are no clock of 50 ns."""
    assert clock_step(np.array(distances, np.int64)) == step
