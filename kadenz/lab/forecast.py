# SPDX-License-Identifier: Apache-2.0
"""How long a job will measure: by the periods of its plan, and by earlier runs of its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.config.params import PERIOD, number
from kadenz.lab.job import Job
from kadenz.lab.plan import Point
from kadenz.store.names import RunFolder

_REAL_TIME = ("host", "board")  # tiers whose periods pass in seconds of this machine


@dataclass(frozen=True)
class Expected:
    """A point and its length on this machine; None: not known."""

    point: Point
    seconds: float | None


def forecast(job: Job, earlier: Sequence[RunFolder]) -> list[Expected]:
    """The length of each point of `job`; `earlier` are runs of any target, the oldest first.

    A record of the same benchmark and parameters counts before one of the same benchmark.
    """
    per_sample: dict[object, float] = {}
    for run in earlier:
        if (run.head.target.name, run.head.target.instrument) != (str(job.name), job.instrument):
            continue
        for record in run.head.records:
            planned = max((lane.planned for lane in record.lanes), default=0)
            if record.status == "ok" and record.duration_s is not None and planned:
                rate = record.duration_s / planned
                per_sample[record.bench] = rate
                per_sample[record.bench, tuple(sorted(record.params.items()))] = rate
    initial = {
        bench.name: param.initial
        for bench in job.catalog.benches
        for param in bench.params
        if param.name == PERIOD
    }
    return [Expected(point, _seconds(job, point, initial, per_sample)) for point in job.points]


def _seconds(
    job: Job, point: Point, initial: dict[str, int], per_sample: dict[object, float]
) -> float | None:
    period_us = number(point.params, PERIOD, initial.get(point.bench, 0))
    if period_us and job.name.tier in _REAL_TIME:
        return point.samples * period_us * 1e-6
    same = (point.bench, tuple(sorted(point.params.items())))
    rate = per_sample.get(same, per_sample.get(point.bench))
    return None if rate is None else rate * point.samples
