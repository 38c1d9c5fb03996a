# SPDX-License-Identifier: Apache-2.0
"""Results by a serial line. The plan goes out line by line, as the target asks for it.

A UART holds a byte or eight, and nobody reads it during a measurement. A target that waits for a
line of the plan therefore sends an empty frame; docs/reference/wire-format.md.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from pathlib import Path
from typing import Any

from kadenz.config.debug_server import filled
from kadenz.errors import TargetFailed
from kadenz.targets.board.gdb import Gdb
from kadenz.targets.board.way import LineGone, Stopped
from kadenz.wire.frame import BadFrame, Type, decode_frame

_SETTLE_S = 0.1  # for bytes on their way through a USB adapter when the board was halted
_LAST_S = 0.2  # for bytes on their way when the target stopped
_FORGET_S = 10.0  # for the answer of a server, and to empty the buffer
_INSIDE = re.compile(r"[: ]+(\[we-|dict_values).*", re.DOTALL)  # what pyserial says of itself
_FOREIGN_S = 0.3  # for an answer of a board that should not be there


class Requests:
    """Counts the empty frames after HELLO: each asks for a line of the plan."""

    def __init__(self) -> None:
        self.greeted = False
        self._piece = bytearray()

    def take(self, data: bytes) -> int:
        """Requests in the next bytes of the stream."""
        count = 0
        *ended, rest = data.split(b"\0")
        for piece in ended:
            whole = bytes(self._piece) + piece
            self._piece.clear()
            if not whole:
                count += self.greeted
            elif not self.greeted:
                self.greeted = _is_hello(whole)
        self._piece += rest
        return count


def _is_hello(encoded: bytes) -> bool:
    try:
        return decode_frame(encoded).type == Type.HELLO
    except BadFrame:
        return False


def _not_opened(port: str, why: str) -> TargetFailed:
    if "lock" in why.lower() or "busy" in why.lower():
        return TargetFailed(
            f"{port}: another program uses it",
            remedy="End the terminal program or the other kadenz that has it open",
        )
    if "://" in port:
        return TargetFailed(
            f"{port}: {_INSIDE.sub('', why)}",
            remedy="Check the address, and that a server of this protocol (ser2net) listens there",
        )
    return TargetFailed(
        f"{port}: {why}",
        remedy="Check the cable, the port's name, and that you are in group dialout",
    )


_report_thread = threading.excepthook


def _of_other_threads(failure: threading.ExceptHookArgs) -> None:
    """Reports what ended a thread, unless a server's answer ended pyserial's: `read` tells it."""
    if failure.thread is None or not failure.thread.name.startswith("pySerial"):
        _report_thread(failure)


class Uart:
    """A serial line with a board at its other end."""

    def __init__(self, port: str, baud: int, opens_s: float = 0.0) -> None:
        """`port` may have `{folder}`; `opens_s` is how long the other end needs to notice."""
        self._port, self._baud, self._opens_s = port, baud, opens_s
        self._gdb: Gdb | None = None
        self._line: Any = None
        self._plan: list[bytes] = []
        self._requests = Requests()

    def open(self, gdb: Gdb | None, folder: Path) -> None:
        """Opens the port for this kadenz alone. TargetFailed if that is impossible.

        With a halted board at the probe, TargetFailed as well if the port is not that board's.
        """
        import serial

        threading.excepthook = _of_other_threads
        self._gdb = gdb
        self._port = filled(self._port, {"folder": str(folder)})

        try:
            self._line = serial.serial_for_url(self._port, self._baud, timeout=0, exclusive=True)
        except (serial.SerialException, OSError, ValueError) as error:
            raise _not_opened(self._port, str(error)) from None

        if gdb is not None:
            time.sleep(self._opens_s)
            self._require_silence()

    def _require_silence(self) -> None:
        """While the board on the probe is halted: TargetFailed if somebody speaks on the line.

        An empty line is sent first. A board that waits for its plan answers it.
        """
        time.sleep(_SETTLE_S)
        try:
            self._forget()
            self._line.write(b"\n")
            answer = self._received(_FOREIGN_S)
        except LineGone as gone:
            raise TargetFailed(str(gone), remedy="Check the cable") from None
        finally:
            with contextlib.suppress(Exception):
                self._line.reset_output_buffer()
        if answer:
            raise TargetFailed(
                f"{self._port} is another board's line: it speaks while the board on the probe is "
                "halted",
                remedy="Compare port and probe: /dev/serial/by-id and `kadenz doctor` have serial "
                "numbers",
            )

    @property
    def answered(self) -> bool:
        """Whether the suite's first frame arrived since `begin`."""
        return self._requests.greeted

    def begin(self, plan: str) -> None:
        """Forgets what was received; `plan` goes out line by line from now on.

        TargetFailed if the line is gone.
        """
        try:
            self._forget()
        except LineGone as gone:
            raise TargetFailed(str(gone), remedy="Check the cable") from None
        self._plan = plan.encode().splitlines(keepends=True)
        self._requests = Requests()

    def read(self, timeout_s: float) -> bytes:
        """The next bytes; each request in them is answered with a line of the plan."""
        data = self._received(timeout_s)
        for _ in range(self._requests.take(data)):
            if self._plan:
                self._line.write(self._plan.pop(0))
        if data or self._gdb is None:
            return data
        stop = self._gdb.stopped(0)
        if stop is not None:
            data = self._received(_LAST_S)
            if not data:
                raise Stopped(stop)
            self._gdb.keep(stop)  # for the next call
        return data

    def _forget(self) -> None:
        """Drops what has arrived. LineGone if the line is, or never pauses.

        A thread of its own: pyserial drops until nothing is left, and asks the server of a line at
        another machine.
        """
        failed: list[Exception] = []

        def drop() -> None:
            try:
                self._line.reset_input_buffer()
            except Exception as error:
                failed.append(error)

        work = threading.Thread(target=drop, daemon=True)
        work.start()
        work.join(_FORGET_S)
        if work.is_alive():
            self.close()  # ends the thread, too
            raise LineGone(f"{self._port} sends without a pause")
        if failed:
            raise LineGone(f"{self._port} is gone ({_INSIDE.sub('', str(failed[0]))})")

    def _received(self, timeout_s: float) -> bytes:
        import serial

        if self._line is None:
            raise LineGone(f"{self._port} is closed")
        try:
            if self._line.timeout != timeout_s:  # RFC 2217 negotiates every setting anew
                self._line.timeout = timeout_s
            first: bytes = self._line.read(1)
            return first + self._line.read(self._line.in_waiting) if first else b""
        except (serial.SerialException, OSError, ValueError) as error:  # ValueError: a refusal
            raise LineGone(f"{self._port} is gone ({_INSIDE.sub('', str(error))})") from None

    def close(self) -> None:
        """Closes the port; an error of the driver is ignored."""
        if self._line is not None:
            with contextlib.suppress(Exception):
                self._line.close()
            self._line = None
