# SPDX-License-Identifier: Apache-2.0
"""The one client of all debug servers: GDB in its machine interface.

GDB knows the remote protocol, flash programming by the server's memory map, and every architecture
of `gdb-multiarch`. The target runs asynchronously, so that a command can be sent while it runs.
"""

from __future__ import annotations

import contextlib
import re
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pygdbmi.IoManager import IoManager

from kadenz.elf import Elf
from kadenz.errors import TargetFailed
from kadenz.targets.base import die_with_parent

PROGRAM = "gdb-multiarch"
_ANSWER_S = 10.0  # of a command that touches no flash
_LOAD_S = 120.0  # of programming a flash
_EXIT_S = 2.0
_LAST_LINES = 60  # last lines of GDB and server that an error shows
_UNMATCHED = re.compile(r"Section (\S+), range (0x\w+) -- (0x\w+): MIS-MATCHED")
_BLOCK = 256  # bytes read at a time to find a difference


@dataclass(frozen=True)
class Stop:
    """Why and where the target stopped."""

    reason: str  # "breakpoint-hit", "signal-received", "exited" …
    signal: str = ""
    function: str = ""
    address: int = 0

    def __str__(self) -> str:
        where = f" in {self.function}" if self.function else f" at {self.address:#x}"
        return f"{self.signal or self.reason}{where}"


class Piece(NamedTuple):
    """A section as it is loaded: `end` is behind its last byte."""

    name: str
    start: int
    end: int


class Refused(TargetFailed):
    """GDB or the server refused a command; the message has their words."""


