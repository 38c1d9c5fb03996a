# SPDX-License-Identifier: Apache-2.0
"""Twelve faults of a bench: each ends with its name, and keeps what was received.

The table in docs/how-to/measure-on-a-board.md has a row for each.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import serial

from kadenz.elf import Elf
from kadenz.errors import TargetFailed, ToolMissing, UsageError
from kadenz.targets.board import usb
from tests.board.bench import (
    ONE_POINT,
    PLAN,
    Line,
    image,
    on_bench,
    reached,
    sent_and_received,
    session,
    whole,
)

pytestmark = pytest.mark.counted

Harm = Callable[[bytes, int], bytes | None]
_ENOUGH = 3000  # bytes: the first record has arrived by then, and the second is on its way


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Callable[[Harm], Line]]:
    """Makes the lines of a test, and ends them."""
    lines: list[Line] = []

    def make(harm: Harm) -> Line:
        lines.append(Line(tmp_path, harm))
        return lines[-1]

    yield make
    for open_line in lines:
        open_line.close()


def test_a_line_that_is_not_harmed_gives_a_whole_session(line: Callable[[Harm], Line]) -> None:
    board_session = session(on_bench(line(whole).reach()), PLAN)
    assert board_session.outcome.failure is None and board_session.statuses == ["ok", "ok"]


def test_unplugged_in_the_middle(line: Callable[[Harm], Line]) -> None:
    bench = line(lambda data, count: data if count < _ENOUGH else None)
    board_session = session(on_bench(bench.reach()), PLAN)
    assert f"{bench.port} is gone" in board_session.told
    assert board_session.statuses[0] == "ok" and board_session.taken() >= 200


def test_unplugged_in_a_conformance_test(line: Callable[[Harm], Line]) -> None:
    """The case that ran is named, or the last one that ended."""
    bench = line(lambda data, count: data if count < _ENOUGH else None)
    board_session = session(on_bench(bench.reach()), "conformance\nend\n")
    assert f"{bench.port} is gone" in board_session.told
    running, ended = board_session.assembler.case, board_session.assembler.conforms[-1].case
    place = (
        f"in the conformance case `{running}`"
        if running
        else f"after the conformance case `{ended}`"
    )
    assert f" {place}: " in board_session.told


def test_garbage_on_the_line(line: Callable[[Harm], Line]) -> None:
    """A disturbed byte costs its frame, which is named; the rest is measured."""

    def disturbed(data: bytes, count: int) -> bytes:
        place = _ENOUGH - count
        if not 0 <= place < len(data):
            return data
        return data[:place] + bytes([data[place] ^ 0x55, 0x81, 0xFE]) + data[place + 1 :]

    board_session = session(on_bench(line(disturbed).reach()), PLAN, silence_s=5.0)
    assert board_session.assembler.findings
    assert board_session.statuses[0] == "ok" and "ok" not in board_session.statuses[1:]


def test_a_wrong_baud_rate(line: Callable[[Harm], Line]) -> None:
    sent, arrived = bytearray(), bytearray()

    def slow(data: bytes, count: int) -> bytes:
        """A byte at this rate is many of the board's, in however many pieces they come."""
        sent.extend(data)
        every = sent_and_received(sent, sent_baud=115200, received_baud=9600) if data else arrived
        new = every[len(arrived) :]
        arrived.extend(new)
        return bytes(new)

    board_session = session(on_bench(line(slow).reach(), answer_s=60), silence_s=5.0)
    assert "baud rate" in board_session.told and board_session.taken() == 0


def test_another_board_behind_the_port(tmp_path: Path) -> None:
    """A board that runs the same image, and waits for a plan: it would answer everything."""
    other = on_bench(reached())
    other.open("")
    try:
        port = str(other._folder / "line")
        waiting = serial.Serial(port, timeout=1.0)  # QEMU takes a line without a reader for closed
        while not waiting.read(1):
            waiting.write(b"\n")
        assert other._results is not None
        other._results.close()
        with pytest.raises(TargetFailed, match="is another board's line") as caught:
            session(on_bench(replace(reached(), port=port)))
        assert "Compare port and probe" in caught.value.remedy
        waiting.close()
    finally:
        other.close()


def test_a_board_that_resets_itself(line: Callable[[Harm], Line]) -> None:
    resets = iter([True])

    def reset_once(data: bytes, count: int) -> bytes:
        if count > _ENOUGH and next(resets, False):
            bench.reset_board()
        return data

    bench = line(reset_once)
    board_session = session(on_bench(bench.reach()), PLAN)
    assert "the board restarted" in board_session.told and "power supply" in board_session.told
    assert board_session.statuses[0] == "ok" and board_session.taken() >= 200


