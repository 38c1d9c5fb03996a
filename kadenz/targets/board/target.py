# SPDX-License-Identifier: Apache-2.0
"""One execution of an image on a board: loaded, started and read.

A board that does not answer is reset and started once more.
"""

from __future__ import annotations

import shutil
import time
from functools import cached_property
from pathlib import Path

from kadenz import tools
from kadenz.config.board import BoardTier
from kadenz.config.debug_server import filled
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.errors import TargetFailed
from kadenz.targets.board.gdb import PROGRAM, Gdb, Stop
from kadenz.targets.board.reach import Reach, Server
from kadenz.targets.board.uart import LineGone, Uart
from kadenz.targets.scratch import new_folder

_LAST_S = 0.2  # for bytes on their way when the target stopped
_HALT_S = 3.0
# Where an image stops at its end, if no debugger serves the semihosting call there.
_END = ("kdz_arch_halt", "kdz_board_halt")


class BoardTarget:
    """A board behind a debug server; or one that somebody loaded by hand."""

    def __init__(self, reach: Reach, tier: BoardTier, elf: Elf) -> None:
        self._reach, self._tier, self._elf = reach, tier, elf
        self._server: Server | None = None
        self._gdb: Gdb | None = None
        self._line: Uart | None = None
        self._answer_s = tier.answer_s
        self._plan = ""
        self._why = ""  # it ended
        self._over = False
        self._starts = 0
        self._started_at = 0.0

    @cached_property
    def _folder(self) -> Path:
        """The folder of this execution, created on first use."""
        return new_folder()

    def open(self, plan: str) -> None:
        """Connects, loads the image if it is not there yet, resets the board and starts it."""
        self._plan = plan
        port = filled(self._reach.port, {"folder": str(self._folder)})
        if self._reach.server is not None:
            gdb = tools.require(PROGRAM)
            self._server = self._reach.make_server(self._folder, self._elf.path)
            self._server.start()
            self._gdb = Gdb(gdb, self._elf.path)
            self._gdb.connect(self._server.address)
        self._line = Uart(port, self._tier.baud)
        self._line.open()
        if self._gdb is not None and self._reach.server is not None:
            time.sleep(self._reach.server.line_opens_s)
            self._reset()
            self._line.require_silence()
            self._gdb.load()
        self._start()

    def read(self, timeout_s: float) -> bytes | None:
        """The next bytes of the board; None once it, its line or its server has ended."""
        if self._over:
            return None
        data = self._received(timeout_s)
        if data:
            return data
        self._look()
        return None if self._over else b""

    def stop(self) -> bool:
        """The board cannot be asked to end early."""
        return False

    def why_it_ended(self) -> str:
        """Why there is nothing more to read."""
        return self._why

    def post_mortem(self) -> str:
        """Where the board is: its functions, the innermost first."""
        if self._gdb is None:
            return (
                f"{self._reach.port} is silent. Reset the board by hand while kadenz waits for it, "
                "or name a debug server"
            )
        try:
            self._gdb.halt(_HALT_S)
            return "\n".join(self._gdb.backtrace())
        except TargetFailed as failure:
            return f"{failure.message}\n{failure.detail}".strip()

    def close(self) -> str:
        """Ends line, GDB and server. Returns the words of the last two if the board had ended."""
        words = self._words() if self._why else ""
        if self._line is not None:
            self._line.close()
        if self._gdb is not None:
            self._gdb.close()
        if self._server is not None:
            self._server.end()
        self._line = self._gdb = self._server = None
        if "_folder" in self.__dict__:
            shutil.rmtree(self._folder, ignore_errors=True)
        return words

    def emulator(self) -> EmulatorEntry | None:
        """The server, if it emulates the board; None on silicon."""
        server = self._reach.server
        if server is None or server.clock != "instruction" or not self._reach.command:
            return None
        return EmulatorEntry(
            name=server.program,
            version=tools.version(server.program),
            arguments=list(self._reach.command[1:]),
        )

    # ---- starting --------------------------------------------------------------------------------
    def _reset(self) -> None:
        assert self._gdb is not None and self._reach.server is not None
        for words in self._reach.server.reset:
            self._gdb.monitor(words)

    def _start(self) -> None:
        """Resets the board and lets it run, with its plan from the beginning."""
        assert self._line is not None
        self._starts += 1
        if self._gdb is not None:
            self._reset()
        self._line.begin(self._plan)
        if self._gdb is not None:
            self._gdb.resume()
        self._started_at = time.monotonic()

    # ---- reading ---------------------------------------------------------------------------------
    def _received(self, timeout_s: float) -> bytes:
        assert self._line is not None
        try:
            return self._line.read(timeout_s)
        except LineGone as gone:
            self._end(str(gone))
            return b""

    def _look(self) -> None:
        """Nothing arrived: whether server, debugger or board have a reason."""
        if self._over:
            return
        stop = self._stopped()
        if stop is not None:
            self._end(self._reason(stop))
        elif self._server is not None and self._server.ended():
            self._end(self._server.how_it_ended())
        elif self._gdb is not None and not self._answered() and self._waited_s() > self._answer_s:
            self._unanswered()

    def _stopped(self) -> Stop | None:
        if self._gdb is None:
            return None
        try:
            return self._gdb.stopped(0)
        except TargetFailed as failure:
            return Stop(failure.message)

    def _reason(self, stop: Stop) -> str:
        """Why a board stopped; "" if that is how an image ends."""
        if stop.function in _END or stop.reason.startswith("exited"):
            return ""
        if stop.reason == "disconnected" and self._server is not None:
            return self._server.how_it_ended() or "the debug server closed the connection"
        return f"the debugger stopped it: {stop}"

    def _waited_s(self) -> float:
        return time.monotonic() - self._started_at

    def _answered(self) -> bool:
        return self._line is not None and self._line.answered

    def _unanswered(self) -> None:
        """Starts the board once more, then gives up."""
        if self._starts > 1:
            why = f"no answer in {self._answer_s:g} s, and none after a reset"
            self._end(why, self.post_mortem())
            return
        assert self._gdb is not None
        try:
            self._gdb.halt(_HALT_S)
            self._start()
        except TargetFailed as failure:
            self._end(f"no answer, and it cannot be reset: {failure.message}", failure.detail)

    def _end(self, why: str, detail: str = "") -> None:
        self._why = why
        self._detail = detail
        self._over = True

    def _words(self) -> str:
        """What the board, GDB and the server said."""
        parts = [getattr(self, "_detail", "")]
        parts += [self._server.words()] if self._server is not None else []
        return "\n".join(part for part in parts if part)
