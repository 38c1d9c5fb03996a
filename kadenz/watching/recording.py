# SPDX-License-Identifier: Apache-2.0
"""A watch becomes a run: three records for each thread, and an event for each cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from kadenz import __version__
from kadenz.config.manifest import (
    SCHEMA_VERSION,
    CampaignEntry,
    DeadlineEntry,
    EventEntry,
    LaneEntry,
    Manifest,
    Nature,
    ProofEntry,
    RecordEntry,
    Warning,  # noqa: A004
)
from kadenz.images.provenance import describe
from kadenz.store import RunWriter
from kadenz.watching.jobs import Job
from kadenz.watching.judging import Judged
from kadenz.watching.machines import Machine

_FIRST_RECORD = 10  # the first point of a plan
_LANE = "job"
_MOST_U4 = (1 << 32) - 1


@dataclass(frozen=True)
class Source:
    """What was watched: `title` in words, `recording` the file's name or "" without one.
    `console`: what a program in a guest wrote."""

    title: str
    ended: str
    recording: str
    machine: Machine
    warnings: Sequence[Warning]
    duration_s: float
    console: str = ""


@dataclass(frozen=True)
class _Quantity:
    """A figure of a job, with its end points."""

    name: str
    begins: str
    ends: str
    of: Callable[[Job], int]
    nature: Nature


_RELEASED = "the wake-up from the place where it waits for releases"
_QUANTITIES = (
    _Quantity("latency", _RELEASED, "its first instruction", lambda job: job.latency, "periodic"),
    _Quantity("response", _RELEASED, "it sleeps there again", lambda job: job.response, "span"),
    _Quantity(
        "execution",
        "its first instruction",
        "it sleeps again, without interrupts, preemptions and waits",
        lambda job: job.executed,
        "span",
    ),
)
# Companions of the response: what came with the job.
_COMPANIONS: tuple[tuple[str, Callable[[Job], int]], ...] = (
    ("cpu", lambda job: job.cpu),
    ("involuntary-switches", lambda job: job.preemptions),
    ("interrupts", lambda job: job.handled),
    ("migrations", lambda job: job.migrations),
    ("faults", lambda job: job.faults),
)


def bench_of(label: str, quantity: str) -> str:
    """The name of a thread's record."""
    return f"watch/{label}/{quantity}"


def record(judged: Sequence[Judged], source: Source, output: Path, name: str) -> Path:
    """Writes the run folder."""
    with RunWriter(output, _manifest(judged, source, name)) as writer:
        number = _FIRST_RECORD
        for each in judged:
            for quantity in _QUANTITIES:
                entry, lanes = _record(number, each, quantity, source)
                writer.open_record(entry)
                for lane, values in enumerate(lanes):
                    writer.append(number, lane, values.astype(entry.lanes[lane].dtype))
                writer.close_record(number)
                number += 1
        if source.console:
            writer.say(source.console)
        return writer.finish()


def _record(
    number: int, of: Judged, quantity: _Quantity, source: Source
) -> tuple[RecordEntry, list[np.ndarray]]:  # type: ignore[type-arg]
    jobs = of.thread.jobs
    periodic = of.period_ns is not None
    lanes = {_LANE: np.asarray([quantity.of(job) for job in jobs], dtype=np.float64)}
    if periodic:
        lanes[f"{_LANE}:cycle"] = np.asarray([job.cycle for job in jobs], dtype=np.float64)
    if quantity.name == "response":
        for kind, value in _COMPANIONS:
            lanes[f"{_LANE}:{kind}"] = np.asarray([value(job) for job in jobs], dtype=np.float64)
    largest = max((float(values.max()) for values in lanes.values() if values.size), default=0.0)
    dtype = "<u4" if largest <= _MOST_U4 else "<f8"
    has_deadline = of.deadline is not None and quantity.name == "response"
    counts_cycles = periodic and quantity.name != "execution"
    entry = RecordEntry(
        id=number,
        bench=bench_of(of.label, quantity.name),
        params={},
        ranks={},
        begins=quantity.begins,
        ends=quantity.ends,
        source="",
        status="ok" if jobs else "failed",
        reason="" if jobs else "no job was seen from its release to its end",
        unit="ticks",
        cold=0,
        drains=[],
        lanes=[_lane(lane, dtype, of, counted=counts_cycles) for lane in lanes] if jobs else [],
        proof=ProofEntry(checked=len(jobs), failed=0),
        deadline=DeadlineEntry(quantity=_written(of), origin="command line")
        if has_deadline
        else None,
        declared=quantity.nature if periodic else "span",
        duration_s=source.duration_s,
        value=source.machine.value,
    )
    return entry, list(lanes.values()) if jobs else []


def _written(of: Judged) -> str:
    assert of.deadline is not None
    return f"{of.deadline.number:g}{of.deadline.unit}"


def _lane(name: str, dtype: str, of: Judged, *, counted: bool) -> LaneEntry:
    """`counted`: with the cycles of the period that had no job."""
    jobs, thread = len(of.thread.jobs), of.thread
    kind = name.partition(":")[2]
    missed = thread.missed if counted and not kind else 0
    unseen = thread.not_measured if counted and not kind else 0
    return LaneEntry(
        name=name,
        file="",
        dtype=dtype,
        planned=jobs + missed + unseen,
        taken=0,
        missed=missed,
        overrun=0,
        not_measured=unseen,
        companion_of=_LANE if kind else "",
        unit={"": "", "cycle": "cycle", "cpu": "cpu"}.get(kind, "count"),
        period_us=of.period_ns / 1e3 if of.period_ns and counted and not kind else None,
    )


def _events(judged: Sequence[Judged]) -> list[EventEntry]:
    """The causes of late jobs, with the time that each took."""
    return [
        EventEntry(
            kind=f"{each.label}: {_plain(cause.name)}, {{}} {each.unit.name}",
            reaction="late",
            count=cause.count,
            first_cycle=cause.first_cycle,
            last_cycle=cause.last_cycle,
            least=[f"{cause.least / each.unit.ns:.0f}"],
            greatest=[f"{cause.most / each.unit.ns:.0f}"],
        )
        for each in judged
        for cause in each.causes
    ]


def _plain(text: str) -> str:
    """Names of threads may have braces, which are places of numbers here."""
    return text.replace("{", "(").replace("}", ")")


def _manifest(judged: Sequence[Judged], source: Source, name: str) -> Manifest:
    now, machine = datetime.now(UTC), source.machine
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version=__version__,
        kadenz_describe=describe(Path(__file__)),
        id=f"{now:%Y%m%d-%H%M%S}-watch",
        created=now.isoformat(timespec="seconds"),
        duration_s=round(source.duration_s, 3),
        partial=False,
        partial_reason="",
        campaign=CampaignEntry(name="watch", file=source.recording, sha256="", quick=False),
        target=replace(
            machine.target,
            settings={"program": source.title, "ended": source.ended},
            title=f"{machine.target.title}: {source.title}",
        ),
        clock=machine.clock,
        build=machine.build,
        host=machine.host,
        emulator=machine.emulator,
        conditions=[*machine.conditions],
        loads=[*machine.loads],
        warnings=[*source.warnings, *machine.warnings],
        records=[],
        preflight=[*machine.preflight],
        events=_events(judged),
        name=name,
    )
