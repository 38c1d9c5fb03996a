# SPDX-License-Identifier: Apache-2.0
"""Which threads are watched: those of the program that are real-time, or have a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from kadenz.watching.events import REAL_TIME
from kadenz.watching.threads import Observed, Thread

# Real-time threads of the kernel itself, by the beginnings of their names.
_KERNEL = (
    "migration/",
    "irq/",
    "ktimers/",
    "ksoftirqd/",
    "rcu",
    "watchdog",
    "idle_inject/",
    "stop/",
    "cpuhp/",
    "posixcputmr/",
    "sugov:",
)
_DEEPEST = 64  # generations of processes


class Selection:
    """`roots`: thread numbers of the program; what they start belongs to it. `names`: patterns of
    threads, whatever their policy. `everything`: threads of all processes, without the kernel's."""

    def __init__(
        self, roots: Sequence[int], names: Sequence[str] = (), *, everything: bool = False
    ) -> None:
        self.roots = frozenset(roots)
        self._names = tuple(names)
        self._everything = everything

    def keeps(self, thread: Thread) -> bool:
        """Whether what the thread does may be asked for."""
        if self._names:
            return self._is_named(thread)
        return thread.priority < REAL_TIME

    def chosen(self, observed: Observed) -> list[Thread]:
        """The threads to watch that had a whole stint, by their numbers."""
        return [
            thread
            for _, thread in sorted(observed.threads.items())
            if thread.stints
            and self._belongs(thread, observed.threads)
            and (self._is_named(thread) if self._names else thread.real_time)
        ]

    def seen(self, observed: Observed) -> list[str]:
        """Names of the program's threads, real-time or not."""
        names = {
            thread.name
            for thread in observed.threads.values()
            if thread.name and thread.pid and self._belongs(thread, observed.threads)
        }
        return sorted(names)

    def _is_named(self, thread: Thread) -> bool:
        return any(fnmatchcase(thread.name, pattern) for pattern in self._names)

    def _belongs(self, thread: Thread, threads: Mapping[int, Thread]) -> bool:
        if not self.roots:
            is_kernels = thread.name.startswith(_KERNEL)
            return self._everything and (not is_kernels or bool(self._names))
        pid = thread.pid
        for _ in range(_DEEPEST):
            if pid in self.roots:
                return True
            pid = threads[pid].parent if pid in threads else 0
        return False
