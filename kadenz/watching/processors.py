# SPDX-License-Identifier: Apache-2.0
"""Who had each processor, and when: threads, and the interrupts that stack on them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kadenz.ftrace import Who
from kadenz.watching.events import Enter, Happening, Leave, Loss, Switch

KEPT = 1 << 15  # spans of each processor that are kept: those that a job asks for are close behind
IDLE = Who("idle", "", 0)
UNKNOWN = Who("unknown", "", 0)
LOST = Who("lost", "", 0)


class Span(NamedTuple):
    """`who` had the processor in [begin, end); `priority` the kernel's, of a thread."""

    begin: int
    end: int
    who: Who
    priority: int


@dataclass
class Processor:
    """One processor. Its spans follow each other without a gap, as far as they are kept."""

    at: int
    thread: Who = UNKNOWN
    priority: int = 0
    events: int = 0
    seen: int = 0  # its last event
    interrupts: list[Who] = field(default_factory=list)
    spans: deque[Span] = field(default_factory=lambda: deque(maxlen=KEPT))

    @property
    def who(self) -> Who:
        """Who has it now."""
        return self.interrupts[-1] if self.interrupts else self.thread

    def is_behind(self, event: Happening) -> bool:
        """Whether another thread has it than the last switch said: the next one is missing."""
        known = self.thread.kind != "unknown" and not isinstance(event, Loss)
        return known and self.thread.number != event.current

    def advance(self, at: int, who: Who | None = None) -> None:
        """Ends the span of who has it now."""
        if at > self.at:
            self.spans.append(Span(self.at, at, who or self.who, self.priority))
            self.at = at

    def between(self, begin: int, end: int) -> Iterator[Span]:
        """The spans in [begin, end), cut to it, latest first; unknown where none is kept."""
        last = min(end, self.at)
        for span in reversed(self.spans):
            if span.end <= begin:
                return
            if span.begin < end:
                last = max(span.begin, begin)
                yield Span(last, min(span.end, end), span.who, span.priority)
        if last > begin:
            yield Span(begin, last, UNKNOWN, 0)


class Processors:
    """All processors, from the events in their order."""

    def __init__(self) -> None:
        self.all: dict[int, Processor] = {}
        self._first: int | None = None

    def of(self, cpu: int, at: int) -> Processor:
        """A processor; all are known from the first event on."""
        known = self.all.get(cpu)
        if known is None:
            self._first = at if self._first is None else self._first
            known = self.all[cpu] = Processor(self._first, seen=at)
        return known

    def take(self, event: Happening) -> Processor:
        """Brings the event's processor to the time of the event, and behind it."""
        here = self.of(event.cpu, event.at)
        here.events += 1
        here.seen = event.at
        if isinstance(event, Loss):
            here.advance(event.at, LOST)
            here.thread, here.interrupts = UNKNOWN, []
            return here
        if here.is_behind(event):
            here.advance(event.at, UNKNOWN)
            here.thread, here.priority, here.interrupts = UNKNOWN, 0, []
        if here.thread.kind == "unknown":  # since the trace or the gap: its switch was not seen
            name = event.previous_name if isinstance(event, Switch) else ""
            here.thread = thread(event.current, name)
        here.advance(event.at)
        if isinstance(event, Switch):
            here.thread = thread(event.next, event.name)
            here.priority = event.priority
            here.interrupts.clear()  # the kernel does not switch threads inside an interrupt
        elif isinstance(event, Enter):
            here.interrupts.append(event.who)
        elif isinstance(event, Leave):
            _leave(here.interrupts, event.who)
        return here


def thread(pid: int, name: str) -> Who:
    """A thread; the idle one of each processor is no thread."""
    return Who("thread", name, pid) if pid else IDLE


def _leave(interrupts: list[Who], who: Who) -> None:
    for depth in range(len(interrupts) - 1, -1, -1):
        if (interrupts[depth].kind, interrupts[depth].number) == (who.kind, who.number):
            del interrupts[depth:]
            return
