# SPDX-License-Identifier: Apache-2.0
"""What the kernel reports of threads: typed events, whatever recorded them.

Times are ns of the trace's clock. `current` is the thread on whose processor the event happened.
A priority is the kernel's own: below 0 SCHED_DEADLINE, below 100 real-time (99 less the priority of
sched(7)), from 100 on the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from kadenz import ftrace
from kadenz.ftrace import Event, Who, interrupt_of

REAL_TIME = 100  # kernel priorities below are real-time (include/linux/sched/prio.h)
# Sleeping system calls: where a thread waits tells its releases from waits inside a job.
CALLS = (
    "clock_nanosleep",
    "nanosleep",
    "futex",
    "futex_wait",
    "read",
    "readv",
    "write",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "sendto",
    "sendmsg",
    "accept",
    "accept4",
    "ioctl",
    "mq_timedreceive",
    "mq_timedsend",
    "msgrcv",
    "semop",
    "semtimedop",
    "rt_sigtimedwait",
    "pause",
    "sched_yield",
    "io_uring_enter",
    "wait4",
    "waitid",
    "fsync",
    "fdatasync",
)
# futex(2): operations that wait, without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME. glibc and
# musl wait for a mutex by FUTEX_WAIT or FUTEX_LOCK_PI, for a condition or semaphore by the others.
_FUTEX_COMMAND = 0x7F
_FUTEX = {0: "futex, a lock", 6: "futex, a PI lock", 13: "futex, a PI lock", 11: "futex, a PI wait"}

_SOFT = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER")
_SOFT_NAMES = dict(enumerate((*_SOFT, "RCU")))
# Bits of a task's state as reported (include/trace/events/sched.h, Linux 4.14 and later).
_SLEEPS, _PREEMPTED = 0xFF, 0x100
_STATES = {0x10: "X", 0x20: "Z"}


class Switch(NamedTuple):
    """A processor goes from one thread to another. `state` of the previous: "R" still runnable."""

    at: int
    cpu: int
    current: int
    previous_name: str
    previous_priority: int
    state: str
    next: int
    name: str
    priority: int


class Wake(NamedTuple):
    """A thread is made runnable; `queued`: it is now in the queue of `target`, not about to be."""

    at: int
    cpu: int
    current: int
    pid: int
    name: str
    priority: int
    target: int
    queued: bool


class Enter(NamedTuple):
    """An interrupt begins on its processor."""

    at: int
    cpu: int
    current: int
    who: Who


class Leave(NamedTuple):
    """An interrupt ends, and those inside it."""

    at: int
    cpu: int
    current: int
    who: Who


class Call(NamedTuple):
    """A thread enters a system call, by name and kind; `place` is "" where it leaves."""

    at: int
    cpu: int
    current: int
    place: str


class Fault(NamedTuple):
    """A thread touches a page that is not mapped."""

    at: int
    cpu: int
    current: int


class Migration(NamedTuple):
    """A thread goes to another processor's queue."""

    at: int
    cpu: int
    current: int
    pid: int
    target: int


class Start(NamedTuple):
    """A thread starts another one, or a process."""

    at: int
    cpu: int
    current: int
    pid: int
    name: str


class End(NamedTuple):
    """A thread ends, and soon sleeps for good."""

    at: int
    cpu: int
    current: int
    pid: int


class Loss(NamedTuple):
    """The next event of this processor behind a gap; `lost` 0: not known how many."""

    at: int
    cpu: int
    current: int
    lost: int


class Other(NamedTuple):
    """Something else; it still shows which thread is running."""

    at: int
    cpu: int
    current: int


Happening: TypeAlias = (
    Switch | Wake | Enter | Leave | Call | Fault | Migration | Start | End | Loss | Other
)

