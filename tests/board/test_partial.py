# SPDX-License-Identifier: Apache-2.0
"""A board that is lost in the middle of a run: what was measured stays, and the run says so."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest

from kadenz.config.target_name import TargetName
from kadenz.lab.measure import measure
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.store import read_run
from kadenz.targets.board.target import BoardTarget
from tests.board.bench import Line, on_bench
from tests.lab.test_measure import job

pytestmark = pytest.mark.counted


def test_a_board_that_resets_itself_is_started_again_for_the_remaining_points(
    tmp_path: Path,
) -> None:
    lines: list[Line] = []
    resets = iter([True])

    def reset_once(data: bytes, count: int) -> bytes:
        if count > 3000 and next(resets, False):
            lines[-1].reset_board()
        return data

    def make() -> BoardTarget:
        """On a line of its own: QEMU's ends with it."""
        folder = tmp_path / f"start-{len(lines)}"
        folder.mkdir()
        lines.append(Line(folder, reset_once))
        return on_bench(lines[-1].reach())

    wanted = dataclasses.replace(
        job(tmp_path, []),
        name=TargetName("freertos", "stm32f4", "board"),
        points=[Point(10 + n, "itc/semaphore-binary", 300) for n in range(8)],
        make=make,
        timeout_s=120.0,
    )
    try:
        result = measure(wanted, tmp_path / "runs", Progress(), threading.Event())
    finally:
        for line in lines:
            line.close()
    document = read_run(result.folder).manifest
    assert "board restarted" in str(result.failures)
    assert [record.id for record in document.records] == [*range(10, 18)]
    statuses = [record.status for record in document.records]
    assert statuses.count("failed") <= 1 and statuses[-1] == "ok" and not document.partial


def test_a_run_whose_board_is_unplugged_keeps_its_records_and_is_partial(tmp_path: Path) -> None:
    line = Line(tmp_path, lambda data, count: data if count < 6000 else None)
    way = line.reach()
    wanted = dataclasses.replace(
        job(tmp_path, []),
        name=TargetName("freertos", "stm32f4", "board"),
        points=[Point(10 + n, "itc/semaphore-binary", 300) for n in range(8)],
        make=lambda: on_bench(way),
        timeout_s=120.0,
    )
    try:
        result = measure(wanted, tmp_path / "runs", Progress(), threading.Event())
    finally:
        line.close()
    run = read_run(result.folder)
    document = run.manifest
    assert document.partial and "could not open port" in document.partial_reason
    assert "is gone" in str(result.failures)
    whole = [record for record in document.records if record.status == "ok"]
    assert len(whole) >= 2 and all(record.lanes[0].taken == 300 for record in whole)
    assert document.records[len(whole)].status == "failed"
    assert document.target.settings["debug_server"] == "OpenOCD"  # the board's own