class Gdb:
    """A GDB connected to one server."""

    def __init__(self, program: Path, elf: Elf) -> None:
        self._elf = elf
        command = [str(program), "--nx", "--quiet", "--interpreter=mi3"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,  # the lab handles Ctrl-C
            preexec_fn=die_with_parent(),  # noqa: PLW1509 (one system call, loaded before)
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._output = self._process.stdout
        self._io = IoManager(self._process.stdin, self._process.stdout, None)
        self._token = 0
        self._stops: list[Stop] = []
        self._lines: list[str] = []
        for setting in (
            "mi-async on",
            "confirm off",
            "pagination off",
            "remotetimeout 5",
            "breakpoint pending off",
            "auto-load no",
        ):
            self.command(f"-gdb-set {setting}")
        self.command(f"-file-exec-and-symbols {_quoted(str(elf.path))}")

    # ---- the session -----------------------------------------------------------------------------
    def connect(self, address: str) -> None:
        """Connects to the server at "HOST:PORT". The target is halted afterwards."""
        self.command(f"-target-select extended-remote {address}")
        self._stops.clear()

    def monitor(self, command: str) -> None:
        """A command of the server's own. Registers are read anew afterwards."""
        self.console(f"monitor {command}")
        self.console("maintenance flush register-cache")

    def load(self) -> None:
        """Writes the image to the target's memory or flash, unless all of it is there already."""
        if not self.unmatched():
            return
        self.command("-target-download", _LOAD_S)
        wrong = self.unmatched()
        if wrong:
            difference = self._difference(wrong[0])
            raise Refused(
                f"after loading, the target's memory is not the image's: {difference}",
                remedy="Check the chip's name for this server, and that its flash is not protected",
                detail=self.last_lines(),
            )

    def unmatched(self) -> list[Piece]:
        """Sections of the image that the target's memory does not hold."""
        sections = _UNMATCHED.findall(self.console("compare-sections", _LOAD_S))
        return [Piece(name, int(start, 16), int(end, 16)) for name, start, end in sections]

    def _difference(self, piece: Piece) -> str:
        """Where a section differs first."""
        wanted = self._elf.contents(piece.name)
        for at in range(0, len(wanted), _BLOCK):
            block = wanted[at : at + _BLOCK]
            held = self.read(piece.start + at, len(block))
            for offset, (want, have) in enumerate(zip(block, held, strict=True)):
                if want != have:
                    place = f"{piece.start + at + offset:#010x} in {piece.name}"
                    return f"{place} holds {have:#04x} instead of {want:#04x}"
        return f"{piece.name} from {piece.start:#010x} to {piece.end:#010x}"

    def resume(self) -> None:
        """Lets the target run."""
        self._stops.clear()
        self.command("-exec-continue")

    def halt(self, timeout_s: float = _ANSWER_S) -> Stop:
        """Stops the target. Refused if it does not stop in time."""
        self.command("-exec-interrupt")
        stop = self.stopped(timeout_s)
        if stop is None:
            raise Refused("the target does not stop", remedy="Reset it", detail=self.last_lines())
        return stop

    def stopped(self, timeout_s: float) -> Stop | None:
        """The next stop of the running target; None if it still runs after this time."""
        end = time.monotonic() + timeout_s
        while not self._stops:
            left = end - time.monotonic()
            if left < 0 and timeout_s:
                return None
            self._listen(max(left, 0.0))
            if not timeout_s:
                break
        return self._stops.pop(0) if self._stops else None

    def keep(self, stop: Stop) -> None:
        """Gives a stop back: the next `stopped` returns it."""
        self._stops.insert(0, stop)

    def close(self) -> None:
        """Ends GDB; the target is left as it is."""
        with contextlib.suppress(OSError, TargetFailed):
            self._send("-gdb-exit")
        try:
            self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    # ---- memory and registers, of a halted target ------------------------------------------------
    def read(self, address: int, count: int) -> bytes:
        """`count` bytes of the target's memory."""
        if not count:
            return b""
        answer = self.command(f"-data-read-memory-bytes {address:#x} {count}")
        return b"".join(bytes.fromhex(part["contents"]) for part in answer["memory"])

    def write(self, address: int, data: bytes) -> None:
        """Writes to the target's memory."""
        if data:
            self.command(f"-data-write-memory-bytes {address:#x} {data.hex()}")

    def break_at(self, address: int) -> None:
        """A breakpoint in hardware, because code may be in flash."""
        self.command(f"-break-insert -h *{address:#x}")

    def set_register(self, name: str, value: int) -> None:
        """Writes a register of the core."""
        self.console(f"set ${name} = {value:#x}")

    def backtrace(self) -> list[str]:
        """Where a halted target is, the innermost function first."""
        answer = self.command("-stack-list-frames 0 7")
        return [
            f"{frame.get('func', '??')} at {frame['addr']}"
            for frame in answer["stack"]
            if isinstance(frame, dict)
        ]

    # ---- talking ---------------------------------------------------------------------------------
    def console(self, command: str, timeout_s: float = _ANSWER_S) -> str:
        """A command of GDB's console; returns what it printed."""
        before = len(self._lines)
        self.command(f"-interpreter-exec console {_quoted(command)}", timeout_s)
        return "\n".join(self._lines[before:])

    def command(self, operation: str, timeout_s: float = _ANSWER_S) -> dict[str, Any]:
        """A command of the machine interface; returns its results. Refused with GDB's words."""
        token = self._send(operation)
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            for answer in self._listen(end - time.monotonic()):
                if answer["type"] != "result" or answer["token"] != token:
                    continue
                payload = answer["payload"] or {}
                if answer["message"] == "error":
                    raise Refused(
                        f"`{_shown(operation)}`: {payload.get('msg', 'refused')}",
                        detail=self.last_lines(),
                    )
                return dict(payload)
        raise Refused(
            f"`{_shown(operation)}`: no answer in {timeout_s:.0f} s",
            remedy="Check the probe's cable and the board's power",
            detail=self.last_lines(),
        )

    def last_lines(self) -> str:
        """The last lines that GDB and the server printed."""
        return "\n".join(line for line in self._lines[-_LAST_LINES:] if line.strip())

    def _send(self, command: str) -> int:
        self._token += 1
        try:
            self._io.write(f"{self._token}{command}", read_response=False)
        except (OSError, ValueError):
            raise Refused(f"{PROGRAM} ended", detail=self.last_lines()) from None
        return self._token

    def _listen(self, timeout_s: float) -> list[dict[str, Any]]:
        """Records that arrive in this time; stops and texts are kept. Refused if GDB ended."""
        ready, _, _ = select.select([self._output], [], [], timeout_s)
        if not ready:
            return []
        answers: list[dict[str, Any]] = self._io.get_gdb_response(0, raise_error_on_timeout=False)
        if not answers and self._process.poll() is not None:
            raise Refused(f"{PROGRAM} ended", detail=self.last_lines())
        for answer in answers:
            if answer["type"] in ("console", "target", "log", "output") and answer["payload"]:
                self._lines += str(answer["payload"]).replace("\\n", "\n").splitlines()
            elif answer["message"] == "stopped":
                self._stops.append(_stop(answer["payload"]))
            elif answer["message"] == "thread-group-exited":
                self._stops.append(Stop("disconnected"))
        return answers


def _stop(payload: dict[str, Any]) -> Stop:
    frame = payload.get("frame", {})
    return Stop(
        payload.get("reason", "halted"),
        payload.get("signal-name", ""),
        frame.get("func", ""),
        int(frame.get("addr", "0"), 16),
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _shown(command: str) -> str:
    """A command as a person would type it."""
    return command.removeprefix("-interpreter-exec console ").strip('"')
