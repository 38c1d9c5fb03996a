# SPDX-License-Identifier: Apache-2.0
"""Any end of a target: it is closed, its output is kept, and the end is named."""

from __future__ import annotations

import os
import threading
import time
import tty
from pathlib import Path

import msgspec
import pytest

from kadenz.config.board import BoardTier
from kadenz.config.board_link import BoardLink
from kadenz.elf import Elf
from kadenz.errors import TargetFailed
from kadenz.lab.boot import Execution, Outcome, run_plan
from kadenz.targets.board.reach import reach
from kadenz.targets.board.target import BoardTarget
from kadenz.targets.seen import Seen
from kadenz.wire.messages import WIRE_VERSION, AnyMessage, Done, Fault, Text
from kadenz.wire.records import Assembler
from tests.lab.fake import Scripted
from tests.wire.encoder import encode_message
from tests.wire.streams import begin, end, hello, on_the_line, samples
from tests.wire.test_records import Kept

RECORD: list[AnyMessage] = [hello(), begin(), samples([1, 2, 3, 4, 5, 6]), end()]
WHOLE: list[AnyMessage] = [*RECORD, Done(records=1, frames=5)]


def boot(
    target: Scripted, *, silence_s: float = 0.05, stopped: bool = False
) -> tuple[Outcome, Assembler, Kept]:
    kept = Kept()
    assembler = Assembler(kept)
    stop = threading.Event()
    if stopped:
        stop.set()
    symbols = {0x1234: "vListInsert+0x12"}
    execution = Execution(
        target, "t", "end\n", lambda: silence_s, lambda address: symbols.get(address, "")
    )
    outcome = run_plan(execution, assembler, stop)
    assert target.closed == 1
    return outcome, assembler, kept


def failure(outcome: Outcome) -> TargetFailed:
    assert outcome.failure is not None
    return outcome.failure


def test_a_good_run_ends_with_done() -> None:
    target = Scripted([on_the_line(WHOLE), None])
    outcome, assembler, kept = boot(target)
    assert outcome == Outcome(None, False, "")
    assert kept.verdicts[10].status == "ok" and assembler.findings == []
    assert target.plan == "end\n"


def test_a_target_with_another_wire_version_is_refused_with_both_versions() -> None:
    """On every tier: an image, a board on a serial line, a fieldbus program."""
    foreign = msgspec.structs.replace(hello(), wire=WIRE_VERSION + 1)
    target = Scripted([on_the_line([foreign, *WHOLE[1:]]), None])
    outcome, _, kept = boot(target)
    told = failure(outcome)
    assert f"speaks wire version {WIRE_VERSION + 1}, this kadenz" in told.message
    assert f"this kadenz reads {WIRE_VERSION}" in told.message
    assert "Build and flash its image with this kadenz" in told.remedy
    assert kept.verdicts == {} and kept.lanes == {}


def test_a_board_with_another_wire_version_is_refused_on_its_serial_line(tmp_path: Path) -> None:
    line, end = os.openpty()
    tty.setraw(line)

    def answer() -> None:
        time.sleep(0.2)  # until somebody resets it by hand
        os.write(
            line, on_the_line([msgspec.structs.replace(hello(), wire=WIRE_VERSION + 1), *WHOLE[1:]])
        )

    board = threading.Thread(target=answer)
    board.start()
    tier = BoardTier(verified=False)
    try:
        execution = Execution(
            BoardTarget(
                reach("board", tier, BoardLink(port=os.ttyname(end))), tier, Elf(tmp_path / "x.elf")
            ),
            "kernel/board@board",
            "end\n",
            lambda: 10.0,
        )
        outcome = run_plan(execution, Assembler(Kept()), threading.Event())
    finally:
        board.join()
        os.close(end)
        os.close(line)
    assert "kernel/board@board cannot be read: " in failure(outcome).message
    spoken = f"wire version {WIRE_VERSION + 1}, this kadenz reads {WIRE_VERSION}"
    assert spoken in failure(outcome).message


