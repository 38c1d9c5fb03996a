# SPDX-License-Identifier: Apache-2.0
"""Why an arrival is the worst: its path from the request to the mark, beside a typical one's.

The bench's copies leave no path. So the typical and the worst arrival of each lane are executed
once more, from reset, alone.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from kadenz.config.manifest import ARRIVALS
from kadenz.config.profile import LaneProfile, ViewEntry, ViewName
from kadenz.errors import KadenzError, TargetFailed
from kadenz.images.code import Code
from kadenz.images.given_image import trees_of
from kadenz.lab.execution import make_target
from kadenz.lab.job import Job
from kadenz.lab.plan import Point, plan_text
from kadenz.lab.profile.making import Profiler, Tables
from kadenz.lab.profile.watching import lock_of
from kadenz.lab.session import Session
from kadenz.store import RunWriter
from kadenz.targets.arrivals import Arrivals, Asked
from kadenz.targets.rtl import RtlTarget

_POLL_S = 0.1
_VIEWS: tuple[ViewName, ...] = ("typical", "slowest")


def enter_arrivals(
    job: Job,
    points: Sequence[Point],
    session: Session,
    writer: RunWriter,
    failures: list[KadenzError],
    stop: threading.Event,
) -> None:
    """Makes the profile of each record whose arrivals were all tried.

    Their values are stored by now: what cannot be followed costs the profile alone.
    """
    seen = session.arrivals
    for point in points:
        entry = session.entry(point.id) if point.id in session.seen else None
        if not point.arrivals or entry is None or entry.status != "ok":
            continue
        if seen is None or not seen.rows.size:  # none came to its end
            continue
        try:
            profile = _Follower(job, point, seen, stop).profile(session)
        except KadenzError as failure:
            failures.append(failure)
        else:
            if profile:
                writer.keep_profile(point.id, point.bench, profile)


class _Follower:
    """Follows some arrivals of one record."""

    def __init__(self, job: Job, point: Point, seen: Arrivals, stop: threading.Event) -> None:
        assert job.setup.arriving is not None
        self._job, self._point, self._seen, self._stop = job, point, seen, stop
        self._asked = job.setup.arriving
        self._code = Code(job.image.elf, job.name.board, trees_of(job.image, job.name.kernel))
        self._tables = Tables(self._code)

    def profile(self, session: Session) -> bytes:
        """The encoded profile; b"" if the user stopped the run."""
        lanes, job = [], self._job
        for lane in ARRIVALS:
            views = []
            for name, row in zip(_VIEWS, self._chosen(lane), strict=True):
                followed = self._view(name, lane, row)
                if followed is None:
                    return b""
                views.append(followed)
            paths = len({tuple(view.code) for view in views})
            lanes.append(LaneProfile(lane, paths, views))
        watched = self._target(self._asked).watched
        entry = session.entry(self._point.id)
        profile = self._tables.profile(
            entry, str(job.name), "cycle", lanes, lock_of(job.name, watched)
        )
        return msgspec.json.encode(profile)

    def _chosen(self, lane: str) -> list[np.void]:
        """The first arrivals with the median, the lower one of two, and with the most."""
        rows = self._seen.rows
        middle = np.sort(rows[lane])[(len(rows) - 1) // 2]
        return [rows[rows[lane] == middle][0], rows[rows[lane].argmax()]]

    def _view(self, name: ViewName, lane: str, row: np.void) -> ViewEntry | None:
        """One arrival, executed from reset; None if the user stopped the run."""
        phase = int(row["phase"])
        target = self._target(self._asked.following(phase, int(row[f"{lane}:second"]), lane))
        try:
            target.open(plan_text([self._point]))
            while target.read(_POLL_S) is not None:
                if self._stop.is_set():
                    return None
        finally:
            output = target.close()
        paths = target.paths
        spans = [paths.span(region) for region in paths.regions] if paths is not None else []
        if paths is None or spans != [int(row[lane])]:
            raise TargetFailed(
                f"{self._point.bench}: the arrival in cycle {phase} took {int(row[lane])} cycles "
                f"in a copy of the machine, and {spans or 'none'} in a run from reset",
                remedy="Report it with the benchmark's name and the target",
                detail=output,
            )
        return Profiler(self._code, paths).view(self._tables, name, phase, paths.regions)

    def _target(self, asked: Asked) -> RtlTarget:
        job = self._job
        target = make_target(
            job.name, job.instrument, job.image, replace(job.setup, arriving=asked)
        )
        assert isinstance(target, RtlTarget)
        return target
