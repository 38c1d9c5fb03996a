# SPDX-License-Identifier: Apache-2.0
"""Runs of a machine differ: the conclusions from one run per side, and from several."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kadenz.analysis.comparing import compare_sides
from kadenz.cli.compare import exit_code
from kadenz.config.manifest import Distribution
from kadenz.store import Run, read_run
from tests.synthetic import (
    HIFIVE1,
    LINUX,
    Point,
    manifest,
    under,
    write_run,
)

Rng = np.random.Generator
STEP = Distribution(n=1000, min=1000.0, median=1000.0, max=1000.0)  # of a coarse clock


def run(
    parent: Path, rng: Rng, levels: dict[str, float], spread: float, *, step: int = 1, n: int = 500
) -> Run:
    """A run whose figures each differ by a random factor; latencies in ns."""
    points = []
    for bench, level in levels.items():
        run_level = level * np.exp(spread * rng.standard_normal())
        values = run_level * rng.lognormal(0.0, 0.1, n)
        points.append(Point(bench, {"all": (step * np.round(values / step)).astype(np.uint32)}))
    return read_run(write_run(parent, manifest(LINUX), points))


def sides(
    tmp_path: Path, seed: int, count: int, levels: list[dict[str, float]], spread: float
) -> list[list[Run]]:
    rng = np.random.default_rng(seed)
    return [[run(tmp_path, rng, level, spread) for _ in range(count)] for level in levels]


@pytest.mark.long
def test_no_pair_of_single_runs_is_a_regression(tmp_path: Path) -> None:
    """153 pairs of 18 runs that differ by 3 %: each pair is undecided, with the remedy."""
    rng = np.random.default_rng(1)
    runs = [run(tmp_path / str(i), rng, {"itc/mutex": 3000}, 0.03, n=5000) for i in range(18)]
    codes: Counter[int] = Counter()
    for left, right in combinations(runs, 2):
        comparison = compare_sides([left], [right], statistics=["median"])
        codes[exit_code(comparison)] += 1
        assert "--rounds 3" in comparison.points[0].reason
    assert codes == {4: 153}


@pytest.mark.parametrize(
    ("tier", "clock_class"),
    [(tier, kind) for tier in ("host", "board") for kind in ("hosted", "hardware")],
)
def test_single_runs_decide_on_no_target_whose_runs_differ(
    tier: Any, clock_class: Any, tmp_path: Path
) -> None:
    """A board may start in one of two modes: 40 or 85 us, with identical code."""
    runs = []
    for name, ns in (("a", 40_000), ("b", 85_000)):
        document = manifest(LINUX)
        document.target.tier, document.clock.clock_class = tier, clock_class
        point = Point("itc/queue", {"all": np.full(300, ns, dtype=np.uint32)})
        runs.append(read_run(write_run(tmp_path / name, document, [point])))
    compared = compare_sides([runs[0]], [runs[1]], statistics=["median"])
    (judged,) = compared.points
    assert judged.outcome == "inconclusive" and "--rounds 3" in judged.reason
    assert exit_code(compared) == 4


def test_single_runs_decide_when_the_spread_is_given(tmp_path: Path) -> None:
    pair = sides(tmp_path, 2, 1, [{"itc/mutex": 3000}, {"itc/mutex": 4500}], 0.03)
    (point,) = compare_sides(*pair, statistics=["median"], between_runs=0.03).points
    assert point.outcome == "worse"


def test_other_runs_of_the_same_system_show_the_spread(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        run(tmp_path, rng, {"itc/mutex": 3000}, 0.03)
    damaged = write_run(tmp_path, manifest(LINUX), [])
    (damaged / "run.json").write_text("{")
    base = run(tmp_path, rng, {"itc/mutex": 3000}, 0.03)
    slow, same = (run(tmp_path / "b", rng, {"itc/mutex": c}, 0.0) for c in (4500, 3100))
    (point,) = compare_sides([base], [slow], statistics=["median"]).points
    assert point.outcome == "worse" and point.comparison is not None
    assert point.comparison.between_runs == pytest.approx(0.03, rel=0.8)
    (point,) = compare_sides([base], [same], statistics=["median"]).points
    assert point.outcome == "inconclusive" and "--rounds" not in point.reason


def test_runs_of_other_systems_do_not_show_the_spread(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for number in range(4):
        document = manifest(LINUX)
        document.conditions = under(load="disk" if number % 2 else "none")
        document.host.kernel = document.host.kernel if number % 2 else "another"
        values = rng.lognormal(8.0, 0.1, 500).astype(np.uint32)
        write_run(tmp_path, document, [Point("itc/mutex", {"all": values})])
    pair = [[run(tmp_path, rng, {"itc/mutex": 3000}, 0.03)] for _ in range(2)]
    (point,) = compare_sides(*pair, statistics=["median"]).points
    assert point.outcome == "inconclusive" and "--rounds 3" in point.reason


def test_a_large_change_is_decided_in_three_rounds(tmp_path: Path) -> None:
    """p99 of 651 against 10,995 us and 290 against 11,676; runs differ up to a factor of 2."""
    levels = [{"cyclic/a": 651e3, "cyclic/b": 290e3}, {"cyclic/a": 10_995e3, "cyclic/b": 11_676e3}]
    others = {f"itc/p{i}": 3000.0 for i in range(8)}
    decided = 0
    for seed in range(5):
        pair = sides(tmp_path, seed, 3, [level | others for level in levels], np.log(1.6))
        comparison = compare_sides(*pair, statistics=[0.99])
        decided += sum(p.outcome == "worse" for p in comparison.points if p.bench < "d")
    assert decided == 10


@pytest.mark.parametrize(("left", "right"), [(3.5, 3.85), (3.05, 3.4)])
def test_a_change_below_the_clocks_step_is_found_by_the_mean(
    tmp_path: Path, left: float, right: float
) -> None:
    """A 1 us clock reads 3 or 4: medians agree, but 10 % is not "no difference"."""
    rng = np.random.default_rng(5)

    def coarse(level: float) -> Run:
        values = 1000 * np.floor(level + rng.random(20_000))
        points = [Point("itc/mutex", {"all": values.astype(np.uint32)})]
        document = manifest(LINUX)
        document.clock.resolution = STEP
        return read_run(write_run(tmp_path, document, points))

    pair = [[coarse(level) for _ in range(3)] for level in (left, right)]
    comparison = compare_sides(*pair, statistics=["median", 0.99])
    mean, p99 = comparison.points
    assert (mean.statistic, mean.outcome) == ("mean", "worse")
    for figure, level in zip(mean.figures, (left, right), strict=True):
        assert figure == pytest.approx(level, rel=0.01)
    assert p99.outcome == "inconclusive" and "the clock's step" in p99.reason


def test_equal_readings_of_a_coarse_clock_do_not_prove_equality(tmp_path: Path) -> None:
    def steady() -> Run:
        document = manifest(LINUX)
        document.clock.resolution = STEP
        values = np.full(2000, 3000, np.uint32)
        return read_run(write_run(tmp_path, document, [Point("itc/mutex", {"all": values})]))

    pair = [[steady() for _ in range(3)] for _ in range(2)]
    (point,) = compare_sides(*pair, statistics=["median"]).points
    assert point.outcome == "inconclusive" and "the clock's step" in point.reason


def test_counted_instructions_have_no_step(tmp_path: Path) -> None:
    pair = [
        [read_run(write_run(tmp_path, manifest(HIFIVE1), [Point("a/b", {"all": values})]))]
        for values in (np.full(100, 3, np.uint32), np.full(100, 4, np.uint32))
    ]
    assert [p.outcome for p in compare_sides(*pair, statistics=["median"]).points] == ["worse"]
