# SPDX-License-Identifier: Apache-2.0
"""Figures of a watch that goes on, a line for each thread as in cyclictest, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kadenz.errors import UsageError
from kadenz.watching.describing import losses
from kadenz.watching.events import REAL_TIME, Happening
from kadenz.watching.judging import Given, Judged, judge
from kadenz.watching.selection import Selection
from kadenz.watching.threads import Observer

_STINTS = 2048  # of each thread that are kept: its period and its releases are from these
_GAPS = 64
_THREADS = 4096  # of which ended ones are forgotten above


@dataclass
class Tally:
    """The jobs of a thread so far; latencies in ns."""

    label: str
    pid: int
    priority: int
    period_ns: float | None = None
    jobs: int = 0
    least: int = 0
    last: int = 0
    total: int = 0
    most: int = 0
    late: int = 0
    until: int = -1  # the release of the last job that was counted

    def take(self, of: Judged) -> None:
        """Adds the jobs behind those that were counted."""
        self.period_ns, self.priority = of.period_ns, of.thread.priority
        for job in of.thread.jobs:
            if job.release <= self.until:
                continue
            self.least = min(self.least, job.latency) if self.jobs else job.latency
            self.jobs += 1
            self.last, self.until = job.latency, job.release
            self.total += job.latency
            self.most = max(self.most, job.latency)
            if of.deadline_ns is not None:
                self.late += job.response > of.deadline_ns

    @property
    def line(self) -> str:
        """Its figures, in µs."""
        policy = f"P:{REAL_TIME - 1 - self.priority:3d}" if self.priority < REAL_TIME else "P:  -"
        period = f"{self.period_ns / 1e3:9,.0f}" if self.period_ns else "        -"
        mean = self.total / self.jobs if self.jobs else 0.0
        figures = (
            f"{title}:{value / 1e3:9,.1f}"
            for title, value in (
                ("Min", self.least),
                ("Act", self.last),
                ("Avg", mean),
                ("Max", self.most),
            )
        )
        head = f"T: {self.pid:>7} {self.label[:15]:<15} {policy} I:{period} C:{self.jobs:9,}"
        return f"{head} {' '.join(figures)} Late:{self.late:7,}"


class LiveFigures:
    """Takes events piece by piece. `periods` and `deadlines` as in the report."""

    def __init__(
        self, selection: Selection, periods: Sequence[Given], deadlines: Sequence[Given]
    ) -> None:
        self._selection, self._periods, self._deadlines = selection, periods, deadlines
        self._observer = Observer(selection.keeps)
        self._tallies: dict[int, Tally] = {}

    def take(self, events: Iterable[Happening]) -> None:
        """Adds the next events, and the jobs that they end."""
        for event in events:
            self._observer.take(event)
        for each in self._judged():
            tally = self._tallies.get(each.thread.pid)
            if tally is None:
                tally = Tally(each.label, each.thread.pid, each.thread.priority)
                self._tallies[each.thread.pid] = tally
            tally.take(each)
        self._forget()

    @property
    def lines(self) -> list[str]:
        """What was seen, and a line for each thread with a job."""
        seen = self._observer.seen
        gaps = ", {} lost in {}".format(*losses(seen.gaps)) if seen.gaps else ""
        head = f"{seen.seconds:,.1f} s, {seen.events:,} events{gaps}; latencies in µs"
        return [head, *(tally.line for tally in self._tallies.values() if tally.jobs)]

    def _judged(self) -> list[Judged]:
        try:
            return judge(self._observer.seen, self._selection, self._periods, self._deadlines)
        except UsageError:  # a period or deadline of a thread that is still to come
            return judge(self._observer.seen, self._selection)

    def _forget(self) -> None:
        """Bounds the memory of the past."""
        seen = self._observer.seen
        for thread in seen.threads.values():
            del thread.stints[:-_STINTS], thread.gaps[:-_GAPS]
        if len(seen.threads) > _THREADS:
            for pid in [pid for pid, thread in seen.threads.items() if thread.ended]:
                del seen.threads[pid]
