# SPDX-License-Identifier: Apache-2.0
"""The processor of an emulator, whose two threads take turns at every tick of its guest.

On two processors each turn wakes up the other one; on one it is a switch, and nothing waits for
both. A processor is held by a socket that the emulator inherits: its end frees the processor, and
no file is left. Where the kernel allows it the emulator has the lowest real-time priority there,
because at each turn other processes would go first otherwise. A lab that was started by `nice` asks
for the opposite. One processor of this machine is always left to other processes.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Of each thread, by its number: seconds that it ran, and that it waited for a processor.
ThreadTimes = dict[str, tuple[float, float]]
_NAME = "\0kadenz-processor-{}"  # of an abstract socket, in the network's name space
_NS = 1e-9


@dataclass(frozen=True)
class Processor:
    """A processor that is held for one process, until that process and `let_go` have closed it."""

    number: int
    real_time: bool
    holder: socket.socket

    @property
    def inherited(self) -> int:
        """The descriptor that the process keeps open."""
        return self.holder.fileno()

    def enter(self) -> None:
        """Called in the process: its threads run here, and above others if they may."""
        with contextlib.suppress(OSError):  # it was taken away from this machine in the meantime
            os.sched_setaffinity(0, {self.number})
            if self.real_time:
                lowest = os.sched_get_priority_min(os.SCHED_RR)
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(lowest))

    def let_go(self) -> None:
        """Called once the process has been started."""
        self.holder.close()


def free_processor() -> Processor | None:
    """A processor that no emulator of kadenz holds; None if there is none."""
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    for number in allowed:
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            holder.bind(_NAME.format(number))
        except OSError:
            holder.close()
            continue
        polite = os.getpriority(os.PRIO_PROCESS, 0) > 0
        return Processor(number, number != allowed[-1] and not polite, holder)
    return None


def entering(processor: Processor | None, then: Callable[[], None]) -> Callable[[], None]:
    """What the process calls before it begins its program."""

    def in_child() -> None:
        if processor is not None:
            processor.enter()
        then()

    return in_child


def on_every_processor(pid: int) -> None:
    """Lets the threads of a process run anywhere, as any process. Its figures no longer matter."""
    everywhere = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                os.sched_setscheduler(int(task.name), os.SCHED_OTHER, os.sched_param(0))
                os.sched_setaffinity(int(task.name), everywhere)


def thread_times(pid: int) -> ThreadTimes:
    """Seconds that each thread of a process ran, and that it was ready and had no processor.

    The first two numbers of schedstat (Documentation/scheduler/sched-stats.rst). Empty if the
    kernel does not count them, and once the process has ended.
    """
    times: ThreadTimes = {}
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError, IndexError, ValueError):
                ran, waited = (task / "schedstat").read_text().split()[:2]
                times[task.name] = int(ran) * _NS, int(waited) * _NS
    return times
