# SPDX-License-Identifier: Apache-2.0
"""A target with scripted output."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kadenz.config.manifest import EmulatorEntry
from kadenz.targets.seen import Seen


class Scripted:
    """Returns its pieces one by one, then ends; None in the script: endless silence."""

    def __init__(self, pieces: Sequence[bytes | None], said: str = "") -> None:
        self._pieces = list(pieces)
        self._said = said
        self.plan = ""
        self.closed = 0
        self.asked_to_stop = False
        self.seen = Seen("pc is in spin+0x4")

    def open(self, plan: str) -> None:
        self.plan = plan

    def read(self, timeout_s: float) -> bytes | None:
        if not self._pieces:
            return None
        if self._pieces[0] is None:
            time.sleep(min(timeout_s, 0.01))
            return b""
        return self._pieces.pop(0)

    def stop(self) -> bool:
        self.asked_to_stop = True
        return False

    def post_mortem(self) -> Seen:
        return self.seen

    def close(self) -> str:
        self.closed += 1
        return self._said

    def emulator(self) -> EmulatorEntry | None:
        return None
