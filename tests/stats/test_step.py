# SPDX-License-Identifier: Apache-2.0
"""The step of a clock, from its readings."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.step import step_of


@pytest.mark.parametrize("step", [1, 40, 1_000])
@pytest.mark.parametrize("kind", [np.uint32, np.int64, np.uint64, np.float64])
def test_whole_numbers_show_their_step(step: int, kind: type) -> None:
    drawn = np.random.default_rng(1).geometric(0.1, 20_000)
    assert step_of((7 + step * drawn).astype(kind)) == step


@pytest.mark.parametrize("step", [0.1, 0.5, 1.0 / 24.0, 2.5e-7])
@pytest.mark.parametrize("offset", [0.0, 1234.5, 5e4])
def test_other_numbers_show_their_step_too(step: float, offset: float) -> None:
    drawn = np.random.default_rng(2).geometric(0.1, 20_000)
    assert step_of(step * (drawn + offset)) == pytest.approx(step, rel=1e-6)


def test_a_step_that_never_occurs_alone_is_found() -> None:
    assert step_of(np.array([0.0, 0.6, 1.6, 2.2])) == pytest.approx(0.2)


@pytest.mark.parametrize(
    "series",
    [
        lambda rng: 20.0 + rng.exponential(2.0, 20_000),
        lambda rng: rng.normal(0.0, 1.0, 500),
        lambda rng: 1e9 + rng.random(5_000),
        lambda rng: rng.lognormal(0.0, 3.0, 5_000),
        lambda _: np.full(100, 0.25),
    ],
)
def test_reals_have_no_step(series: object) -> None:
    assert callable(series)
    assert step_of(series(np.random.default_rng(3))) == 0.0


def test_integers_over_their_whole_range_do_not_wrap() -> None:
    ends = np.array([np.iinfo(np.int32).min, np.iinfo(np.int32).max], dtype=np.int32)
    assert step_of(ends) == 2.0**32 - 1.0
    assert step_of(np.array([2**64 - 1, 2**64 - 4], dtype=np.uint64)) == 3.0
