# SPDX-License-Identifier: Apache-2.0
"""From events to stints: what a thread did from a wake-up until it slept again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kadenz.ftrace import Who
from kadenz.watching.events import (
    REAL_TIME,
    Call,
    End,
    Enter,
    Fault,
    Happening,
    Loss,
    Migration,
    Start,
    Switch,
    Wake,
    is_lock,
)
from kadenz.watching.processors import IDLE, UNKNOWN, Processor, Processors

State = Literal["unknown", "asleep", "ready", "running"]
MIGRATING = Who("unknown", "migration", 0)
_STOPPER = "migration/"  # the kernel's thread that moves a running thread away
_IN_KERNEL = "the kernel"  # asleep outside of the system calls of events.CALLS


class Holder(NamedTuple):
    """Who had the processor instead; `less_urgent` than the thread that waited."""

    who: Who
    less_urgent: bool = False


Shares = dict[Holder, int]  # ns of each


class Gap(NamedTuple):
    """Events of a processor that were lost in [begin, end); `lost` 0: not known how many."""

    cpu: int
    begin: int
    end: int
    lost: int


@dataclass
class Stint:
    """From a wake-up to the next sleep; times in ns.

    `place` is where the thread slept before, `next_place` where it sleeps then; `shares` who had
    the processor while it was ready; `interrupts` who interrupted it, each in [wake, end).
    `holders`: who had the waker's processor while the thread slept before.
    """

    slept: int | None
    place: str
    wake: int
    waker: Who
    start: int = -1
    end: int = -1
    next_place: str = ""
    ended: bool = False  # the thread ended, and does not sleep
    unseen: bool = False  # its start was not recorded: `start` is that of the next event
    executed: int = 0
    shares: Shares = field(default_factory=dict)
    interrupts: Shares = field(default_factory=dict)
    holders: Shares = field(default_factory=dict)
    spins: dict[str, int] = field(default_factory=dict)  # ns executed inside calls for locks
    faults: int = 0
    migrations: int = 0
    preemptions: int = 0
    handled: int = 0  # interrupts inside
    cpu: int = -1  # where it began
    events: int = 0  # recorded on its processor meanwhile; 0: not on one processor


@dataclass
class Thread:
    """A thread with the stints that are kept."""

    pid: int
    name: str = ""
    parent: int = 0
    priority: int = REAL_TIME
    woken_at: Counter[int] = field(default_factory=Counter)  # wake-ups by its priority then
    state: State = "unknown"
    cpu: int = 0
    since: int = 0
    moved: bool = False  # in this phase, to another processor
    call: str = ""
    slept: int | None = None
    place: str = ""
    stint: Stint | None = None
    counted: int = -1  # events of its processor, at the wake-up; -1: it began elsewhere
    ended: bool = False
    stints: list[Stint] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)  # in which a stint of it was lost
    missing: Counter[str] = field(default_factory=Counter)  # switches, by the thread before

    def lose_track(self) -> None:
        """What it does is known again from its next event."""
        self.state, self.stint, self.slept, self.call = "unknown", None, None, ""

    @property
    def real_time(self) -> bool:
        """Whether it was real-time in most of its wake-ups: not by inheritance alone."""
        return self.usual_priority < REAL_TIME

    @property
    def usual_priority(self) -> int:
        """The priority of most of its wake-ups."""
        return self.woken_at.most_common(1)[0][0] if self.woken_at else self.priority


@dataclass
class Observed:
    """All that the events show."""

    threads: dict[int, Thread] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    events: int = 0
    first: int = 0
    last: int = 0
    has_calls: bool = False
    cpus: int = 0

    @property
    def seconds(self) -> float:
        """From the first event to the last."""
        return (self.last - self.first) / 1e9


class Observer:
    """Takes events in the order of their times. `kept` says whose stints are kept."""

    def __init__(self, kept: Callable[[Thread], bool]) -> None:
        self.seen = Observed()
        self._kept = kept
        self._processors = Processors()

    def observe(self, events: Iterable[Happening]) -> Observed:
        """Takes all events of a stream."""
        for event in events:
            self.take(event)
        self.seen.cpus = len(self._processors.all)
        return self.seen

    def take(self, event: Happening) -> None:
        """Takes one event behind the others."""
        seen = self.seen
        if not seen.events:
            seen.first = event.at
        seen.events += 1
        if event.at < seen.last:  # clocks of processors differ, or the file is damaged
            event = event._replace(at=seen.last)
        seen.last = event.at
        here = self._processors.of(event.cpu, event.at)
        before = here.seen
        if here.is_behind(event):
            self._miss(event, here)
        self._processors.take(event)
        if isinstance(event, Switch):
            self._switch(event, here)
        elif isinstance(event, Wake):
            self._wake(event, here)
        elif isinstance(event, Call):
            seen.has_calls = True
            self._call(event, here)
        elif isinstance(event, Enter | Fault):
            self._count(event)
        elif isinstance(event, Loss):
            seen.gaps.append(Gap(event.cpu, before, event.at, event.lost))
            self._lose()
        else:
            self._rare(event)

    def _call(self, event: Call, here: Processor) -> None:
        """Charges what the thread executes inside a call for a lock to the lock: the lock is taken
        at once, or the kernel spins for its holder."""
        thread = self._thread(event.current)
        takes_lock = is_lock(thread.call) or is_lock(event.place)
        if takes_lock and thread.stint is not None and thread.state == "running":
            self._ran(thread, thread.stint, here, event.at)
            thread.since = event.at
        thread.call = event.place

    def _count(self, event: Enter | Fault) -> None:
        """An interrupt, or a page fault, while a thread runs."""
        thread = self._thread(event.current)
        if thread.stint is None or thread.state != "running":
            return
        if isinstance(event, Fault):
            thread.stint.faults += 1
        else:
            thread.stint.handled += 1

    def _rare(self, event: Happening) -> None:
        if isinstance(event, Migration):
            self._migrate(event)
        elif isinstance(event, Start):
            child = self.seen.threads[event.pid] = Thread(event.pid, event.name)
            child.parent = event.current
        elif isinstance(event, End):
            self._thread(event.pid).ended = True

    def _thread(self, pid: int) -> Thread:
        known = self.seen.threads.get(pid)
        if known is None:
            known = self.seen.threads[pid] = Thread(pid)
        return known

    def _lose(self) -> None:
        """Nothing spans a gap: what a thread does behind it is known from its next event."""
        for thread in self.seen.threads.values():
            thread.lose_track()

    def _miss(self, event: Happening, here: Processor) -> None:
        """The switch to the thread of `event` was not recorded."""
        before = here.thread.name or "the idle thread"
        for pid in filter(None, (here.thread.number, event.current)):
            thread = self._thread(pid)
            if self._kept(thread):
                thread.missing[before] += 1
            if pid == event.current and thread.state == "ready" and thread.stint is not None:
                self._resume(thread, thread.stint, event, here)
            else:
                self._lose_stint(thread, event, here)
        running = self._thread(event.current)
        running.state, running.since, running.cpu = "running", event.at, event.cpu

    def _resume(self, thread: Thread, stint: Stint, event: Happening, here: Processor) -> None:
        """A thread that was ready has the processor: since when, its last event does not say."""
        seen = min(max(thread.since, here.seen), event.at)
        self._waited(thread, here, seen, moves=thread.moved)
        unknown = Holder(UNKNOWN)
        stint.shares[unknown] = stint.shares.get(unknown, 0) + event.at - seen
        if stint.start < 0:
            stint.start, stint.cpu, stint.unseen = event.at, event.cpu, True
        thread.counted = -1

    def _lose_stint(self, thread: Thread, event: Happening, here: Processor) -> None:
        """A thread slept, or was woken, and where is not known."""
        if self._kept(thread):
            begin = thread.stint.wake if thread.stint is not None else here.seen
            thread.gaps.append(Gap(event.cpu, begin, event.at, 1))
        thread.lose_track()

    def _wake(self, event: Wake, here: Processor) -> None:
        thread = self._thread(event.pid)
        thread.name = event.name
        if thread.state == "ready":
            if event.queued and not thread.moved:
                thread.cpu = event.target
            return
        if thread.state == "running" or (thread.state == "unknown" and event.queued):
            return  # it has not slept, or its waking was not seen
        thread.priority = event.priority
        thread.woken_at[event.priority] += 1
        waker = here.who
        stint = Stint(thread.slept, thread.place, event.at, waker, cpu=event.target)
        if thread.slept is not None and waker.kind == "thread" and self._kept(thread):
            stint.holders = self._shares(here, thread.slept, event.at, thread)
        thread.stint = stint
        thread.state, thread.since, thread.cpu = "ready", event.at, event.target
        thread.counted = self._processors.of(event.target, event.at).events
        thread.moved = False

    def _migrate(self, event: Migration) -> None:
        thread = self._thread(event.pid)
        if thread.stint is not None:
            thread.stint.migrations += 1
        if thread.state == "ready":
            self._waited(thread, self._processors.of(thread.cpu, event.at), event.at, moves=True)
            thread.since, thread.cpu, thread.moved = event.at, event.target, True

    def _switch(self, event: Switch, here: Processor) -> None:
        if event.current:
            self._leaves(event, here)
        if event.next:
            self._comes(event, here)

    def _leaves(self, event: Switch, here: Processor) -> None:
        thread = self._thread(event.current)
        thread.name, thread.priority = event.previous_name, event.previous_priority
        stint = thread.stint
        runnable = event.state.startswith("R")
        if thread.state != "running":
            thread.stint = None  # its switch was not seen
        elif stint is not None:
            self._ran(thread, stint, here, event.at)
            if runnable:
                stint.preemptions += 1
            else:
                self._sleeps(thread, stint, here, event)
        thread.state = "ready" if runnable else "asleep"
        thread.since, thread.cpu, thread.moved = event.at, event.cpu, False
        if not runnable:
            thread.stint, thread.slept = None, event.at
            thread.place = thread.call or _IN_KERNEL

    def _sleeps(self, thread: Thread, stint: Stint, here: Processor, event: Switch) -> None:
        stint.end, stint.next_place = event.at, thread.call or _IN_KERNEL
        stint.ended = thread.ended
        if stint.cpu == event.cpu and thread.counted >= 0:
            stint.events = here.events - thread.counted
        if self._kept(thread):
            thread.stints.append(stint)

    def _comes(self, event: Switch, here: Processor) -> None:
        thread = self._thread(event.next)
        thread.name, thread.priority = event.name, event.priority
        stint = thread.stint
        if stint is not None and thread.state == "ready":
            self._waited(thread, here, event.at, moves=thread.moved)
            if stint.start < 0:
                if stint.cpu != event.cpu:
                    thread.counted = -1
                stint.start, stint.cpu = event.at, event.cpu
        else:
            thread.stint = None  # its wake-up, or its last switch, was not seen
        thread.state, thread.since, thread.cpu = "running", event.at, event.cpu

    def _waited(self, thread: Thread, there: Processor, at: int, *, moves: bool) -> None:
        """Charges the time in which a ready thread did not run to who had its processor; to the
        move, if it `moves` to another one and waits for nobody as urgent."""
        stint = thread.stint
        if stint is None or not self._kept(thread):
            return
        for holder, spent in self._shares(there, thread.since, at, thread).items():
            who = holder.who
            yields = holder.less_urgent or who == IDLE or who.name.startswith(_STOPPER)
            by_move = moves and yields
            charged = Holder(MIGRATING) if by_move else holder
            stint.shares[charged] = stint.shares.get(charged, 0) + spent

    def _shares(self, there: Processor, begin: int, end: int, waits: Thread) -> Shares:
        there.advance(end)
        shares: Shares = {}
        for span in there.between(begin, end):
            less_urgent = span.who.kind == "thread" and span.priority > waits.priority
            holder = Holder(span.who, less_urgent)
            shares[holder] = shares.get(holder, 0) + span.end - span.begin
        return shares

    def _ran(self, thread: Thread, stint: Stint, here: Processor, at: int) -> None:
        """Divides the time in which it had the processor into its own and that of interrupts."""
        if not self._kept(thread):
            return
        for span in here.between(thread.since, at):
            spent = span.end - span.begin
            if span.who.kind in ("interrupt", "soft interrupt"):
                holder = Holder(span.who)
                stint.interrupts[holder] = stint.interrupts.get(holder, 0) + spent
            elif is_lock(thread.call):
                stint.spins[thread.call] = stint.spins.get(thread.call, 0) + spent
            else:
                stint.executed += spent