_SWITCH = re.compile(
    r"prev_comm=(?P<prev>.{0,64}?) prev_pid=(?P<prev_pid>\d{1,10}) "
    r"prev_prio=(?P<prev_prio>-?\d{1,4}) prev_state=(?P<state>\S{1,16}) ==> "
    r"next_comm=(?P<next>.{0,64}) next_pid=(?P<next_pid>\d{1,10}) next_prio=(?P<prio>-?\d{1,4})"
)
_WAKE = re.compile(
    r"comm=(?P<name>.{0,64}) pid=(?P<pid>\d{1,10}) prio=(?P<prio>-?\d{1,4})"
    r"(?: success=\d)? target_cpu=(?P<cpu>\d{1,6})"
)
_MIGRATE = re.compile(r" pid=(?P<pid>\d{1,10}) .{0,64}dest_cpu=(?P<cpu>\d{1,6})")
_FORK = re.compile(r"child_comm=(?P<name>.{0,64}) child_pid=(?P<pid>\d{1,10})")
_EXIT = re.compile(r" pid=(?P<pid>\d{1,10})")
_OP = re.compile(r"\bop: (?:0x)?(?P<op>[0-9a-f]{1,8})")
_LAST_S = 4e9  # a century: a later time is damage
_WAKES = {"sched_waking": False, "sched_wakeup": True, "sched_wakeup_new": True}


def of_trace(events: Iterable[Event]) -> Iterator[Happening]:
    """The events of a trace as text, in its order; those without meaning here as Other."""
    for event in events:
        if event.time < _LAST_S:
            yield _typed(event) or Other(round(event.time * 1e9), event.cpu, event.pid)


def _typed(event: Event) -> Happening | None:
    at, name, text = round(event.time * 1e9), event.name, event.text
    where = (at, event.cpu, event.pid)
    if name == "sched_switch":
        return _switch(at, event)
    if name in _WAKES:
        match = _WAKE.search(text)
        return (
            Wake(
                *where,
                int(match["pid"]),
                match["name"],
                int(match["prio"]),
                int(match["cpu"]),
                _WAKES[name],
            )
            if match
            else None
        )
    if name.startswith("sys_"):
        return Call(*where, "" if text.startswith("->") else place_of(name[4:], _operation(text)))
    if name == ftrace.LOST:
        return Loss(*where, int(text or 0))
    if who := interrupt_of(event):
        return (Enter if name.endswith("_entry") else Leave)(*where, who)
    return _rare(event, where)


def _switch(at: int, event: Event) -> Switch | None:
    match = _SWITCH.search(event.text)
    if match is None:
        return None
    return Switch(
        at,
        event.cpu,
        int(match["prev_pid"]),
        match["prev"],
        int(match["prev_prio"]),
        match["state"],
        int(match["next_pid"]),
        match["next"],
        int(match["prio"]),
    )


def _rare(event: Event, where: tuple[int, int, int]) -> Happening | None:
    """Faults, migrations, starts and ends of threads."""
    name, text = event.name, event.text
    if name in ("page_fault_user", "page_fault_kernel"):
        return Fault(*where)
    if name == "sched_migrate_task" and (match := _MIGRATE.search(text)):
        return Migration(*where, int(match["pid"]), int(match["cpu"]))
    if name == "sched_process_fork" and (match := _FORK.search(text)):
        return Start(*where, int(match["pid"]), match["name"])
    if name == "sched_process_exit" and (match := _EXIT.search(text)):
        return End(*where, int(match["pid"]))
    return None


def _operation(text: str) -> int:
    match = _OP.search(text)
    return int(match["op"], 16) if match else -1


def is_lock(place: str) -> bool:
    """Whether a place is a wait for a lock."""
    return place.startswith("futex") and place.endswith("lock")


def place_of(call: str, operation: int) -> str:
    """Where a thread sleeps in a system call: its name; a futex by what it waits for."""
    if call == "futex" and operation >= 0:
        return _FUTEX.get(operation & _FUTEX_COMMAND, "futex, a condition")
    return call


def state_of(bits: int) -> str:
    """The state of a thread that leaves its processor, as the kernel prints it: "R", "S"…"""
    asleep = bits & _SLEEPS
    if asleep:
        return _STATES.get(asleep, "S")
    return "R+" if bits & _PREEMPTED else "R"


def soft_interrupt(vector: int) -> Who:
    """A soft interrupt of the kernel, by its number."""
    return Who("soft interrupt", _SOFT_NAMES.get(vector, ""), vector)
