# SPDX-License-Identifier: Apache-2.0
"""A board on a bench without silicon: QEMU behind its GDB stub, and a serial line to harm."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
import tty
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board_link import BoardLink
from kadenz.elf import Elf
from kadenz.lab.boot import Execution, Outcome, run_plan
from kadenz.targets.board.reach import Reach, reach
from kadenz.targets.board.target import BoardTarget
from kadenz.wire.records import Assembler
from tests.rtos import images
from tests.wire.test_records import Kept

POINT = "itc/semaphore-binary id=10 samples=200\n"
PLAN = f"{POINT}itc/queue id=11 samples=2000\nend\n"
ONE_POINT = f"{POINT}end\n"
BOARD = "stm32f4"


def image(board: str = BOARD, way: str = "uart") -> Elf:
    """The stock image of FreeRTOS, as the tests of emulated boards use it; or another console."""
    if way == "uart":
        return Elf(images.build(board) / "kadenz-suite.elf")
    options = (("KDZ_CONSOLE", way),)
    return Elf(images.build(board, way, options=options) / "kadenz-suite.elf")


def reached(board: str = BOARD, **link: object) -> Reach:
    """How the board in QEMU is reached, with changes to the link."""
    tier = inventory.board(board).tier.board
    assert tier is not None
    server = "qemu-arm" if board == BOARD else "qemu-riscv32"
    return reach(board, tier, BoardLink(**{"server": server, **link}))  # type: ignore[arg-type]


def on_bench(
    way: Reach, elf: Elf | None = None, *, board: str = BOARD, answer_s: float = 5.0
) -> BoardTarget:
    """The target of a session; `answer_s` as in board.toml."""
    from msgspec.structs import replace as changed

    tier = inventory.board(board).tier.board
    assert tier is not None
    return BoardTarget(way, changed(tier, answer_s=answer_s), elf or image(board, way.way))


@dataclass
class Session:
    """Result of one plan."""

    outcome: Outcome
    assembler: Assembler
    kept: Kept

    @property
    def told(self) -> str:
        """The failure in words: message, remedy and detail."""
        failure = self.outcome.failure
        assert failure is not None
        return f"{failure.message}\n{failure.remedy}\n{failure.detail}"

    @property
    def statuses(self) -> list[str]:
        """Of the records, in order."""
        return [verdict.status for verdict in self.kept.verdicts.values()]

    def taken(self) -> int:
        """Samples that arrived, of all records."""
        return sum(len(values) for values in self.kept.lanes.values())


def session(target: BoardTarget, plan: str = ONE_POINT, *, silence_s: float = 120.0) -> Session:
    """Runs a plan as the lab does."""
    kept = Kept()
    assembler = Assembler(kept)
    execution = Execution(target, "the board", plan, lambda: silence_s)
    outcome = run_plan(execution, assembler, threading.Event())
    return Session(outcome, assembler, kept)


_PROMPT = b"(qemu) "  # of QEMU's monitor


class Line:
    """A serial line between QEMU and kadenz that a test can harm.

    `harm(data, count)` gets the bytes of the board and their number before these; it returns what
    arrives at kadenz, or None if the line is unplugged.
    """

    def __init__(self, folder: Path, harm: Callable[[bytes, int], bytes | None]) -> None:
        self.board = folder / "board-line"
        self.monitor = folder / "monitor"
        self.pidfile = folder / "pid"
        self._harm = harm
        self._near, far = os.openpty()
        tty.setraw(far)
        self.port = os.ttyname(far)
        self._far = far  # open until `close`, so that no other terminal gets the port's name
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._relay, daemon=True)
        self._thread.start()

    def reach(self, board: str = BOARD) -> Reach:
        """The board in QEMU, with this line at its UART."""
        undisturbed = reached(board)
        harmed = [
            f"pty,id=line,path={self.board}" if "pty," in word else word
            for word in undisturbed.command
        ]
        place = harmed.index("-monitor")
        harmed[place + 1] = f"unix:{self.monitor},server=on,wait=off"
        return replace(
            undisturbed, port=self.port, command=(*harmed, "-pidfile", str(self.pidfile))
        )

    def reset_board(self) -> None:
        """As if its supply broke down; returns when QEMU has done it, or has ended."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.monitor))
            # A reset is done behind its command. The next one is taken behind the reset.
            for command in (b"", b"system_reset\n", b"info status\n"):
                monitor.sendall(command)
                answer = b""
                while not answer.endswith(_PROMPT) and (more := monitor.recv(1000)):
                    answer += more

    def close(self) -> None:
        """Ends the line."""
        self._over.set()
        self._thread.join()
        os.close(self._far)

    def _relay(self) -> None:
        board: int | None = None
        count = 0
        try:
            while not self._over.is_set():
                if board is None:
                    board = self._connected()
                    continue
                ready, _, _ = select.select([board, self._near], [], [], 0.05)
                if self._near in ready:
                    os.write(board, os.read(self._near, 1000))
                if board in ready:
                    data = os.read(board, 1000)
                    arrives = self._harm(data, count)
                    count += len(data)
                    if arrives is None:
                        return
                    os.write(self._near, arrives)
        except OSError:
            return  # QEMU has ended
        finally:
            if board is not None:
                os.close(board)
            os.close(self._near)

    def _connected(self) -> int | None:
        try:
            line = os.open(self.board, os.O_RDWR | os.O_NOCTTY)
        except OSError:
            time.sleep(0.01)
            return None
        tty.setraw(line)
        return line


def whole(data: bytes, count: int) -> bytes:
    """A line without harm."""
    return data


def sent_and_received(data: bytes, *, sent_baud: int, received_baud: int) -> bytes:
    """Bytes as a receiver at another rate reads them: 8 bits, no parity, 1 stop bit.

    It samples each bit in its middle, from the falling edge of the start bit on; a byte whose stop
    bit is 0 is a framing error, and arrives all the same.
    """
    bits: list[int] = [1, 1]
    for byte in data:
        bits += [0, *((byte >> place) & 1 for place in range(8)), 1]
    bits += [1] * 20
    ratio = sent_baud / received_baud
    arrived, at = bytearray(), 0.0
    while int(at) < len(bits) - 12 * max(1.0, ratio):
        if bits[int(at)]:
            at += 0.25
            continue
        value = 0
        for place in range(8):
            value |= bits[int(at + (1.5 + place) * ratio)] << place
        arrived.append(value)
        at += 9.5 * ratio
    return bytes(arrived)
