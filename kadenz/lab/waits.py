# SPDX-License-Identifier: Apache-2.0
"""How long a target is silent, less the time that other processes had its processor.

An emulator beside a busy compiler says nothing for seconds and is not hung. A run says why it takes
so long.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kadenz.targets.base import SharesProcessors, StartsAgain, Target

_LOOK_S = 0.5
# A machine is called busy once a target has waited for this long, and for half of its time: the
# rest takes twice as long as on a quiet one.
_WORTH_TELLING_S = 5.0


class Waits:
    """The silence of a target that is read now. `tell` is called once if the machine is busy."""

    def __init__(self, target: Target, tell: Callable[[str], None]) -> None:
        self._target, self._tell = target, tell
        self._shares = isinstance(target, SharesProcessors)
        self._begun = self._heard_at = self._looked_at = time.monotonic()
        self._waited_s = self._waited_when_heard_s = 0.0
        # Of its threads, at the last look. It may have begun before it is read.
        self._times = target.thread_times() if isinstance(target, SharesProcessors) else {}
        self._told = False

    def heard(self) -> None:
        """The target has just said something, or storing what it said has ended."""
        self._heard_at = time.monotonic()
        self._waited_when_heard_s = self._waited_s

    def silent_s(self) -> float:
        """Seconds of silence, less those that the target waited for a processor."""
        now = time.monotonic()
        if isinstance(self._target, StartsAgain):
            self._heard_at = max(self._heard_at, self._target.started_at)
        if self._shares and now - self._looked_at >= _LOOK_S:
            self._look(now)
        return now - self._heard_at - (self._waited_s - self._waited_when_heard_s)

    def _look(self, now: float) -> None:
        assert isinstance(self._target, SharesProcessors)
        times = self._target.thread_times()
        self._waited_s += _lost_to_others(self._times, times)
        self._times, self._looked_at = times, now
        elapsed_s = now - self._begun
        if not self._told and self._waited_s >= max(_WORTH_TELLING_S, elapsed_s / 2):
            self._told = True
            self._tell(
                f"this machine is busy: for {self._waited_s:.0f} of {elapsed_s:.0f} s other "
                "processes had the target's processor. Its figures are the same; it takes longer"
            )


def _lost_to_others(
    before: dict[str, tuple[float, float]], now: dict[str, tuple[float, float]]
) -> float:
    """Seconds that a thread waited for a processor which no thread of the same target had.

    Threads of an emulator share a processor: while one of them computes, the other waits for it.
    Of threads that wait at the same time the longest counts: no time is lost twice.
    """
    ran, waited = {}, {}
    for thread, (ran_s, waited_s) in now.items():
        before_s = before.get(thread, (0.0, 0.0))
        ran[thread], waited[thread] = ran_s - before_s[0], waited_s - before_s[1]
    together = sum(ran.values())
    return max((0.0, *(waited[thread] - (together - ran[thread]) for thread in now)))