def test_silence_is_a_hang_with_a_post_mortem_and_the_last_output() -> None:
    talk = on_the_line([hello(), Text("half way"), begin(), samples([1, 2])])
    outcome, _, kept = boot(Scripted([talk, None]))
    told = failure(outcome)
    assert "t hangs in record 10, itc/queue: silent for" in told.message
    assert told.detail == "pc is in spin+0x4\nhalf way"
    assert "--timeout" in told.remedy
    assert kept.lanes[10, 0] == [1, 2]
    assert kept.verdicts[10].status == "failed"


@pytest.mark.parametrize(
    ("moves", "says", "remedy"),
    [
        (True, "t runs in record 10, itc/queue, but is silent for", "Otherwise it loops there"),
        (False, "t hangs in record 10, itc/queue: silent for", "It stays at one place"),
    ],
)
def test_silence_of_a_processor_that_moves_is_no_hang(moves: bool, says: str, remedy: str) -> None:
    target = Scripted([on_the_line([hello(), begin()]), None])
    target.seen = Seen("registers", moves, "in spin (7 of 10 looks)")
    told = failure(boot(target)[0])
    assert told.message.startswith(says) and told.message.endswith(" s, in spin (7 of 10 looks)")
    assert remedy in told.remedy and "--timeout" in told.remedy


def test_silence_from_the_start_is_reported_as_such() -> None:
    outcome, _, _ = boot(Scripted([None]))
    assert "before its first message" in failure(outcome).message


def test_an_end_without_done_is_a_crash_with_the_emulators_output() -> None:
    outcome, assembler, kept = boot(Scripted([on_the_line(RECORD[:3])], said="qemu: fatal"))
    assert "ended in record 10, itc/queue before it was done" in failure(outcome).message
    assert "qemu: fatal" in failure(outcome).detail
    assert kept.lanes[10, 0] == [1, 2, 3, 4, 5, 6]
    assert assembler.findings == []


def test_a_stream_cut_inside_a_frame_is_also_a_finding() -> None:
    _, assembler, _ = boot(Scripted([on_the_line(RECORD)[:-2]]))
    assert [finding.kind for finding in assembler.findings] == ["truncated"]


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("assert", "its place"),
        ("stack-overflow", "stack_bytes"),
        ("out-of-memory", "memory"),
        ("exception", "addr2line"),
        ("denied", "--allow NAME"),
    ],
)
def test_a_fault_is_reported_with_registers_thread_and_remedy(kind: str, hint: str) -> None:
    fault = Fault(kind=kind, message="why", thread="A", registers={"pc": 0x1234, "sp": 0xFFFFFFFF})
    outcome, _, _ = boot(Scripted([on_the_line([*RECORD[:2], fault]), None]))
    told = failure(outcome)
    assert f"t died in record 10, itc/queue: {kind} in thread A: why" in told.message
    assert "pc 00001234  sp ffffffff\npc is in vListInsert+0x12" in told.detail
    assert "sp is in" not in told.detail
    assert hint in told.remedy


def test_messages_after_a_fault_are_still_read() -> None:
    fault = on_the_line([hello(), Fault(kind="assert", message="", thread="", registers={})])
    outcome, _, _ = boot(Scripted([fault, encode_message(Text("and so it goes"), 2)]))
    assert "and so it goes" in failure(outcome).detail


def test_a_target_that_restarts_is_stopped() -> None:
    outcome, _, kept = boot(Scripted([on_the_line(RECORD[:3]), on_the_line(WHOLE)]))
    assert "restarted" in failure(outcome).message
    assert kept.verdicts[10].status != "ok"


def test_stop_ends_a_target_and_is_not_a_failure() -> None:
    target = Scripted([on_the_line(RECORD[:3]), None])
    outcome, assembler, kept = boot(target, silence_s=60, stopped=True)
    assert (outcome.failure, outcome.stopped, target.asked_to_stop) == (None, True, True)
    assert kept.lanes[10, 0] == [1, 2, 3, 4, 5, 6]
    assert kept.verdicts[10].reason == "stopped (Ctrl-C)"
    assert assembler.findings == []


def test_a_target_that_cannot_be_opened_is_closed() -> None:
    class Broken(Scripted):
        def open(self, plan: str) -> None:
            raise TargetFailed("no such port")

    target = Broken([])
    with pytest.raises(TargetFailed, match="no such port"):
        boot(target)
    assert target.closed == 1
