# SPDX-License-Identifier: Apache-2.0
"""A call over the offset at which another core begins: its figures, its table and curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse
from kadenz.analysis.structures.offsets import Offsets, signed
from kadenz.config.params import Params
from kadenz.report.sections import Picture, leaves
from kadenz.report.table import Table
from kadenz.report.views import Report, offsets
from kadenz.store import read_run
from tests.synthetic import STM32F4, Point, manifest, write_run

CHOSEN = 1_000  # cycles before the begin of the call


def point(
    kind: str, offset: list[int], values: list[int], *, before: int = 10, cold: int = 0
) -> Point:
    """A record of the sweep with the given offsets, in a window to 10 behind the begin."""
    lanes = {"all": np.array(values, np.uint32)}
    if offset:
        lanes["all:begin"] = np.full(len(offset), CHOSEN, np.uint32)
        lanes["all:other-begin"] = np.array([CHOSEN + each for each in offset], np.uint32)
    params: Params = {"call": "semaphore", "other_core": kind, "before": before, "behind": 10}
    return Point("smp/offset", lanes, params, cold=cold)


def result(folder: Path, *points: Point) -> RunResult:
    return analyse(read_run(write_run(folder, manifest(STM32F4), list(points))))


def sweep_of(run: RunResult, place: int = 0) -> Offsets:
    sweep = run.records[place].structure(Offsets)
    assert sweep is not None
    return sweep


def test_the_worst_and_the_offsets_that_were_tried_are_exact(tmp_path: Path) -> None:
    values = [500, 400, 480, 480, 390, 391]
    run = result(tmp_path, point("own", [-10, -8, -7, -3, -3, 10], values))
    sweep = sweep_of(run)
    assert (sweep.tried, sweep.first, sweep.last, sweep.apart, sweep.outside) == (5, -10, 10, 13, 0)
    assert (sweep.max, sweep.worst) == (500.0, (-10,))
    assert sweep.at.tolist() == [-10, -8, -7, -3, 10]
    assert sweep.most.tolist() == [500.0, 400.0, 480.0, 480.0, 391.0]  # the most of each offset
    assert sweep.coverage == "5 offsets from −10 to 10, at most 13 apart"
    unit = run.records[0].unit
    assert sweep.row(unit)["offsets"]["worst"] == -10


def test_of_equal_ones_the_nearest_to_the_begin_of_the_call_comes_first(tmp_path: Path) -> None:
    run = result(tmp_path, point("own", [-9, -2, 4, 5], [500, 500, 499, 500]))
    sweep = sweep_of(run)
    assert sweep.worst == (-2, 5, -9)
    assert sweep.status(str) == "worst at offset −2 and 2 others"


def test_a_begin_outside_of_the_window_is_counted_and_not_drawn(tmp_path: Path) -> None:
    run = result(tmp_path, point("own", [-700, -5, 0, 5], [900, 400, 410, 400]))
    sweep = sweep_of(run)
    assert (sweep.outside, sweep.first) == (1, -5)
    assert sweep.max == 900.0  # it is no less true
    assert "1 sample beside the window" in sweep.coverage


def test_cold_samples_are_left_out(tmp_path: Path) -> None:
    run = result(tmp_path, point("own", [-10, -5, 0], [900, 400, 410], cold=1))
    sweep = sweep_of(run)
    assert (sweep.first, sweep.max) == (-5, 410.0)


@pytest.mark.parametrize("kind", ["all:begin", "all:other-begin"])
def test_a_record_without_both_companions_is_an_ordinary_one(tmp_path: Path, kind: str) -> None:
    plain = point("own", [-1, 0], [400, 410])
    del plain.lanes[kind]
    assert result(tmp_path, plain).records[0].structure(Offsets) is None


def test_the_report_has_a_row_for_each_kind_and_one_picture_for_each_call(tmp_path: Path) -> None:
    run = result(
        tmp_path,
        point("none", [], [390, 391, 390]),
        point("loop", [-10, 0, 10], [470, 475, 391]),
        point("own", [-10, 0, 10], [470, 780, 391]),
    )
    (section,) = offsets.sections(Report([("here", run)]))
    blocks = list(leaves(section.blocks))
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert [[cell.text for cell in row[2:8]] for row in table.rows] == [
        ["none", "390", "390", "391", "instructions", "–"],
        ["loop", "391", "470", "475", "instructions", "0"],
        ["own", "391", "470", "780", "instructions", "0"],
    ]
    assert "Exhaustive only over these offsets" in table.notes[0]
    (picture,) = (block for block in blocks if isinstance(block, Picture))
    assert "own: at most 780 instructions, at offset 0" in picture.wide.description
    assert "none: at most 391 instructions" in picture.wide.description


def test_without_a_sweep_there_is_no_section(tmp_path: Path) -> None:
    run = result(tmp_path, point("none", [], [390, 391]))
    assert list(offsets.sections(Report([("here", run)]))) == []


def test_an_offset_below_zero_has_a_minus_sign() -> None:
    assert [signed(offset) for offset in (-1_200, 0, 35)] == ["−1,200", "0", "35"]
