# SPDX-License-Identifier: Apache-2.0
"""After an execution: the profiles or timelines of its records go into the run folder."""

from __future__ import annotations

import msgspec

from kadenz.errors import KadenzError
from kadenz.images.code import Code
from kadenz.images.given_image import trees_of
from kadenz.lab.job import Job
from kadenz.lab.plan import FIRST_POINT
from kadenz.lab.profile.following import Follower
from kadenz.lab.profile.making import Profiler, Tables, regions_of
from kadenz.lab.profile.watching import lock_of
from kadenz.lab.session import Session
from kadenz.store import RunWriter
from kadenz.targets.base import Target
from kadenz.targets.rtl import RtlTarget
from kadenz.targets.scope import NUMBER, ScopeDamaged
from kadenz.targets.scoped import ScopedQemuTarget


def enter_profiles(
    target: Target, job: Job, session: Session, writer: RunWriter, failures: list[KadenzError]
) -> None:
    """Makes the profile of each record that the campaign asked for.

    The samples are stored by now: what cannot be profiled costs the profile alone.
    """
    if not isinstance(target, ScopedQemuTarget | RtlTarget) or target.paths is None:
        return
    asked = {point.id for point in job.points if point.id >= FIRST_POINT}
    try:
        code = Code(job.image.elf, job.name.board, trees_of(job.image, job.name.kernel))
        lock = lock_of(job.name, target.watched)
        profiler = Profiler(code, target.paths)
        for record, regions in regions_of(target.paths, target.records):
            if record in asked and record in session.seen and regions:
                entry = session.entry(record)
                tables = Tables(code)
                lanes = profiler.lanes(tables, entry, regions)
                unit = target.paths.unit
                profile = tables.profile(entry, str(job.name), unit, lanes, lock)
                writer.keep_profile(record, entry.bench, msgspec.json.encode(profile))
    except KadenzError as failure:
        failures.append(failure)


def enter_timelines(
    target: Target, job: Job, session: Session, writer: RunWriter, failures: list[KadenzError]
) -> None:
    """Makes the timeline of each record that the campaign asked for.

    The samples are stored by now: a record that cannot be followed costs its timeline alone.
    """
    if not isinstance(target, ScopedQemuTarget) or target.paths is None:
        return
    asked = {point.id for point in job.points if point.id >= FIRST_POINT}
    try:
        code = Code(job.image.elf, job.name.board, trees_of(job.image, job.name.kernel))
        follower = Follower(code, target.paths, str(job.name))
        for region in target.paths.regions:
            record = region.mark & NUMBER
            if record in asked and record in session.seen:
                bench = session.entry(record).bench
                timeline = follower.record(record, bench, region)
                writer.keep_timeline(record, bench, msgspec.json.encode(timeline))
        if not target.paths.complete:
            raise ScopeDamaged(
                f"{job.name}: the emulator was cut off: its last record has no timeline",
                remedy="Trace again; the samples that arrived are in the run folder",
            )
    except KadenzError as failure:
        failures.append(failure)
