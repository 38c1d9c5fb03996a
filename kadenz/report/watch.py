# SPDX-License-Identifier: Apache-2.0
"""The threads of a watch: what their jobs took, and why some were late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kadenz.analysis import RecordResult, RunResult
from kadenz.report.table import Cell, Table, figure, text_cell, whole

_HEADS = "Thread |  | >Jobs | >Min | >Median | >p99.9 | >Max | >Late | >Without a job"
_CAUSE_HEADS = "Thread | Cause | >Late jobs | >Median {unit} | >Max {unit}"


@dataclass(frozen=True)
class CauseFacts:
    """A cause of `count` late jobs; ns above the usual, and what the trace shows beside."""

    name: str
    count: int
    median_ns: float
    most_ns: int
    detail: str


@dataclass(frozen=True)
class ThreadFacts:
    """What the records of a thread do not say. `benches`: its records by quantity."""

    name: str
    pid: int
    policy: str
    release: str
    evidence: str
    late: int
    missed: int
    not_measured: int
    benches: Mapping[str, str]
    causes: Sequence[CauseFacts]
    longest: str


def tables_of(
    result: RunResult, threads: Sequence[ThreadFacts], notes: Sequence[str]
) -> list[Table]:
    """The figures of each thread, and the causes of its late jobs."""
    records = {record.bench: record for record in result.records}
    rows = [row for thread in threads for row in _rows(thread, records)]
    unit = next(iter(records.values())).unit.label if records else "µs"
    figures = Table.headed(
        _HEADS,
        name="watch",
        title=f"Jobs of threads, in {unit}",
        rows=rows,
        notes=(*(line for thread in threads for line in _about(thread)), *notes),
    )
    causes = [
        (
            text_cell(f"{thread.name} {thread.pid}"),
            text_cell(cause.name),
            text_cell(f"{cause.count:,} of {thread.late:,}"),
            text_cell(_time(cause.median_ns, unit)),
            text_cell(_time(cause.most_ns, unit)),
        )
        for thread in threads
        for cause in thread.causes
    ]
    if not causes:
        return [figures]
    notes_below = [
        f"{thread.name} {thread.pid}, {cause.name}: in the longest, {cause.detail}."
        for thread in threads
        for cause in thread.causes
        if cause.detail
    ]
    about = "A job's cause is what takes most of it above the median of the jobs in time."
    title = "Why jobs were late"
    return [
        figures,
        Table.headed(
            _CAUSE_HEADS.format(unit=unit),
            name="causes",
            title=title,
            rows=causes,
            notes=(*notes_below, about),
        ),
    ]


def _time(ns: float, unit: str) -> str:
    """A time in the unit of the figures; a guest's are virtual ns."""
    return f"{ns / 1e3:,.1f}" if unit == "µs" else f"{ns:,.0f}"


def _rows(thread: ThreadFacts, records: Mapping[str, RecordResult]) -> list[tuple[Cell, ...]]:
    rows = []
    for number, (quantity, bench) in enumerate(thread.benches.items()):
        record = records.get(bench)
        if record is None:
            continue
        least, median, high, most = figures_of(record)
        is_response = quantity == "response"
        rows.append(
            (
                text_cell(" " if number else f"{thread.name} {thread.pid}"),
                text_cell(quantity),
                whole(record.taken) if is_response else text_cell(" "),
                *(figure(ticks, record.unit) for ticks in (least, median, high, most)),
                whole(thread.late) if is_response else text_cell(" "),
                whole(thread.missed) if is_response else text_cell(" "),
            )
        )
    return rows


def figures_of(
    record: RecordResult,
) -> tuple[float | None, float | None, float | None, float | None]:
    """The least, the median, p99.9 and the most, in ticks; None where there are too few jobs."""
    lane = record.main
    if lane is None or lane.summary is None:
        return None, None, None, None
    high = lane.percentile("p99.9")
    return lane.summary.min, lane.summary.median, high.value if high else None, lane.summary.max


def _about(thread: ThreadFacts) -> list[str]:
    who = f"{thread.name} {thread.pid}: {thread.policy}; {thread.release}; {thread.evidence}."
    lines = [who]
    if thread.not_measured:
        lines.append(
            f"{thread.name} {thread.pid}: periods that were not seen whole, and are not judged: "
            f"{thread.not_measured:,}."
        )
    if thread.longest:
        lines.append(f"{thread.name} {thread.pid}: longest: {thread.longest}.")
    return lines


def as_data(result: RunResult, threads: Sequence[ThreadFacts]) -> list[dict[str, Any]]:
    """The same as plain rows; times in ns, of a guest in virtual ns."""
    records = {record.bench: record for record in result.records}
    rows = []
    for thread in threads:
        row: dict[str, Any] = {
            "thread": thread.name,
            "pid": thread.pid,
            "policy": thread.policy,
            "release": thread.release,
            "period": thread.evidence,
            "late": thread.late,
            "without_job": thread.missed,
            "not_judged": thread.not_measured,
            "longest": thread.longest,
        }
        for quantity, bench in thread.benches.items():
            record = records[bench]
            named = zip(("min", "median", "p99_9", "max"), figures_of(record), strict=True)
            row[quantity] = {"bench": bench, "jobs": record.taken, **dict(named)}
        row["causes"] = [
            {
                "cause": cause.name,
                "late": cause.count,
                "median": cause.median_ns,
                "max": cause.most_ns,
                "detail": cause.detail,
            }
            for cause in thread.causes
        ]
        rows.append(row)
    return rows
