# SPDX-License-Identifier: Apache-2.0
"""The option `--deadline`, the same in every command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.analysis.deadlines import Asked
    from kadenz.analysis.units import Unit
    from kadenz.config.campaign import Campaign
    from kadenz.config.manifest import DeadlineOrigin
    from kadenz.lab.job import Job
    from kadenz.store import Run

DEADLINE: dict[str, Any] = {
    "metavar": "[BENCH=]QUANTITY",
    "multiple": True,
    "help": "Deadline of a cycle: 100us for all periodic benchmarks, or "
    "'cyclic/wakeup-latency period_us=1000=100us' for some; may be repeated. Default: the "
    "campaign's, else the period.",
}
deadline_option = click.option("--deadline", "deadlines", **DEADLINE)


def asked_deadlines(texts: Sequence[str], runs: Sequence[Run]) -> list[Asked]:
    """The deadlines of the command line, checked against `runs`. Raises UsageError."""
    if not texts:
        return []
    from kadenz.analysis.deadlines import check_asked, parse_deadline

    asked = [parse_deadline(text) for text in texts]
    check_asked(asked, runs)
    return asked


def planned_deadlines(texts: Sequence[str], campaigns: Sequence[Campaign]) -> list[Asked]:
    """The deadlines of `run`, before anything is built.

    UsageError if no campaign plans such a benchmark.
    """
    from fnmatch import fnmatchcase

    from kadenz.analysis.deadlines import parse_deadline

    known = sorted({benchmark.name for campaign in campaigns for benchmark in campaign.benchmark})
    deadlines = [parse_deadline(text) for text in texts]
    for deadline in deadlines:
        points = deadline.points
        if points is not None and not any(fnmatchcase(name, points.bench) for name in known):
            raise UsageError(
                f"--deadline {deadline.text}: no such benchmark is planned",
                remedy=f"Planned: {', '.join(known)}",
            )
    return deadlines


def stamp_deadlines(jobs: Sequence[Job], deadlines: Sequence[Asked]) -> None:
    """Puts `run --deadline` into the points of `jobs`; of several for a point, the last holds.

    Points without one, neither here nor in the campaign, get that of the target in the lab's file.
    UsageError if no clock of the points concerned can express the deadline, wherever it was given.
    """
    from kadenz.analysis.deadlines import parse_deadline
    from kadenz.config.target_name import lab_target

    planned: dict[str, list[Unit | None]] = {}
    for job in jobs:
        for text in dict.fromkeys(
            point.deadline.quantity for point in job.points if point.deadline
        ):
            planned.setdefault(text, []).append(_unit(job))
    for text, units in planned.items():
        _check_carried(parse_deadline(text), units)
    for job in jobs:
        lab_deadline = lab_target(job.name).deadline
        if lab_deadline:
            _check_carried(
                parse_deadline(lab_deadline), [_stamp(job, parse_deadline(lab_deadline), "lab")]
            )
    for asked in deadlines:
        _check_carried(asked, [_stamp(job, asked, "command line") for job in jobs])


def _check_carried(asked: Asked, job_units: Sequence[Unit | None]) -> None:
    units = [unit for unit in job_units if unit is not None]
    # Units such as degrees are known to the target alone.
    carried = any(unit.amount(asked.quantity) is not None for unit in units) or (
        not asked.quantity.is_time and any(unit.is_time for unit in units)
    )
    if units and not carried:
        raise UsageError(
            f"deadline {asked.text}: {units[0].cannot_carry(asked.quantity)}",
            remedy=f"Give the deadline in {units[0].label}",
        )


def _stamp(job: Job, asked: Asked, origin: DeadlineOrigin) -> Unit | None:
    """Sets the deadline of the points concerned. Returns the unit of the job's clock if any.

    The lab's is set where there is none.
    """
    from dataclasses import replace

    from kadenz.config.manifest import DeadlineEntry

    initial = {
        bench.name: {param.name: param.value(param.initial) for param in bench.params}
        for bench in job.catalog.benches
    }
    entry = DeadlineEntry(quantity=asked.written, origin=origin)
    concerned = [
        (origin != "lab" or point.deadline is None)
        and asked.concerns(point.bench, {**initial.get(point.bench, {}), **point.params})
        for point in job.points
    ]
    job.points = [
        replace(point, deadline=entry) if its else point
        for point, its in zip(job.points, concerned, strict=True)
    ]
    return _unit(job) if any(concerned) else None


def _unit(job: Job) -> Unit:
    from kadenz.analysis.units import unit_of

    return unit_of("ticks", job.clock())
