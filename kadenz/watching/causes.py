# SPDX-License-Identifier: Apache-2.0
"""Why jobs were late: what each spent above the usual, and with whom.

The time of a job is divided without a rest: its own execution, interrupts, waits, and who had the
processor while it was ready. What a job spends with somebody above the median of the jobs in time
is the excess; the cause of a late job is the largest excess.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from kadenz.watching.jobs import Job, Wait
from kadenz.watching.threads import MIGRATING, Holder
from kadenz.watching.units import MICROSECONDS, Unit

EXECUTION = "its own execution"
EXECUTION_FAULTS = "its own execution, with page faults"
EXECUTION_MIGRATED = "its own execution, after a migration"
_WAIT_IN = "waits in "


class Part(NamedTuple):
    """What a job spent ns with: the name of a cause, its detail, ns."""

    cause: str
    spent: int


@dataclass(frozen=True)
class Cause:
    """The cause of `count` late jobs of `late`; of these, `least`, `median` and `most` ns."""

    name: str
    count: int
    late: int
    least: int
    median: float
    most: int
    first_cycle: int
    last_cycle: int
    detail: str = ""  # of the longest one


def parts_of(job: Job) -> list[Part]:
    """The whole response by cause, largest first; the parts add up to it."""
    spent: dict[str, int] = {}
    for shares in (job.shares, job.interrupts):
        for holder, ns in shares.items():
            name = holder_name(holder)
            spent[name] = spent.get(name, 0) + ns
    for wait in job.waits:
        name = wait_name(wait)
        spent[name] = spent.get(name, 0) + wait.spent
    for place, ns in job.spins.items():
        spent[f"takes {place}"] = ns
    spent[EXECUTION] = job.executed - sum(job.spins.values())
    return sorted(
        (Part(name, ns) for name, ns in spent.items() if ns), key=lambda part: -part.spent
    )


def holder_name(holder: Holder) -> str:
    """ "thread hog", "interrupt virtio0", "idle: the processor woke up"."""
    who = holder.who
    if holder.who == MIGRATING:
        return "a migration to another processor"
    if who.kind == "idle":
        return "the processor was idle: it woke up"
    if who.kind in ("lost", "unknown"):
        return "unknown"
    name = f"{who.kind} {who.name or who.number}"
    return f"{name}, less urgent" if holder.less_urgent else name


def wait_name(wait: Wait) -> str:
    """ "waits in futex, a lock, for thread low"."""
    who = wait.waker
    by = f"{who.kind} {who.name or who.number}" if who.kind != "idle" else "an interrupt"
    return f"{_WAIT_IN}{wait.place or 'a call'}, for {by}"


def causes_of(jobs: Sequence[Job], deadline: float, unit: Unit = MICROSECONDS) -> list[Cause]:
    """The causes of the jobs whose response is above `deadline`, in ns; the most frequent first.
    `unit` is that of the details."""
    late = [job for job in jobs if job.response > deadline]
    in_time = [job for job in jobs if job.response <= deadline]
    usual = _usual(in_time)
    groups: dict[str, list[tuple[int, Job]]] = {}
    for job in late:
        name, excess = _main(job, usual, in_time)
        groups.setdefault(name, []).append((excess, job))
    causes = [_cause(name, group, len(late), unit) for name, group in groups.items()]
    return sorted(causes, key=lambda cause: (-cause.count, -cause.median))


def _usual(jobs: Iterable[Job]) -> dict[str, float]:
    """The median that jobs spend with each; 0 with whom most spend nothing."""
    parts = [dict(parts_of(job)) for job in jobs]
    names = {name for each in parts for name in each}
    return {name: median([each.get(name, 0) for each in parts]) for name in names}


def _main(job: Job, usual: dict[str, float], in_time: Sequence[Job]) -> tuple[str, int]:
    excesses = [(part.spent - usual.get(part.cause, 0.0), part.cause) for part in parts_of(job)]
    excess, name = max(excesses)
    if name == EXECUTION:
        faults = median([each.faults for each in in_time] or [0])
        migrations = median([each.migrations for each in in_time] or [0])
        if job.faults > faults:
            name = EXECUTION_FAULTS
        elif job.migrations > migrations:
            name = EXECUTION_MIGRATED
    return name, round(excess)


def _cause(name: str, group: Sequence[tuple[int, Job]], late: int, unit: Unit) -> Cause:
    spent = [excess for excess, _ in group]
    cycles = [job.cycle for _, job in group]
    longest = max(group, key=lambda entry: entry[0])[1]
    return Cause(
        name=name,
        count=len(group),
        late=late,
        least=min(spent),
        median=median(spent),
        most=max(spent),
        first_cycle=max(0, min(cycles)),
        last_cycle=max(0, *cycles),
        detail=_detail(name, longest, unit),
    )


def _detail(name: str, job: Job, unit: Unit) -> str:
    """What the trace shows beside: page faults, or who executed while the job waited."""
    if name == EXECUTION_FAULTS:
        return f"{job.faults:,} page fault{'s' if job.faults != 1 else ''}"
    waits = [wait for wait in job.waits if wait_name(wait) == name]
    if not waits:
        return ""
    wait = max(waits, key=lambda each: each.spent)
    shares = sorted(wait.holders.items(), key=lambda entry: -entry[1])
    named = [f"{_holder_in_wait(holder)} {unit.whole(ns)}" for holder, ns in shares[:3]]
    return f"meanwhile on that processor {', '.join(named)}" if named else ""


def _holder_in_wait(holder: Holder) -> str:
    who = holder.who
    return "idle" if who.kind == "idle" else holder_name(Holder(who))
