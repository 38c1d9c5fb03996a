# SPDX-License-Identifier: Apache-2.0
"""The timeline of a motion run, from its own records.

Each period of a task has the number of its release, its latency and its response time; each frame
has its release and when it left. The tasks share their first release, and time counts from there.
The program shifts all releases together to follow the clock of the bus; the timeline leaves that
shift out, so places of two tasks are right to one step of it (5 us).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import RecordEntry
from kadenz.config.params import number
from kadenz.config.timeline import TIMELINE_VERSION, Slice, Timeline, Track
from kadenz.store import Run

RESPONSE, LATENCY, FRAME = "motion/response-time", "motion/release-latency", "motion/frame-time"
MAIN = "main"  # the task that exchanges frames
_RELEASE, _SENT = "release", "sent"  # companions
_NS = 1000  # of a microsecond

Times = NDArray[np.int64]


def motion_timelines(run: Run) -> list[Timeline]:
    """One timeline of all tasks that were measured, most urgent first; none for other runs.

    A task is drawn if its response times have the companion `release` and its latencies are in the
    run. StoreError for damaged samples.
    """
    tasks = [
        record
        for record in run.manifest.records
        if record.bench == RESPONSE and record.status == "ok"
    ]
    tasks.sort(key=lambda record: -number(record.params, "priority"))
    tracks = [track for record in tasks for track in _task(run, record)]
    ends = [at for track in tracks for span in track.slices for at in (span.begin, span.end)]
    if not ends:
        return []
    place = TIMELINE_VERSION, tasks[0].id, RESPONSE, run.manifest.target.name
    return [Timeline(*place, "ns", min(ends), max(ends), tracks)]


def _task(run: Run, record: RecordEntry) -> Iterator[Track]:
    """The rows of one task: released, started, and the frames of the main task."""
    name = record.series[0].name
    due = _due(run, record, number(record.params, "period_us"))
    latencies = next(
        (other for other in _records(run, LATENCY) if other.series[0].name == name), None
    )
    if due is None or latencies is None:
        return
    # Both have one value for each period, from the same one on.
    latency = run.samples(latencies).astype(np.int64)
    n = min(due.size, latency.size)
    start, end = due[:n] + latency[:n], due[:n] + run.samples(record)[:n].astype(np.int64)
    start[1:] = np.maximum(start[1:], end[:-1])  # no period begins before the last one has ended
    yield _track("wait", name, "released", due[:n], start)
    yield _track("period", name, name, start, end)
    if name == MAIN:
        for frames in _records(run, FRAME):
            yield from _frames(run, frames, number(record.params, "period_us"))


def _frames(run: Run, record: RecordEntry, period_us: float) -> Iterator[Track]:
    due = _due(run, record, period_us)
    sent = record.companions(record.series[0]).get(_SENT)
    if due is not None and sent is not None:
        left = due + run.samples(record, sent).astype(np.int64)
        yield _track("frame", "frame", "frame", left, left + run.samples(record).astype(np.int64))


def _due(run: Run, record: RecordEntry, period_us: float) -> Times | None:
    """The releases of its samples (n,), ns from the first one; None if they have no numbers."""
    lane = record.series[0]
    release = record.companions(lane).get(_RELEASE)
    if release is None or release.taken != lane.taken:
        return None
    return run.samples(record, release).astype(np.int64) * int(period_us * _NS)


def _records(run: Run, bench: str) -> Iterator[RecordEntry]:
    return (
        record for record in run.manifest.records if record.bench == bench and record.status == "ok"
    )


def _track(kind: Any, name: str, what: str, begin: Times, end: Times) -> Track:
    spans = zip(begin.tolist(), end.tolist(), strict=True)
    return Track(kind, name, [Slice(what, first, last) for first, last in spans if last > first])
