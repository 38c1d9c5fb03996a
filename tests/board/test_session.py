# SPDX-License-Identifier: Apache-2.0
"""A board behind a debug server: loaded, started, read; by each way of its results."""

from __future__ import annotations

import functools
import threading

import pytest

from kadenz.config import inventory
from kadenz.config.board_link import WAYS, Way
from kadenz.errors import UsageError
from kadenz.lab.boot import Execution, run_plan
from kadenz.targets.qemu import QemuTarget
from kadenz.wire.records import Assembler
from tests.board.bench import BOARD, ONE_POINT, PLAN, image, on_bench, reached, session
from tests.rtos.images import BOARDS
from tests.wire.test_records import Kept

pytestmark = pytest.mark.counted


@functools.cache
def emulated(board: str) -> Kept:
    tier = inventory.board(board).tier.emulated
    assert tier is not None
    kept = Kept()
    execution = Execution(QemuTarget(tier, image(board)), "emulated", PLAN, lambda: 120.0)
    outcome = run_plan(execution, Assembler(kept), threading.Event())
    assert outcome.failure is None
    return kept


@pytest.mark.parametrize(
    ("board", "way"),
    # The rings of RTT do not fit beside the suite into the HiFive1's 16 KiB.
    [(board, way) for board in BOARDS for way in WAYS if (board, way) != ("hifive1-revb", "rtt")],
)
def test_each_way_has_the_figures_of_the_emulated_tier(board: str, way: Way) -> None:
    """The same suite on the same machine, started by a debugger instead of by itself."""
    board_session = session(on_bench(reached(board, results=way), board=board), PLAN)
    assert board_session.outcome.failure is None and board_session.assembler.findings == []
    assert board_session.statuses == ["ok", "ok"] and board_session.taken() == 2200
    alone = emulated(board).lanes
    for lane, values in board_session.kept.lanes.items():
        assert sorted(values)[len(values) // 2] == sorted(alone[lane])[len(values) // 2]


def test_rtt_of_an_image_without_it_is_refused() -> None:
    with pytest.raises(UsageError, match="console is not RTT") as caught:
        session(on_bench(reached(results="rtt"), image()))
    assert "--board results=uart" in caught.value.remedy


def test_a_destroyed_ring_of_rtt_is_named() -> None:
    """A stray pointer of the image writes there."""
    target = on_bench(reached(results="rtt"))
    target.open(ONE_POINT)
    try:
        gdb = target._gdb
        assert gdb is not None
        assert target.read(10.0)
        # Where the ring is served: elsewhere the image itself would write through the stray index.
        stop = gdb.stopped(10.0)
        assert stop is not None
        (block,) = (s.address for s in image(BOARD, "rtt").symbols if s.name == "_SEGGER_RTT")
        gdb.write(block + 36, b"\xff\xff\x00\x00")  # where the ring of frames is written to
        gdb.keep(stop)
        assert target.read(1.0) is None
        assert "a ring of RTT is destroyed" in target.why_it_ended()
    finally:
        target.close()
