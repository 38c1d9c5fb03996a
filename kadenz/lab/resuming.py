# SPDX-License-Identifier: Apache-2.0
"""The rest of a run that was stopped, and how its earlier records and the new ones join.

Records that failed or were cut off, and points that were not reached, are measured. In virtual time
an execution is repeated as a whole, so that a resumed run has the bytes of one that was never
stopped. In real time only what is missing is measured, behind a new measurement of the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kadenz.config.manifest import (
    KILLED,
    REPEATABLE,
    BuildEntry,
    Manifest,
    ResumeEntry,
    Warning,  # noqa: A004
)
from kadenz.errors import UsageError
from kadenz.lab.graph import boots_of
from kadenz.lab.job import Job, Rest, Turn
from kadenz.lab.plan import FIRST_POINT, Point
from kadenz.store import Run

_KERNEL = "guest kernel"  # the kind of condition
_ANEW = "target-failed"  # a warning of records that are repeated


def left_of(jobs: Sequence[Job], earlier: Sequence[Run]) -> list[Job]:
    """The jobs that are not complete, each with its earlier run if it began.

    UsageError if a guest's kernel is another now.
    """
    left = []
    for job in jobs:
        run = next((run for run in earlier if is_earlier(job, run.manifest)), None)
        if run is None:
            _check_kernel(job, jobs, earlier)
            left.append(job)
        elif (rest := rest_of(job, run)) is not None:
            left.append(replace(job, rest=rest))
    return left


def rest_of(job: Job, run: Run) -> Rest | None:
    """Points that `run`, an earlier run of `job`, did not measure; None: it is complete.

    UsageError if the image, the campaign or the machine is another now.
    """
    _check_same(job, run.manifest)
    done = {record.id for record in run.manifest.records if record.status != "failed"}
    left = [boot for boot in boots_of(job) if not {point.id for point in boot} <= done]
    if not left and run.manifest.partial_reason != KILLED:
        return None
    boots = (
        left
        if job.name.tier in REPEATABLE or not left
        else _in_real_time(left, done, boots_of(job))
    )
    again = {point.id for boot in boots for point in boot}
    kept = [record for record in run.manifest.records if record.id in done - again]
    return Rest(run.path, run.manifest, kept, boots)


def is_earlier(job: Job, document: Manifest, *, but: str = "") -> bool:
    """Whether `document` is of an earlier run of `job`.

    With `but`, a kind of condition: whatever that one was.
    """
    turn = job.origin.turn or Turn("", 0, 0)
    then = document.condition_values
    now = {entry.kind: entry.value for entry in job.entries()}
    return (
        document.target.name == str(job.name)
        and document.target.instrument == job.instrument
        and document.campaign.name == job.origin.campaign.name
        and then | {but: ""} == now | {but: ""}
        and (bool(but) or (document.variant, document.round) == (turn.variant, turn.round))
    )


def _check_kernel(job: Job, jobs: Sequence[Job], earlier: Sequence[Run]) -> None:
    """UsageError if a run of this variant was under a kernel that no job has: its file changed."""
    kernel = job.setup.guest.kernel if job.setup.guest is not None else None
    if kernel is None or not kernel.by_path:
        return
    for run in earlier:
        if is_earlier(job, run.manifest, but=_KERNEL) and not any(
            is_earlier(other, run.manifest) for other in jobs
        ):
            raise UsageError(
                f"{run.manifest.id} cannot be resumed: a kernel is not the one that it was "
                "measured with",
                remedy="Measure it anew, without --resume",
                detail=f"then: {run.manifest.condition_values[_KERNEL]}\nnow: {kernel.value} "
                f"({kernel.image})",
            )


def take_up(document: Manifest, rest: Rest) -> None:
    """Makes `document`, of the run that begins, one that goes on with the earlier run."""
    before = rest.manifest
    now = datetime.now(UTC).isoformat(timespec="seconds")
    document.id, document.created = before.id, before.created
    document.records = list(rest.kept)
    document.duration_s = before.duration_s
    document.name, document.call = before.name, before.call
    document.events = before.events
    fresh = [warning for warning in document.warnings if warning not in before.warnings]
    document.warnings = [warning for warning in before.warnings if warning.code != _ANEW] + fresh
    entry = ResumeEntry(
        at=now, reason=before.partial_reason, kept=[record.id for record in rest.kept]
    )
    document.resumed = [*before.resumed, entry]
    if document.target.tier not in REPEATABLE and rest.kept and rest.boots:
        count = sum(len(boot) for boot in rest.boots)
        document.warnings.append(
            Warning(
                code="resumed",
                message=f"{len(rest.kept)} records were measured before {now} and {count} after: "
                "the machine may have changed between them",
            )
        )


def keep_rates(document: Manifest, rest: Rest) -> None:
    """Adds the rates of loads during the earlier records that stay."""
    kept = {record.id for record in rest.kept}
    for load in document.loads:
        for before in rest.manifest.loads:
            if before.name == load.name:
                load.record_rates |= _of(before.record_rates, kept)
                load.record_cpu_percent |= _of(before.record_cpu_percent, kept)


def at_work(folder: Path) -> UsageError:
    """The error for a run that another process writes."""
    return UsageError(
        f"{folder} is being measured by another kadenz", remedy="Wait until it ends, or end it"
    )


def _of(rates: dict[int, float], records: set[int]) -> dict[int, float]:
    return {record: rate for record, rate in rates.items() if record in records}


def _in_real_time(
    left: Sequence[Sequence[Point]], done: set[int], every: Sequence[Sequence[Point]]
) -> list[list[Point]]:
    """The clock first, as in every execution of a machine in real time (rule 4); then the rest."""
    clock = [point for boot in every for point in boot if point.id < FIRST_POINT]
    missing = [
        [point for point in boot if point.id >= FIRST_POINT and point.id not in done]
        for boot in left
    ]
    first, *more = [boot for boot in missing if boot] or [[]]
    return [[*clock, *first], *more]


def _check_same(job: Job, before: Manifest) -> None:
    """UsageError if records of this job do not belong to the earlier run."""
    points = {point.id: point for point in job.points}
    strange = [
        record
        for record in before.records
        if record.id not in points
        or record.bench != points[record.id].bench
        or dict(points[record.id].params).items() - record.params.items()
    ]
    host = job.host.entry
    changes = [
        ("the campaign", before.campaign, job.origin.campaign),
        ("the plan", [], [record.bench for record in strange]),
        ("the image", before.build and before.build.elf_sha256, job.image.entry.elf_sha256),
        ("the emulator", before.emulator, job.make().emulator()),
    ]
    if job.name.tier == "guest":  # its kernel and libraries are not in the image
        changes.append(("the guest", _sources(before.build), _sources(job.image.entry)))
    if job.name.tier == "host":
        machine = (before.host.kernel, before.host.cpu, before.host.cpus)
        changes.append(("this Linux", machine, (host.kernel, host.cpu, host.cpus)))
    for what, then, now in changes:
        if then != now:
            raise UsageError(
                f"{before.id} cannot be resumed: {what} is not the one that it was measured with",
                remedy="Measure it anew, without --resume",
                detail=f"then: {then}\nnow: {now}",
            )


def _sources(build: BuildEntry | None) -> list[tuple[str, str]]:
    """Each part of a guest and the digest of its files."""
    return [(part.part, part.sha256) for part in build.parts] if build is not None else []
