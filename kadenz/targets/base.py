# SPDX-License-Identifier: Apache-2.0
"""The interface of a tier: start a program with a plan, read its bytes, end it."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from kadenz.config.manifest import EmulatorEntry, ValueEntry
from kadenz.errors import TargetFailed, UsageError
from kadenz.targets.seen import Seen


class Target(Protocol):
    """One execution of an image: open, read until None, close. `close` may be called at any
    time."""

    def open(self, plan: str) -> None:
        """Starts the image with a plan. Raises ToolMissing or TargetFailed."""

    def read(self, timeout_s: float) -> bytes | None:
        """Received bytes: b"" if none arrived in time, None at the end."""

    def stop(self) -> bool:
        """Requests an early end; True if the target will still deliver its samples."""

    def post_mortem(self) -> Seen:
        """The state of a silent target, seen from outside: registers, last output, its place."""

    def close(self) -> str:
        """Ends the target, gracefully first. Returns its output outside of frames, or ""."""

    def emulator(self) -> EmulatorEntry | None:
        """The emulator that executes the image; None on real machines."""


@runtime_checkable
class RunsAhead(Target, Protocol):
    """A target that can run before it is read, and ends by itself, by its own time.

    Silence of it means nothing: this machine may be slow.
    """

    def begin(self, plan: str) -> None:
        """Starts the image with a plan; `open` then goes on with it."""

    def running(self) -> bool:
        """Whether it has begun and not ended."""


@runtime_checkable
class SharesProcessors(Protocol):
    """A target in a process of this machine, with a time of its own: while other processes have
    its processor it is not silent, and it is late for nothing."""

    def thread_times(self) -> dict[str, tuple[float, float]]:
        """Seconds that each of its threads ran, and that it was ready and had no processor."""


@runtime_checkable
class KnowsItsEnd(Protocol):
    """A target that knows why it ended early."""

    def why_it_ended(self) -> str:
        """The reason; "" if unknown."""


@runtime_checkable
class StartsAgain(Protocol):
    """A target that may be started again while it is read: its silence counts from there."""

    @property
    def started_at(self) -> float:
        """When it was last started, by the monotonic clock."""


@runtime_checkable
class KnowsItsFailure(Protocol):
    """A target that was executed elsewhere, where its failure was seen."""

    def failure(self) -> TargetFailed | None:
        """The failure; None if it did not fail."""


@runtime_checkable
class Counted(Protocol):
    """A target that its files alone decide: equal executions are one value (kadenz/values)."""

    @property
    def value(self) -> ValueEntry | None:
        """Which value its output is, once it began; None: nothing is kept of it."""

    @property
    def difference(self) -> TargetFailed | None:
        """How it differed from an equal execution that is kept, once it is closed."""

    def vouch(self) -> None:
        """Before it is closed: its output was read to the end, and nothing was wrong with it."""

    def withdraw(self) -> None:
        """At any time: something was wrong with it, so it is not kept."""


def plan_page(plan: str, room_bytes: int) -> bytes:
    """The plan with its final zero, for a board's plan page. UsageError if it does not fit."""
    page = plan.encode() + b"\0"
    if len(page) > room_bytes:
        raise UsageError(
            f"the plan has {len(page)} bytes, the board's plan page {room_bytes}: "
            f"{plan.partition(chr(10))[0]}",
            remedy="Set fewer parameters in one point, or raise `plan_bytes` in board.toml",
        )
    return page


def die_with_parent() -> Callable[[], None]:
    """Runs in a child process: the kernel kills it when the lab dies for any reason.

    PR_SET_PDEATHSIG is option 1 of prctl(2). The library is loaded here, before the fork. The
    kernel does not report a death before prctl: the child has another parent then, and ends.
    """
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    lab = os.getpid()

    def in_child() -> None:
        prctl(1, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != lab:
            os._exit(1)

    return in_child
