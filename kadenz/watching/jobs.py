# SPDX-License-Identifier: Apache-2.0
"""From stints to jobs: where a thread waits for its releases, its period, what each job took.

A job begins with the wake-up from the place where the thread waits for its releases, and ends when
the thread sleeps there again. A sleep elsewhere is a wait inside the job.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kadenz.ftrace import Who
from kadenz.stats.errors import Undefined
from kadenz.stats.release_period import (
    FEWEST,
    ReleasePeriod,
    release_cycles,
    release_period,
)
from kadenz.watching.threads import Gap, Observed, Shares, Stint, Thread

_RARE = 0.05  # of the wake-ups: a place where a thread rarely waits is not that of its releases
_TIMER = ("timer", "hrtimer")


class Wait(NamedTuple):
    """A sleep inside a job, of `spent` ns: where, who ended it, who executed there meanwhile."""

    place: str
    waker: Who
    spent: int
    holders: Shares


@dataclass(frozen=True)
class Job:
    """One job; times in ns. `cycle` counts from 0, -1 without a period."""

    release: int
    start: int
    end: int
    executed: int  # inside calls for locks, too
    shares: Shares  # who had the processor while it was ready
    interrupts: Shares
    waits: tuple[Wait, ...]
    spins: dict[str, int]  # ns executed inside calls for locks
    faults: int
    migrations: int
    preemptions: int
    handled: int
    cpu: int
    events: int
    cycle: int = -1

    @property
    def latency(self) -> int:
        """From the release to the first instruction."""
        return self.start - self.release

    @property
    def response(self) -> int:
        """From the release to the end."""
        return self.end - self.release


class Gaps:
    """When a thread was not seen, ns."""

    def __init__(self, gaps: Sequence[Gap]) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        for gap in sorted(gaps, key=lambda each: each.begin):
            if self._ends and gap.begin <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], gap.end)
            else:
                self._begins.append(gap.begin)
                self._ends.append(gap.end)

    def touch(self, begin: int, end: int) -> bool:
        """Whether one of them touches [begin, end)."""
        behind = bisect_right(self._ends, begin)
        return behind < len(self._ends) and self._begins[behind] < end


class Release(NamedTuple):
    """How a thread is released: where it sleeps, and what wakes it there."""

    place: str
    waker: str


@dataclass(frozen=True)
class Watched:
    """A thread with its jobs. `cut`: jobs that a gap touches, or whose end was not seen. `missed`:
    cycles without a release of their own; `not_measured`: cycles in gaps."""

    pid: int
    name: str
    priority: int
    release: Release
    period: ReleasePeriod | None
    no_period: str
    jobs: list[Job] = field(default_factory=list)
    cut: int = 0
    missed: int = 0
    not_measured: int = 0
    ended: bool = False

    def period_ns(self, given: float | None) -> float | None:
        """The period that is asked for, else its own; None without one."""
        return given or (self.period.period if self.period is not None else None)


def watched(thread: Thread, observed: Observed, given_period: float | None = None) -> Watched:
    """The jobs of a thread. `given_period` in ns replaces the one that its releases show."""
    releases = _by_release(thread.stints, observed.has_calls)
    release, period, why = _release_of(releases, len(thread.stints))
    grouped = _grouped(thread.stints, release, observed.has_calls)
    gaps = Gaps([*observed.gaps, *thread.gaps])
    jobs = [job for stints in grouped if (job := _job(stints, release, observed, gaps))]
    result = Watched(
        pid=thread.pid,
        name=thread.name,
        priority=thread.usual_priority,
        release=release,
        period=period,
        no_period=why,
        jobs=jobs,
        cut=len(grouped) - len(jobs),
        ended=thread.ended,
    )
    length = result.period_ns(given_period)
    if length is None:
        return result
    wakes = np.asarray([stints[0].wake for stints in grouped], dtype=np.int64)
    return _numbered(result, wakes, length, gaps)


def _by_release(stints: Sequence[Stint], has_calls: bool) -> dict[Release, list[int]]:
    """The times of the wake-ups of each kind."""
    times: dict[Release, list[int]] = {}
    for stint in stints:
        if stint.slept is not None:
            times.setdefault(_kind(stint, has_calls), []).append(stint.wake)
    return times


def _kind(stint: Stint, has_calls: bool) -> Release:
    """Without system calls in the trace, who wakes a thread stands for where it slept."""
    return Release(stint.place, "") if has_calls else Release("", waker_of(stint.waker))


def waker_of(who: Who) -> str:
    """Who woke: "a timer", "interrupt 24 (virtio0)", "the thread logger"."""
    if who.kind == "thread":
        return f"thread {who.name or who.number}"
    if who.kind in ("interrupt", "soft interrupt"):
        if any(word in who.name.lower() for word in _TIMER):
            return "a timer"
        return f"interrupt {who.name or who.number}"
    return "an interrupt"  # no events of interrupts: an idle processor wakes nobody by itself


def _release_of(
    times: dict[Release, list[int]], wakes: int
) -> tuple[Release, ReleasePeriod | None, str]:
    """The kind of the releases: a periodic one, timers before threads, then the most frequent."""
    if not times:
        return Release("", ""), None, "no wake-up was seen whose sleep was seen, too"
    periods: dict[Release, ReleasePeriod] = {}
    reasons: dict[Release, str] = {}
    for kind, moments in times.items():
        if len(moments) < max(FEWEST, _RARE * wakes):
            reasons[kind] = f"{len(moments):,} releases, {FEWEST} are needed"
            continue
        try:
            periods[kind] = release_period(moments)
        except Undefined as error:
            reasons[kind] = error.reason
    most = max(times, key=lambda kind: len(times[kind]))
    if not periods:
        return most, None, reasons[most]
    best = min(periods, key=lambda kind: (_rank(kind), -len(times[kind])))
    return best, periods[best], ""


def _rank(kind: Release) -> int:
    """Sleeps of timers first, locks last: a wait inside a job may have the period of the job."""
    text = f"{kind.place} {kind.waker}"
    if "sleep" in text or "timer" in text:
        return 0
    if "lock" in text or kind.place == "the kernel":
        return 3
    return 2 if kind.waker.startswith("thread") or "futex" in text else 1


def _grouped(stints: Sequence[Stint], release: Release, has_calls: bool) -> list[list[Stint]]:
    """The stints of each job, the first of which a release began."""
    grouped: list[list[Stint]] = []
    for stint in stints:
        if stint.slept is not None and _kind(stint, has_calls) == release:
            grouped.append([stint])
        elif grouped and stint.slept == grouped[-1][-1].end:
            grouped[-1].append(stint)
    if grouped and not has_calls and len(grouped[-1]) >= 1 and len({*map(len, grouped)}) > 1:
        grouped.pop()  # what the thread waits for at last is not known
    return grouped


def _job(stints: Sequence[Stint], release: Release, observed: Observed, gaps: Gaps) -> Job | None:
    """None if its start or its end was not seen, or a gap touches it."""
    first, last = stints[0], stints[-1]
    whole = not (last.ended or first.unseen) and (
        not observed.has_calls or last.next_place == release.place
    )
    if not whole or gaps.touch(first.wake, last.end):
        return None
    shares: Shares = {}
    interrupts: Shares = {}
    spins: dict[str, int] = {}
    for stint in stints:
        for place, spent in stint.spins.items():
            spins[place] = spins.get(place, 0) + spent
        for into, parts in ((shares, stint.shares), (interrupts, stint.interrupts)):
            for holder, spent in parts.items():
                into[holder] = into.get(holder, 0) + spent
    waits = tuple(
        Wait(stint.place, stint.waker, stint.wake - stint.slept, stint.holders)
        for stint in stints[1:]
        if stint.slept is not None
    )
    return Job(
        release=first.wake,
        start=first.start,
        end=last.end,
        executed=sum(stint.executed for stint in stints) + sum(spins.values()),
        shares=shares,
        interrupts=interrupts,
        waits=waits,
        spins=spins,
        faults=sum(stint.faults for stint in stints),
        migrations=sum(stint.migrations for stint in stints),
        preemptions=sum(stint.preemptions for stint in stints),
        handled=sum(stint.handled for stint in stints),
        cpu=first.cpu,
        events=sum(stint.events for stint in stints),
    )


def _numbered(of: Watched, wakes: npt.NDArray[np.int64], period: float, gaps: Gaps) -> Watched:
    """Gives each job its cycle. Cycles in a gap are not measured; the others without a release are
    missed."""
    cycles = release_cycles(wakes, period)
    number = {int(wake): int(cycle) for wake, cycle in zip(wakes, cycles, strict=True)}
    released = {job.release for job in of.jobs}
    missed = unknown = 0
    skipped: dict[int, int] = {}  # cycles before a release that have no number
    for i, wake in enumerate(wakes.tolist()):
        if i:
            lacking = int(cycles[i] - cycles[i - 1]) - 1
            if lacking and gaps.touch(int(wakes[i - 1]), wake):
                unknown += lacking
            else:
                missed += lacking
        skipped[wake] = unknown
        if wake not in released:
            unknown += 1
    jobs = [
        Job(**{**vars(job), "cycle": number[job.release] - skipped[job.release]}) for job in of.jobs
    ]
    return Watched(**{**vars(of), "jobs": jobs, "missed": missed, "not_measured": unknown})
