# SPDX-License-Identifier: Apache-2.0
"""Two sides compared by deadline misses and maxima."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.deadlines import parse_deadline
from kadenz.analysis.verdict import Verdict
from kadenz.store import Run, read_run
from tests.synthetic import HIFIVE1, LINUX, Point, manifest, write_run

Rng = np.random.Generator
PERIOD_US = 1000


def run(
    parent: Path,
    rng: Rng,
    share: float,
    late_us: float,
    target: dict[str, str] = LINUX,
    n: int = 2000,
) -> Run:
    """Cycles of 1 ms; a `share`, which varies up to a factor of 2 between runs, ends late."""
    values = rng.lognormal(4.0, 0.2, n)  # about 55 us
    run_share = min(1.0, share * np.exp(np.log(1.5) * rng.standard_normal()))
    late = rng.random(n) < run_share
    values[late] = late_us * rng.lognormal(0.0, 0.1, int(late.sum()))
    scale = 1000 if target is LINUX else 1
    point = Point(
        "cyclic/wakeup-latency",
        {"core0": (scale * values).astype(np.uint32)},
        {"period_us": PERIOD_US},
    )
    return read_run(write_run(parent, manifest(target), [point]))


def compared(sides: list[list[Run]], *deadlines: str) -> dict[str, Verdict]:
    asked = [parse_deadline(text) for text in deadlines]
    comparison = compare_sides(*sides, statistics=["median"], deadlines=asked)
    return {point.statistic: point for point in comparison.points}


def test_misses_from_one_to_sixteen_percent_are_worse_in_three_rounds(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sides = [[run(tmp_path, rng, share, 9000.0) for _ in range(3)] for share in (0.009, 0.16)]
    misses = compared(sides)["misses"]
    assert misses.outcome == "worse"
    assert misses.figures[0] == pytest.approx(0.9, rel=0.7)
    assert misses.figures[1] == pytest.approx(16.0, rel=0.7)
    assert misses.units[0].label == "% of cycles"
    assert compared(sides[::-1])["misses"].outcome == "better"


def test_maxima_are_compared_between_runs(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    sides = [[run(tmp_path, rng, 0.01, late) for _ in range(3)] for late in (200.0, 11_000.0)]
    maximum = compared(sides)["max"]
    assert maximum.outcome == "worse"
    assert maximum.figures[1] is not None and maximum.figures[1] > 11_000.0


def test_a_side_without_a_miss_against_one_with_many_is_decided(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    sides = [[run(tmp_path, rng, share, 9000.0) for _ in range(3)] for share in (0.0, 0.2)]
    misses = compared(sides)["misses"]
    assert (misses.outcome, misses.figures[0]) == ("worse", 0.0)


def test_no_miss_on_either_side_is_reported_as_equal(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    sides = [[run(tmp_path, rng, 0.0, 0.0)] for _ in range(2)]
    misses = compared(sides)["misses"]
    assert (misses.outcome, misses.reason) == ("equivalent", "no cycle missed on either side")


def test_the_deadline_of_the_command_line_applies(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    sides = [[run(tmp_path, rng, share, 300.0) for _ in range(3)] for share in (0.01, 0.3)]
    assert compared(sides)["misses"].outcome == "equivalent"  # within the period
    assert compared(sides, "200us")["misses"].outcome == "worse"


@pytest.mark.long
def test_equal_rates_are_rarely_reported_as_a_change(tmp_path: Path) -> None:
    """In two rounds whose rates differ by a factor of 1.5: at most 5 % of calls."""
    rng = np.random.default_rng(6)
    runs = [run(tmp_path, rng, 0.02, 9000.0, n=1000) for _ in range(24)]
    wrong = 0
    for _ in range(60):
        drawn = rng.permutation(24)[:4]
        sides = [[runs[i] for i in drawn[:2]], [runs[i] for i in drawn[2:]]]
        wrong += compared(sides)["misses"].outcome in ("worse", "better")
    assert wrong <= 6


def test_one_run_per_side_decides_neither_misses_nor_maxima(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    sides = [[run(tmp_path / str(i), rng, share, 9000.0)] for i, share in enumerate((0.01, 0.2))]
    points = compared(sides)
    for statistic in ("misses", "max"):
        assert (
            points[statistic].outcome == "inconclusive" and "--rounds" in points[statistic].reason
        )


def test_exact_misses_of_an_emulated_board_are_compared_directly(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    sides = [[run(tmp_path, rng, share, 9000.0, HIFIVE1)] for share in (0.0, 0.2)]
    points = compared(sides, "1000 instructions")
    assert points["misses"].outcome == "worse" and points["misses"].exact
    assert compared(sides[::-1], "1000 instructions")["misses"].outcome == "better"


def test_work_without_a_deadline_has_no_misses(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    sides = []
    for _ in range(2):
        point = Point("itc/mutex", {"all": rng.lognormal(8, 0.1, 500).astype(np.uint32)})
        sides.append([read_run(write_run(tmp_path, manifest(LINUX), [point]))])
    assert set(compared(sides)) == {"median"}
