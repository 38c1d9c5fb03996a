# SPDX-License-Identifier: Apache-2.0
"""Releases the places of a kadenz that is killed, or whose coordinator is gone.

A small process beside kadenz, in a process group of its own. It reads the names of places from a
pipe. When the pipe ends without the word DONE, nobody has released them, and it does.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time

from kadenz.config.farm import LabgridTable
from kadenz.errors import UsageError
from kadenz.farm.owner import Owner
from kadenz.farm.places import Coordinator

_DONE = "/done"  # no name of a place
PATIENCE_S = 120.0
_AGAIN_S = 2.0


class Guard:
    """The guard of this process."""

    def __init__(self, table: LabgridTable, owner: Owner) -> None:
        command = [sys.executable, "-m", __name__, table.coordinator, owner.host, owner.user]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def watch(self, place: str) -> None:
        """Names a place, before it is acquired."""
        self._say(place)

    def dismiss(self) -> None:
        """All places are released."""
        self._say(_DONE)
        self.take_over()
        self._process.wait()

    def take_over(self) -> None:
        """Leaves the places to the guard: their coordinator cannot be reached now."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it was killed: the next kadenz sees a dead owner
            print(word, file=self._process.stdin, flush=True)


def main(coordinator: str, owner: Owner) -> None:
    """Waits for the end of kadenz, then releases what it held."""
    places = [line.strip() for line in sys.stdin]
    until = time.monotonic() + PATIENCE_S
    while places and _DONE not in places and time.monotonic() < until:
        with contextlib.suppress(UsageError):
            session = Coordinator(LabgridTable(coordinator=coordinator), owner)
            for place in places:
                session.release(place)
            session.close()
            return
        time.sleep(_AGAIN_S)


if __name__ == "__main__":
    main(sys.argv[1], Owner(sys.argv[2], sys.argv[3]))