def test_a_brown_out_loop(line: Callable[[Harm], Line]) -> None:
    """The supply breaks down as soon as the board speaks, every time."""

    def again(data: bytes, count: int) -> bytes:
        bench.reset_board()
        return data

    bench = line(again)
    # More than the line holds: the board cannot end before it is reset, however late that is.
    board_session = session(
        on_bench(bench.reach()), "itc/queue id=11 samples=2000\nend\n", silence_s=10.0
    )
    # QEMU may lose its pseudo terminal in a reset: a cable out, then.
    assert "power" in board_session.told or "is gone" in board_session.told
    # A record that had begun before the supply broke down is kept, and marked.
    assert board_session.statuses in ([], ["failed"])


def test_a_server_that_dies(line: Callable[[Harm], Line]) -> None:
    def kill(data: bytes, count: int) -> bytes:
        if count < _ENOUGH <= count + len(data):
            os.kill(int(bench.pidfile.read_text()), signal.SIGKILL)
        return data

    bench = line(kill)
    board_session = session(on_bench(bench.reach()), PLAN)
    assert "GDB stub of QEMU for Arm was ended by signal 9" in board_session.told
    assert board_session.statuses[0] == "ok" and board_session.taken() >= 200


def test_a_server_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="openocd is not installed") as caught:
        reached(server="openocd", port="/dev/null")
    assert "apt-get install openocd" in caught.value.remedy


def test_a_port_that_is_taken(line: Callable[[Harm], Line]) -> None:
    bench = line(whole)
    with (
        serial.Serial(bench.port, exclusive=True),
        pytest.raises(TargetFailed, match="another program uses it"),
    ):
        session(on_bench(bench.reach()))


def test_no_probe_and_two_equal_probes(tmp_path: Path) -> None:
    """Two equal boards never swap: without a serial number neither is taken."""
    for name, number in (("1-1", "066EFF01"), ("1-2", "066EFF02")):
        folder = tmp_path / name
        folder.mkdir()
        for file, text in (("idVendor", "0483"), ("idProduct", "374b"), ("serial", number)):
            (folder / file).write_text(f"{text}\n")
    known = ["0483:374b"]
    with pytest.raises(UsageError, match="2 probes are connected and none is named") as caught:
        usb.probe_for("", known, tmp_path)
    assert "0483:374b:066EFF01, 0483:374b:066EFF02" in caught.value.message
    for asked in ("066EFF02", "0483:374b:066EFF02"):
        assert str(usb.probe_for(asked, known, tmp_path)) == "0483:374b:066EFF02"
    with pytest.raises(TargetFailed, match="no probe 066EFF03 is connected; on USB: 0483"):
        usb.probe_for("066EFF03", known, tmp_path)
    with pytest.raises(TargetFailed, match="no probe 0483:3748:066EFF01"):
        usb.probe_for("0483:3748:066EFF01", known, tmp_path)
    assert usb.probe_for("", known, tmp_path / "none") is None


def test_the_image_cannot_be_loaded(line: Callable[[Harm], Line]) -> None:
    """A chip without memory where the image belongs."""
    way = line(whole).reach()
    command = tuple("microbit" if word == "olimex-stm32-h405" else word for word in way.command)
    with pytest.raises(TargetFailed, match="load|download|memory") as caught:
        session(on_bench(replace(way, command=command)))
    assert caught.value.message


def test_a_silent_board_is_started_once_more(line: Callable[[Harm], Line]) -> None:
    """Its first words get lost; after a reset it answers."""

    def deaf(data: bytes, count: int) -> bytes:
        return data if target._starts == 2 else b""

    target = on_bench(line(deaf).reach(), answer_s=3.0)
    board_session = session(target)
    assert board_session.outcome.failure is None and board_session.statuses == ["ok"]


def test_a_board_that_never_answers(line: Callable[[Harm], Line]) -> None:
    board_session = session(
        on_bench(line(lambda data, count: b"").reach(), answer_s=0.5), ONE_POINT
    )
    assert "no answer in 0.5 s, and none after a reset" in board_session.told
    assert (
        "kdz_console_read at 0x" in board_session.told and "It sent nothing" in board_session.told
    )


def test_memory_that_does_not_take_the_image_is_named_with_its_address(tmp_path: Path) -> None:
    """A device that QEMU has not: it takes every write and reads as zero, as a locked flash keeps
    what it has.
    """
    lost = tmp_path / "lost"
    lost.write_bytes(b"\0" * 500 + b"\xa5" * 12)
    elf = tmp_path / "image.elf"
    place = ("--set-section-flags", ".lost=alloc,load,data", "--change-section-address")
    add = ("arm-none-eabi-objcopy", "--add-section", f".lost={lost}")
    command = [*add, *place, ".lost=0x40023000"]
    subprocess.run([*command, str(image().path), str(elf)], check=True, capture_output=True)
    with pytest.raises(TargetFailed) as caught:
        session(on_bench(reached(), Elf(elf)), ONE_POINT)
    message = (
        "the target's memory is not the image's: 0x400231f4 in .lost holds 0x00 instead of 0xa5"
    )
    assert message in caught.value.message and "flash is not protected" in caught.value.remedy
    assert caught.value.exit_code == 1
