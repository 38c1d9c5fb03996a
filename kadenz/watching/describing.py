# SPDX-License-Identifier: Apache-2.0
"""A thread of a watch in sentences, and the warnings of a recording."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.config.manifest import Warning  # noqa: A004
from kadenz.stats.plain import plain
from kadenz.watching.causes import parts_of
from kadenz.watching.events import REAL_TIME
from kadenz.watching.jobs import Watched
from kadenz.watching.judging import Judged
from kadenz.watching.overhead import Overhead
from kadenz.watching.threads import Gap, Observed
from kadenz.watching.units import Unit

_PARTS = 4  # of the longest job that are named


def policy(priority: int) -> str:
    """The kernel's priority as sched(7) has it: "real-time, priority 80", "deadline"."""
    if priority < 0:
        return "SCHED_DEADLINE"
    if priority < REAL_TIME:
        return f"real-time, priority {REAL_TIME - 1 - priority}"
    return f"not real-time, nice {priority - 120}"


def release(thread: Watched) -> str:
    """Where it waits: "released from clock_nanosleep"."""
    if thread.release.place:
        return f"released from {thread.release.place}"
    return f"released by {thread.release.waker or 'nobody'}"


def evidence(of: Judged) -> str:
    """The period, and what it rests on."""
    seen, name, ns = of.thread.period, of.unit.name, of.unit.ns
    if of.period_given and of.period_ns:
        given = f"period {of.period_ns / ns:,.9g} {name}, given"
        return (
            given if seen is None else f"{given}; its releases show {seen.period / ns:,.9g} {name}"
        )
    if seen is None:
        return f"no period: {of.thread.no_period}"
    return (
        f"period {seen.period / ns:,.9g} {name}: {seen.on_grid:,} of {seen.intervals:,} intervals "
        f"are whole periods, {seen.close:,} one period to 1 %"
    )


def longest(of: Judged) -> str:
    """The longest job by its parts: "412 µs: 350 µs thread hog, 62 µs its own execution"."""
    if not of.thread.jobs:
        return ""
    job = max(of.thread.jobs, key=lambda each: each.response)
    parts = parts_of(job)
    text = of.unit.text
    named = [f"{text(part.spent)} {part.cause}" for part in parts[:_PARTS]]
    rest = sum(part.spent for part in parts[_PARTS:])
    named += [f"{text(rest)} others"] if rest else []
    return f"{text(job.response)}: {', '.join(named)}"


def cost_words(cost: Overhead, observed: Observed, unit: Unit) -> str:
    """What recording cost: per event, and of the processors' time."""
    rate = observed.events / observed.seconds if observed.seconds else 0.0
    share = rate * cost.event_ns / 1e9 / max(1, observed.cpus)
    spread = f" ({cost.least_ns:,.0f} to {cost.most_ns:,.0f})"
    return (
        f"recording an event costs {cost.event_ns:,.0f} {unit.tick}"
        f"{spread if cost.least_ns < cost.most_ns else ''}; {rate:,.0f} events/s are "
        f"{plain(100 * share, 2)} % of the processor{'s' if observed.cpus > 1 else ''}"
    )


def cost_of_live(seconds: float, observed: Observed) -> str:
    """What the figures cost that were shown meanwhile."""
    share = seconds / observed.seconds if observed.seconds else 0.0
    return (
        f"the figures meanwhile took {seconds:.2f} s of processor time, {plain(100 * share, 2)} % "
        "of one processor, at nice 19"
    )


def cost_of_job(of: Judged, cost: Overhead) -> str:
    """ "14 events in a median job: 3 µs of its response"; "" if not known."""
    counts = sorted(job.events for job in of.thread.jobs if job.events)
    if not counts:
        return ""
    middle = counts[len(counts) // 2]
    spent = of.unit.text(middle * cost.event_ns)
    return f"{of.label}: {middle:,} events in a median job, {spent} of its response"


def losses(gaps: Sequence[Gap]) -> tuple[str, str]:
    """How many events were lost, where that is known, and in how many gaps."""
    known = all(gap.lost for gap in gaps)
    number = f"{sum(gap.lost for gap in gaps):,} events" if known else "events"
    return number, f"{len(gaps):,} gap{'s' if len(gaps) > 1 else ''}"


def warnings(
    observed: Observed, judged: Sequence[Judged], lacking: Sequence[str], full: str
) -> list[Warning]:
    """What a reader must know: gaps, jobs that were cut, events that the kernel lacks."""
    remarks = []
    if observed.gaps:
        number, places = losses(observed.gaps)
        spent = sum(gap.end - gap.begin for gap in observed.gaps) / 1e6
        remarks.append(
            Warning(
                code="lost-events",
                message=f"{number} were lost in {places} of {spent:,.1f} ms in all: jobs that a "
                "gap touches are not judged",
                remedy="Watch with less load, or record fewer events",
            )
        )
    remarks += [
        Warning(
            code="switches-missing",
            message=f"{each.label}: the kernel did not record {missing.total():,} switch"
            f"{'es' if missing.total() > 1 else ''}, most from {missing.most_common(1)[0][0]}: "
            "jobs whose start or end one of them was are not judged",
        )
        for each in judged
        if (missing := observed.threads[each.thread.pid].missing)
    ]
    if lacking:
        remarks.append(
            Warning(
                code="events-lacking",
                message=f"this kernel has no events {', '.join(lacking)}: what they show is "
                "missing",
            )
        )
    if full:
        remarks.append(Warning(code="recording-full", message=full, remedy="Use --for SECONDS"))
    remarks += [
        Warning(
            code="jobs-cut",
            message=f"{each.label}: of {each.thread.cut:,} job{'s' if each.thread.cut > 1 else ''} "
            "the start or the end was not seen",
            remedy="The thread ended, a gap came, a switch is missing, or the recording ended",
        )
        for each in judged
        if each.thread.cut > 1
    ]
    return remarks
