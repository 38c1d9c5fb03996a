# SPDX-License-Identifier: Apache-2.0
"""Finds who held the processor while a thread was due, from a kernel's trace of one wake-up.

Reads the text that Linux writes to tracefs `trace` (Documentation/trace/ftrace.rst, events.rst):
sched_switch, sched_waking, sched_wakeup, irq_handler_entry/exit, softirq_entry/exit, the x86
vectors (local_timer_entry/exit and others) and marks written to trace_marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kadenz.ftrace import LOST, MARKS, SWITCH, WAKE, Event, Kind, Who, interrupt_of, lost_words

_STEP_S = 2e-6  # a trace has whole µs


@dataclass(frozen=True)
class Occupant:
    """Who held the CPU, and for how long in total; `number` is a pid, interrupt or vector."""

    kind: Kind
    name: str
    number: int
    seconds: float

    @property
    def description(self) -> str:
        """ "the thread hog (pid 13428)", "interrupt 24 (virtio0)"."""
        if self.kind == "thread":
            return f"the thread {self.name} (pid {self.number})"
        if self.kind == "idle":
            return "no thread: the CPU was idle"
        if self.kind == "unknown":
            return "unknown: the trace begins later"
        if self.kind == "lost":
            return f"unknown: the trace lost {lost_words(self.number)} there"
        return f"{self.kind} {self.number}" + (f" ({self.name})" if self.name else "")


@dataclass(frozen=True)
class Blame:
    """The events between the time a thread was due and the time it ran.

    Times are in seconds of the trace's clock. `woken` is when the kernel made the thread ready,
    None if the trace does not show it; `occupants` held the CPU in [due, ran), longest first.
    """

    thread: str
    pid: int
    cpu: int
    due: float
    woken: float | None
    ran: float
    occupants: tuple[Occupant, ...]

    @property
    def culprit(self) -> Occupant | None:
        """Who held the CPU longest; None if the thread ran at once."""
        return self.occupants[0] if self.occupants else None

    @property
    def sentence(self) -> str:
        """One sentence for a report: who had the processor, in microseconds."""
        whole = self.ran - self.due
        if self.culprit is None:
            return f"{self.thread} (pid {self.pid}) ran on CPU {self.cpu} as soon as it was due"
        who = self.culprit
        text = (
            f"of the {_us(whole)} from due to running on CPU {self.cpu}, "
            f"{_us(who.seconds)} went to {who.description}"
        )
        others = [
            f"{_us(occupant.seconds)} to {occupant.description}"
            for occupant in self.occupants[1:4]
            if occupant.seconds >= 0.02 * whole
        ]
        text += "".join(f", {other}" for other in others)
        if self.woken is None:
            return text + "; the trace does not show when it was made ready"
        ready = max(self.woken - self.due, 0.0)
        return text + f"; it was made ready {_us(ready)} after it was due"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} µs"


def marks(events: Iterable[Event]) -> list[Event]:
    """Text that programs wrote to trace_marker, without the kernel's prefix."""
    return [event for event in events if event.name in MARKS]


def blame(
    events: Sequence[Event],
    thread: int | str,
    *,
    latency_s: float | None = None,
    due_s: float | None = None,
    until_s: float | None = None,
) -> Blame | None:
    """Who held the CPU from the time `thread` (pid or name) was due until it ran.

    `due_s` is the due time on the trace's clock; by default it is `latency_s` before the thread
    began to run, or else the time it was made ready. The last start before `until_s` counts. None
    if the trace does not show the thread running, or not since it was due.
    """
    ran = None
    for event in events:
        if until_s is not None and event.time > until_s:
            break
        if event.name == LOST and ran is not None and event.cpu == ran.cpu:
            ran = None  # it may have begun to run again among them
        if event.name == "sched_switch":
            match = SWITCH.search(event.text)
            if match and thread in (int(match["next_pid"]), match["next"]):
                ran, name, pid = event, match["next"], int(match["next_pid"])
    if ran is None or (due_s is not None and ran.time < due_s - _STEP_S):
        return None
    before = [event for event in events if event.time <= ran.time]
    earliest = None if due_s is None and latency_s is None else due_s
    if earliest is None and latency_s is not None:
        earliest = ran.time - latency_s
    woken = _woken(before, pid, earliest)
    due = earliest if earliest is not None else woken if woken is not None else ran.time
    return Blame(
        thread=name,
        pid=pid,
        cpu=ran.cpu,
        due=due,
        woken=woken,
        ran=ran.time,
        occupants=tuple(_occupants([e for e in before if e.cpu == ran.cpu], due, ran.time, pid)),
    )


def _woken(before: Sequence[Event], pid: int, earliest: float | None) -> float | None:
    """When the thread was last made ready before it ran: the first of waking and wake-up."""
    woken = None
    for event in reversed(before):
        if event.name == LOST and woken is None:
            return None  # the waking may be among them
        if event.name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            match = WAKE.search(event.text)
            if match and int(match["pid"]) == pid:
                woken = event.time
                if event.name != "sched_wakeup":
                    break
        elif woken is not None and event.name == "sched_switch":
            break  # a waking precedes its wake-up at once
    if woken is not None and earliest is not None and woken < earliest - 0.001:
        return None  # of an earlier period
    return woken


def _occupants(events: Sequence[Event], due: float, ran: float, pid: int) -> list[Occupant]:
    """Each occupant's time in [due, ran) on one CPU; interrupts stack on the interrupted."""
    spent: dict[Who, float] = {}
    above: list[Who] = []
    running = Who("unknown", "", 0)
    at = due
    for event in events:
        if event.name == LOST:
            gap = Who("lost", "", int(event.text or 0))
            _add(spent, gap, max(at, due), min(event.time, ran))
            at, running = max(at, event.time), Who("unknown", "", 0)
            above.clear()
            continue
        if running.kind == "unknown":
            begin = min(max(event.time, due), ran)
            _add(spent, running, at, begin)
            at = max(at, begin)
            running = _thread(event.task, event.pid)
        _add(spent, above[-1] if above else running, max(at, due), min(event.time, ran))
        at = max(at, event.time)
        entered = interrupt_of(event)
        if event.name == "sched_switch":
            match = SWITCH.search(event.text)
            if match:
                running = _thread(match["next"], int(match["next_pid"]))
                above.clear()  # the kernel does not switch threads inside an interrupt
        elif entered is not None and event.name.endswith("_entry"):
            above.append(entered)
        elif entered is not None:
            for depth in range(len(above) - 1, -1, -1):
                if (above[depth].kind, above[depth].number) == (entered.kind, entered.number):
                    del above[depth:]
                    break
    if not events:
        _add(spent, running, due, ran)
    return sorted(
        (
            Occupant(who.kind, who.name, who.number, seconds)
            for who, seconds in spent.items()
            if seconds > 0.0 and not (who.kind == "thread" and who.number == pid)
        ),
        key=lambda occupant: -occupant.seconds,
    )


def _add(spent: dict[Who, float], who: Who, begin: float, end: float) -> None:
    if end > begin:
        spent[who] = spent.get(who, 0.0) + end - begin


def _thread(name: str, pid: int) -> Who:
    return Who("idle", "", 0) if pid == 0 else Who("thread", name, pid)
