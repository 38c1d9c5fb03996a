# SPDX-License-Identifier: Apache-2.0
"""Samples with a tick of the kernel are told apart from first ones and from all others."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kadenz.analysis import analyse
from kadenz.analysis.structures.tick_split import TickSplit
from kadenz.report.families import perf
from kadenz.store import read_run
from tests.synthetic import STM32F4, Point, manifest, write_run


def test_first_ticked_and_other_samples_are_three_parts(tmp_path: Path) -> None:
    values = np.array([900, 160, 161, 260, 162, 160], np.uint32)
    ticks = np.array([1, 0, 0, 1, 0, 0], np.uint32)
    point = Point("perf/wake", {"all": values, "all:ticks": ticks}, cold=1)
    result = analyse(read_run(write_run(tmp_path, manifest(STM32F4), [point])))
    split = result.records[0].structure(TickSplit)
    assert split is not None
    assert split.cold is not None and (split.cold.n, split.cold.max) == (1, 900)
    assert split.ticked is not None and (split.ticked.n, split.ticked.max) == (1, 260)
    assert split.plain is not None and (split.plain.n, split.plain.max) == (4, 162)
    table = perf.tick_table([("A", result)])
    assert table is not None
    (row,) = table.rows
    assert [cell.text for cell in row[2:7]] == ["1", "900", "1", "260", "4"]


def test_without_the_companion_nothing_is_told_apart(tmp_path: Path) -> None:
    point = Point("perf/wake", {"all": np.array([1, 2, 3], np.uint32)})
    result = analyse(read_run(write_run(tmp_path, manifest(STM32F4), [point])))
    assert result.records[0].structure(TickSplit) is None
    assert perf.tick_table([("A", result)]) is None
