# SPDX-License-Identifier: Apache-2.0
"""Events of Linux's trace, from its text: tracefs `trace`, or `trace-cmd report`.

Documentation/trace/ftrace.rst and events.rst: sched_switch, sched_waking, sched_wakeup,
irq_handler_entry/exit, softirq_entry/exit, the x86 vectors (local_timer_entry/exit and others),
system calls, and marks written to trace_marker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

# "  planted hog-13428   (  13428) [001] d.h2.   796.456927: sched_waking: comm=cyclic pid=13387"
# The option record-tgid adds the column in round brackets. System calls have no colon behind their
# names: "sys_read(fd: 3, …)", "sys_read -> 0x4". `trace-cmd report` leaves the flags out.
# Names of threads have 16 bytes: with bounds, no line takes quadratic time.
_LINE = re.compile(
    r"^\s*+(?P<task>.{0,64}?)-(?P<pid>\d{1,10})\s+(?:\(\s*[-\d]+\)\s+)?\[(?P<cpu>\d{1,6})\]"
    r"(?:\s+(?P<flags>\S+))?\s+(?P<time>\d{1,12}\.\d{1,12}): "
    r"(?P<name>[\w.]+)(?::|(?=\(| -> )) ?(?P<text>.*)$"
)
SWITCH = re.compile(
    r"prev_comm=(?P<prev>.{0,64}?) prev_pid=(?P<prev_pid>\d{1,10}) .{0,64}?==> "
    r"next_comm=(?P<next>.{0,64}) next_pid=(?P<next_pid>\d{1,10}) "
)
WAKE = re.compile(r"comm=(?P<comm>.{0,64}) pid=(?P<pid>\d{1,10}) ")
_IRQ = re.compile(r"irq=(?P<number>\d{1,10})(?: name=(?P<name>.*))?")
_SOFT = re.compile(r"vec=(?P<number>\d{1,10})(?: \[action=(?P<name>\w+)\])?")
_VECTOR = re.compile(r"vector=(?P<number>\d{1,10})")
MARKS = ("tracing_mark_write", "print")
# The kernel: "CPU:1 [LOST 88 EVENTS]"; trace-cmd: "CPU:1 [88 EVENTS DROPPED]"; both may not know
# the number.
_LOST = re.compile(
    r"CPU:\s*(?P<cpu>\d{1,6}) \[(?:LOST )?(?:(?P<count>\d{1,18}) )?EVENTS(?: DROPPED)?\]"
)
LOST = "lost events"  # the name of an event that stands for those, with their number as its text

Kind = Literal["thread", "idle", "interrupt", "soft interrupt", "lost", "unknown"]


@dataclass(frozen=True)
class Event:
    """One line: `time` in seconds of the trace's clock; `task` and `pid` were running."""

    time: float
    cpu: int
    task: str
    pid: int
    name: str
    text: str


@dataclass(frozen=True)
class Who:
    """A thread or an interrupt."""

    kind: Kind
    name: str
    number: int


def parse_trace(text: str) -> list[Event]:
    """The events of a trace in time order; comments and other lines are skipped."""
    return sorted(events_of(text.splitlines()), key=lambda event: event.time)


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """The events of a trace, in its order; `LOST` before the first event of a CPU behind a gap."""
    lost: dict[int, str] = {}
    for line in lines:
        match = _LINE.match(line) if not line.startswith("#") else None
        if match:
            cpu, time = int(match["cpu"]), float(match["time"])
            if cpu in lost:
                yield Event(time=time, cpu=cpu, task="", pid=-1, name=LOST, text=lost.pop(cpu))
            yield Event(
                time=time,
                cpu=cpu,
                task=match["task"],
                pid=int(match["pid"]),
                name=match["name"],
                text=match["text"],
            )
        elif gap := _LOST.match(line.strip()):
            lost[int(gap["cpu"])] = gap["count"] or ""


def lost_words(count: int) -> str:
    """ "88 events"; a number of 0 is not known."""
    return f"{count:,} {'event' if count == 1 else 'events'}" if count else "events"


def interrupt_of(event: Event) -> Who | None:
    """The interrupt of an entry or exit event; None for other events."""
    if event.name in ("irq_handler_entry", "irq_handler_exit"):
        match = _IRQ.search(event.text)
        name = match["name"] or "" if match and event.name.endswith("entry") else ""
        return Who("interrupt", name, int(match["number"])) if match else None
    if event.name in ("softirq_entry", "softirq_exit"):
        match = _SOFT.search(event.text)
        return Who("soft interrupt", match["name"] or "", int(match["number"])) if match else None
    if event.name.endswith(("_entry", "_exit")) and (match := _VECTOR.search(event.text)):
        name = event.name.removesuffix("_entry").removesuffix("_exit")
        return Who("interrupt", name.replace("_", " "), int(match["number"]))
    return None
