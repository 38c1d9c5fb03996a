# SPDX-License-Identifier: Apache-2.0
"""A transport of results: how frames come from a board, and how its plan gets there."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from kadenz.targets.board.gdb import Gdb, Stop


class LineGone(Exception):
    """The port no longer exists."""


class Stopped(Exception):
    """The board stopped, and not to hand over its frames."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(str(stop))
        self.stop = stop


class Results(Protocol):
    """Frames from a board. Opened once, then begun at each start of the board."""

    @property
    def answered(self) -> bool:
        """Whether the suite has spoken since `begin`."""

    def open(self, gdb: Gdb | None, folder: Path) -> None:
        """Prepares it; `gdb` has halted the board, `folder` is that of the execution."""

    def begin(self, plan: str) -> None:
        """Forgets what was received; the board is halted, and starts next."""

    def read(self, timeout_s: float) -> bytes:
        """The next bytes; b"" if none came in time. Raises LineGone or Stopped."""

    def close(self) -> None:
        """Releases the line, or the connection to the debug server."""
