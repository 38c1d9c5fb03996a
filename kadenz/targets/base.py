# SPDX-License-Identifier: Apache-2.0
"""What a tier has to offer: a program starts with a plan, bytes come back, it ends."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from kadenz.config.manifest import EmulatorEntry


class Target(Protocol):
    """One execution of an image. Open, read until None, close; close may come at any moment."""

    def open(self, plan: str) -> None:
        """Starts the image with a plan. Raises ToolMissing or TargetFailed."""

    def read(self, timeout_s: float) -> bytes | None:
        """Bytes that came: b"" when none came within the time, None when there will be no more."""

    def stop(self) -> bool:
        """Asks it to end early; True when it will still hand over what it holds."""

    def post_mortem(self) -> str:
        """What can be seen from outside of a target that fell silent: registers, its last words."""

    def close(self) -> str:
        """Ends it, gently first. What it said outside the frames, "" when nothing."""

    def emulator(self) -> EmulatorEntry | None:
        """The emulator that executes the image, None on real machines."""


@runtime_checkable
class KnowsItsEnd(Protocol):
    """A target that can tell why it ended by itself."""

    def why_it_ended(self) -> str:
        """In words; "" when it cannot tell this time."""


def die_with_parent() -> Callable[[], None]:
    """For a child process: the kernel ends it when the lab dies, however that comes about.

    PR_SET_PDEATHSIG is option 1 of prctl(2). The library is loaded here, before the fork.
    """
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def in_child() -> None:
        prctl(1, signal.SIGKILL, 0, 0, 0)

    return in_child
