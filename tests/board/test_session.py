# SPDX-License-Identifier: Apache-2.0
"""A board behind a debug server: loaded, started, read; by each way of its results."""

from __future__ import annotations

import threading

import pytest

from kadenz.config import inventory
from kadenz.lab.boot import Execution, run_plan
from kadenz.targets.qemu import QemuTarget
from kadenz.wire.records import Assembler
from tests.board.bench import PLAN, image, on_bench, reached, session
from tests.rtos.images import BOARDS
from tests.wire.test_records import Kept


def emulated(board: str) -> Kept:
    tier = inventory.board(board).tier.emulated
    assert tier is not None
    kept = Kept()
    execution = Execution(QemuTarget(tier, image(board)), "emulated", PLAN, lambda: 20.0)
    outcome = run_plan(execution, Assembler(kept), threading.Event())
    assert outcome.failure is None
    return kept


@pytest.mark.parametrize("board", BOARDS)
def test_a_session_by_uart_has_the_figures_of_the_emulated_tier(board: str) -> None:
    """The same image on the same machine, started by a debugger instead of by itself."""
    made = session(on_bench(reached(board), board=board), PLAN)
    assert made.outcome.failure is None and made.assembler.findings == []
    assert made.statuses == ["ok", "ok"] and made.taken() == 2200
    alone = emulated(board).lanes
    for lane, values in made.kept.lanes.items():
        assert sorted(values)[len(values) // 2] == sorted(alone[lane])[len(values) // 2]
