# SPDX-License-Identifier: Apache-2.0
"""Results by semihosting: the server writes frames into a file, and reads the plan from another."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from kadenz.config.debug_server import DebugServer
from kadenz.targets.board.gdb import Gdb
from kadenz.targets.board.way import Stopped
from kadenz.targets.scratch import read_growing

_FRAMES, _PLAN = "kadenz-frames", "kadenz-plan"  # boards/console/semihosting.c
_LAST_S = 0.05


class Semihosting:
    """Two files in the server's working folder."""

    def __init__(self, server: DebugServer) -> None:
        self._commands = server.semihosting
        self._gdb: Gdb | None = None
        self._folder = Path()
        self._frames: IO[bytes] | None = None
        self._answered = False

    @property
    def answered(self) -> bool:
        """Whether the file has bytes since `begin`: nothing else writes there."""
        return self._answered

    def open(self, gdb: Gdb | None, folder: Path) -> None:
        """Lets the server serve the calls."""
        assert gdb is not None
        self._gdb, self._folder = gdb, folder

    def begin(self, plan: str) -> None:
        """Puts the plan where the target finds it. A reset may have turned semihosting off."""
        assert self._gdb is not None
        self.close()
        (self._folder / _PLAN).write_text(plan)
        (self._folder / _FRAMES).write_bytes(b"")
        self._frames = (self._folder / _FRAMES).open("rb")
        self._answered = False
        for words in self._commands:
            self._gdb.monitor(words)

    def read(self, timeout_s: float) -> bytes:
        """New bytes of the file."""
        assert self._frames is not None and self._gdb is not None
        data = read_growing(self._frames, lambda: False, timeout_s) or b""
        self._answered = self._answered or bool(data)
        if not data:
            stop = self._gdb.stopped(0)
            if stop is not None:
                data = read_growing(self._frames, lambda: False, _LAST_S) or b""
                if not data:
                    raise Stopped(stop)
                self._gdb.keep(stop)  # for the next call
        return data

    def close(self) -> None:
        """Closes the file of frames."""
        if self._frames is not None:
            self._frames.close()
            self._frames = None
