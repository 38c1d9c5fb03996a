# SPDX-License-Identifier: Apache-2.0
"""Hartstone's breakdown from its probes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.gating import gate
from kadenz.analysis.structures.breakdown import Breakdown
from kadenz.report.families import hartstone
from kadenz.store import read_run
from tests.synthetic import LINUX, Point, manifest, write_run

WINDOW = 1_000_000


def written(folder: Path, probes: list[tuple[int, int, int]], *, name: str = "run") -> Path:
    """A run of one series. `probes`: step, misses, per cent asked."""
    step, misses, asked = (np.array(each, np.uint32) for each in zip(*probes, strict=True))
    lanes = {
        "all": asked * np.uint32(WINDOW // 100),
        "all:step": step,
        "all:misses": misses,
        "all:window": np.full(step.size, WINDOW, np.uint32),
    }
    point = Point("hartstone/ph", lanes, {"cycles": 1})
    return write_run(folder, manifest(LINUX, id=name), [point])


def probed(folder: Path, probes: list[tuple[int, int, int]]) -> Breakdown:
    result = analyse(read_run(written(folder, probes)))
    table = hartstone.breakdown_table([("A", result)])
    assert table is not None and len(table.rows) == 1
    breakdown = result.records[0].structure(Breakdown)
    assert breakdown is not None
    return breakdown


def test_the_breakdown_is_between_the_last_met_and_the_first_missed(tmp_path: Path) -> None:
    breakdown = probed(tmp_path, [(0, 0, 25), (16, 3, 125), (8, 0, 75), (12, 1, 100), (10, 0, 88)])
    assert (breakdown.kept_step, breakdown.missed_step) == (10, 12)
    assert (breakdown.baseline, breakdown.kept, breakdown.missed) == (0.25, 0.88, 1.0)
    assert breakdown.contradictions == 0


def test_without_a_miss_there_is_no_upper_end(tmp_path: Path) -> None:
    breakdown = probed(tmp_path, [(0, 0, 25), (16, 0, 90)])
    assert (breakdown.kept, breakdown.missed) == (0.9, None)


def test_a_baseline_that_misses_has_no_lower_end(tmp_path: Path) -> None:
    breakdown = probed(tmp_path, [(0, 2, 25), (0, 2, 25)])
    assert (breakdown.kept, breakdown.missed) == (None, 0.25)


@pytest.mark.parametrize("step", [12, 14])
def test_a_met_probe_above_a_miss_is_counted_not_believed(tmp_path: Path, step: int) -> None:
    breakdown = probed(tmp_path, [(0, 0, 25), (12, 1, 100), (8, 0, 75), (step, 0, 99)])
    assert (breakdown.kept_step, breakdown.missed_step, breakdown.contradictions) == (8, 12, 1)


def test_no_system_is_better_because_the_search_tried_less(tmp_path: Path) -> None:
    """A side that breaks down earlier asked for less in its later probes: not “better”."""
    late = [(0, 0, 25), (16, 3, 125), (8, 0, 75), (12, 1, 100), (10, 0, 88)]
    early = [(0, 0, 25), (16, 3, 125), (8, 1, 75), (4, 1, 50), (2, 0, 38)]
    sides = [
        [read_run(written(tmp_path, probes, name=f"{word}-{number}")) for number in range(3)]
        for word, probes in (("late", late), ("early", early))
    ]
    comparison = compare_sides(*sides)
    assert {point.outcome for point in comparison.points} == {"context"}
    ((bench, why),) = comparison.notes
    assert bench == "hartstone/ph" and "samples are what was tried" in why
    assert gate(sides[1], sides[0]).outcome == "inconclusive"
