# SPDX-License-Identifier: Apache-2.0
"""One execution of an image on a board: loaded, started and read.

A board that does not answer is reset and started once more. If it has a power switch, it is then
switched off and on, reached anew and started a last time.
"""

from __future__ import annotations

import shutil
import time
from functools import cached_property
from pathlib import Path

from kadenz import tools
from kadenz.config.board import BoardTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.errors import TargetFailed
from kadenz.targets.board.gdb import PROGRAM, Gdb, Stop
from kadenz.targets.board.reach import Reach, Server
from kadenz.targets.board.rtt import Rtt
from kadenz.targets.board.simulated import simulator
from kadenz.targets.board.uart import Uart
from kadenz.targets.board.way import LineGone, Results, Stopped
from kadenz.targets.scratch import new_folder
from kadenz.targets.seen import Look, Seen, seen

_HALT_S = 3.0
_LOOKS, _BETWEEN_LOOKS_S = 5, 0.02
_BACK_S = 20.0  # after power was switched: for the board, and for a server that starts anew with it
_AGAIN_S = 0.5
_SWITCHED = "its power was switched off and on"
# Where an image stops at its end: no server is asked to serve the semihosting call there.
_END = ("kdz_arch_halt", "kdz_board_halt")


class BoardTarget:
    """A board behind a debug server; or one that somebody loaded by hand."""

    def __init__(self, reach: Reach, tier: BoardTier, elf: Elf) -> None:
        self._reach, self._tier, self._elf = reach, tier, elf
        self._server: Server | None = None
        self._gdb: Gdb | None = None
        self._results: Results | None = None
        self._answer_s = tier.answer_s
        self._plan = ""
        self._why = self._detail = ""  # it ended
        self._over = False
        self._starts = 0
        self._switched = ""  # why the board's power was switched
        self._started_at = 0.0

    @cached_property
    def _folder(self) -> Path:
        """The folder of this execution, created on first use."""
        return new_folder()

    def open(self, plan: str) -> None:
        """Connects, loads the image if it is not there yet, resets the board and starts it."""
        self._plan = plan
        try:
            self._attach()
        except TargetFailed as failure:
            if self._reach.power is None:
                raise
            self._switch_power(failure.message)
        self._load()
        self._start()

    @property
    def started_at(self) -> float:
        """When the board was last started, by the monotonic clock."""
        return self._started_at

    def _make_results(self) -> Results:
        server = self._reach.server
        if self._reach.way == "rtt":
            return Rtt(self._elf)
        return Uart(self._reach.port, self._tier.baud, server.line_opens_s if server else 0.0)

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

    def post_mortem(self) -> Seen:
        """Where the board is, at several moments: its functions, the innermost first."""
        if self._gdb is None:
            return Seen(
                f"{self._reach.port} is silent. Reset the board by hand while kadenz waits for it, "
                "or name a debug server"
            )
        looks: list[Look] = []
        try:
            for number in range(_LOOKS):
                if number:
                    self._gdb.resume()
                    time.sleep(_BETWEEN_LOOKS_S)
                self._gdb.halt(_HALT_S)
                frames = self._gdb.backtrace()
                looks += [Look(int(frame.rpartition(" ")[2], 16)) for frame in frames[:1]]
            return seen("\n".join(frames), looks, self._elf.symbol_at)
        except TargetFailed as failure:
            return Seen(f"{failure.message}\n{failure.detail}".strip())

    def close(self) -> str:
        """Ends line, GDB and server. Returns the words of the last two if the board had ended, and
        why its power was switched.
        """
        parts = [f"{self._switched}: {_SWITCHED}"] if self._switched else []
        parts += [self._all_output()] if self._why else []
        self._detach()
        if "_folder" in self.__dict__:
            shutil.rmtree(self._folder, ignore_errors=True)
        return "\n".join(part for part in parts if part)

    def emulator(self) -> EmulatorEntry | None:
        """The emulator or simulator of the board; None on silicon."""
        server = self._reach.server
        if self._reach.simulated is not None:
            return simulator(self._reach.simulated)
        if server is None or server.clock != "instruction" or not self._reach.command:
            return None
        return EmulatorEntry(
            name=server.program,
            version=tools.version(server.program),
            arguments=list(self._reach.command[1:]),
        )

    # ---- starting --------------------------------------------------------------------------------
    def _attach(self) -> None:
        """Starts the server and a session of GDB: the board is halted, at its reset."""
        if self._reach.server is None:
            return
        gdb = tools.require(PROGRAM)
        self._server = self._reach.make_server(self._folder, self._elf)
        self._server.start()
        self._gdb = Gdb(gdb, self._elf)
        self._gdb.connect(self._server.address)
        self._reset()

    def _detach(self) -> None:
        if self._results is not None:
            self._results.close()
        if self._gdb is not None:
            self._gdb.close()
        if self._server is not None:
            self._server.end()
        self._results = self._gdb = self._server = None

    def _load(self) -> None:
        """Opens the way of the results, and loads the image if it is not there yet."""
        self._results = self._make_results()
        self._results.open(self._gdb, self._folder)
        if self._gdb is not None:
            self._gdb.load()

    def _switch_power(self, why: str) -> None:
        """Switches the board off and on, and attaches anew. TargetFailed if it is not back."""
        assert self._reach.power is not None
        self._detach()
        self._reach.power.cycle()
        self._switched = why
        until = time.monotonic() + _BACK_S
        while True:
            try:
                self._attach()
                return
            except TargetFailed as failure:
                self._detach()
                if time.monotonic() > until:
                    raise TargetFailed(
                        f"{_SWITCHED}, and it is not back in {_BACK_S:g} s: {failure.message}",
                        remedy=failure.remedy,
                        detail=failure.detail,
                    ) from None
            time.sleep(_AGAIN_S)

    def _reset(self) -> None:
        assert self._gdb is not None and self._reach.server is not None
        for command in self._reach.server.reset:
            self._gdb.monitor(command)

    def _start(self) -> None:
        """Resets the board and lets it run, with its plan from the beginning."""
        assert self._results is not None
        self._starts += 1
        if self._gdb is not None:
            self._reset()
        self._results.begin(self._plan)
        if self._gdb is not None:
            if self._tier.in_ram:
                self._gdb.set_register("pc", self._elf.entry)
            self._gdb.resume()
        self._started_at = time.monotonic()

    # ---- reading ---------------------------------------------------------------------------------
    def _received(self, timeout_s: float) -> bytes:
        assert self._results is not None
        try:
            return self._results.read(timeout_s)
        except LineGone as gone:
            self._end(str(gone))
        except Stopped as stopped:
            self._end(self._reason(stopped.stop))
        except TargetFailed as failure:
            self._end(failure.message, failure.detail)
        return b""

    def _look(self) -> None:
        """Nothing arrived: whether the server has a reason, or the board has never answered."""
        if self._over or self._gdb is None or self._server is None or self._results is None:
            return
        if self._server.ended():
            self._end(self._server.how_it_ended())
        elif not self._results.answered and self._waited_s() > self._answer_s:
            self._unanswered()

    def _reason(self, stop: Stop) -> str:
        """Why a board stopped; "" if that is how an image ends."""
        if stop.function in _END or stop.reason.startswith("exited"):
            return ""
        if stop.reason == "disconnected" and self._server is not None:
            return self._server.how_it_ended() or "the debug server closed the connection"
        return f"the debugger stopped it: {stop}"

    def _waited_s(self) -> float:
        return time.monotonic() - self._started_at

    def _unanswered(self) -> None:
        """Starts the board once more, then once more with its power switched, then gives up."""
        assert self._gdb is not None
        why, detail = f"no answer in {self._answer_s:g} s, and none after a reset", ""
        if self._starts == 1:
            try:
                self._gdb.halt(_HALT_S)
                self._start()
                return
            except TargetFailed as failure:
                why = f"no answer, and it cannot be reset: {failure.message}"
                detail = failure.detail
        if self._reach.power is not None and not self._switched:
            self._start_anew(why)
            return
        tried = f"{why}; {_SWITCHED}" if self._switched else why
        self._end(tried, detail or self.post_mortem().report)

    def _start_anew(self, why: str) -> None:
        """The last start, with power switched; `why` says what the board did before."""
        try:
            self._switch_power(why)
            self._load()
            self._start()
        except TargetFailed as failure:
            self._end(f"{why}; {failure.message}", failure.detail)

    def _end(self, why: str, detail: str = "") -> None:
        self._why = why
        self._detail = detail
        self._over = True

    def _all_output(self) -> str:
        """Output of the board, of GDB and of the server."""
        parts = [self._detail]
        parts += [self._server.last_lines()] if self._server is not None else []
        return "\n".join(part for part in parts if part)
