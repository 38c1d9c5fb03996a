# SPDX-License-Identifier: Apache-2.0
"""The spread from run to run, from few runs and many points."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kadenz.stats.compare import judge
from kadenz.stats.holm import holm
from kadenz.stats.replicate import Replicated
from kadenz.stats.samples import Floats
from kadenz.stats.side import Side
from kadenz.stats.spread import RunLogs, moderated

Rng = np.random.Generator


def side(logs: Floats) -> Side:
    """A side whose runs have the medians exp(`logs`) (r,), without an error of their own."""

    def exactly(value: float) -> Replicated:
        return Replicated(value, lambda _: np.full(2, value), 0.0, False, 1e9)

    return Side([exactly(value) for value in np.exp(logs).tolist()])


def p_values(base: Floats, cand: Floats) -> Floats:
    """The p-value of every point, (m, r) logarithms per side, adjusted as `compare` does."""
    sides = [[side(row) for row in logs] for logs in (base, cand)]
    spreads = moderated([[logs for point in row if (logs := point.logs)] for row in sides])
    comparisons = [
        judge(a, b, statistic="median", threshold=0.0, spreads=(left, right))
        for a, b, left, right in zip(*sides, *spreads, strict=True)
    ]
    return holm([comparison.p_changed or 0.0 for comparison in comparisons])


def points(rng: Rng, m: int, rounds: int, spread: float, shared: float) -> Floats:
    common = rng.standard_normal((1, rounds))
    individual = rng.standard_normal((m, rounds))
    return np.asarray(spread * (math.sqrt(shared) * common + math.sqrt(1.0 - shared) * individual))


@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize(("left", "right"), [(0.01, 0.01), (0.69, 0.69), (0.03, 0.69)])
@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_the_same_system_twice_is_rarely_reported_as_a_change(
    rounds: int, left: float, right: float, shared: float
) -> None:
    """In at most 5 % of calls; `benchmarks/compare_power.py` shows it with thousands of them."""
    rng = np.random.default_rng(rounds)
    wrong = sum(
        bool(
            (
                p_values(
                    points(rng, 8, rounds, left, shared), points(rng, 8, rounds, right, shared)
                )
                <= 0.05
            ).any()
        )
        for _ in range(120)
    )
    assert wrong <= 13  # 5 % are 6; more than 13 have a probability of 0.3 %


def test_points_share_the_spread_that_two_or_three_runs_do_not_show() -> None:
    """A change of 30 % among runs that differ by 3 %, three rounds, ten points."""
    rng = np.random.default_rng(1)
    detected = alone = 0
    for _ in range(40):
        base, cand = (points(rng, 10, 3, 0.03, 0.0) for _ in range(2))
        cand[0] += math.log(1.3)
        detected += bool(p_values(base, cand)[0] <= 0.05)
        verdict = judge(side(base[0]), side(cand[0]), statistic="median", threshold=0.0)
        alone += bool((verdict.p_changed or 0.0) * 10 <= 0.05)
    assert detected >= 38 and alone < detected - 10


def test_a_difference_beyond_any_spread_needs_no_degrees_of_freedom() -> None:
    rng = np.random.default_rng(2)
    for rounds in (2, 3):
        base, cand = (points(rng, 1, rounds, 0.3, 0.0) for _ in range(2))
        assert p_values(base, cand + math.log(30.0))[0] < 0.01


def test_points_that_move_together_count_as_one() -> None:
    rng = np.random.default_rng(3)
    common = rng.standard_normal((1, 4))
    same = [RunLogs(row) for row in 0.1 * common + 1e-6 * rng.standard_normal((12, 4))]
    apart = [RunLogs(row) for row in 0.1 * rng.standard_normal((12, 4))]
    (together,), (free,) = moderated([same]), moderated([apart])
    assert {spread.freedom for spread in together} == {3.0}
    assert all(spread.freedom > 6.0 for spread in free)


def test_the_error_within_runs_is_the_minimum() -> None:
    rng = np.random.default_rng(4)
    floor = [RunLogs(1e-4 * rng.standard_normal(3), 0.01) for _ in range(6)]
    assert all(spread.variance >= 0.01 for spread in moderated([floor])[0])


def test_points_that_do_not_vary_keep_zero_spread() -> None:
    rng = np.random.default_rng(5)
    mixed = [RunLogs(np.zeros(3))] + [RunLogs(rng.standard_normal(3)) for _ in range(5)]
    (spreads,) = moderated([mixed])
    assert spreads[0].variance == 0.0 and all(spread.variance > 0.0 for spread in spreads[1:])
