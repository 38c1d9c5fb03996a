# SPDX-License-Identifier: Apache-2.0
"""The executions that a job consists of: the smallest pieces that can be measured apart.

An execution is one boot of an image with one plan. It is never split, and its plan depends on the
job alone. Samples in virtual time therefore depend neither on the machine that executes it, nor on
the time, nor on other executions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kadenz.config import inventory
from kadenz.config.params import number
from kadenz.lab.guests import SLOWDOWN
from kadenz.lab.job import Job
from kadenz.lab.plan import FIRST_POINT, Point, batches
from kadenz.lab.profile.watching import records_releases

_LANES_MAX = 64  # threads of cyclic/wakeup-latency
# A second of work, not of waiting, on an emulated or simulated target: FreeRTOS switching without a
# pause on the STM32F4 takes 40 s of this machine, and twice that beside other work.
_BUSY_SLOWDOWN = 200.0
_ARRIVAL_S = 0.03  # in QEMU, a sample with an interrupt: thirty times what it takes


def boots_of(job: Job) -> list[list[Point]]:
    """The points of each execution, in order."""
    tiers = inventory.board(job.name.board).tier
    tier = {"emulated": tiers.emulated, "rtl": tiers.rtl}.get(job.name.tier)
    room = tier.plan_bytes if tier is not None else None
    return [points for batch in batches(job.points, room) for points in _apart(job, batch)]


def is_split(job: Job) -> bool:
    """Whether each point has an execution of its own: its figures then depend on no other point,
    and points can be simulated in parallel.
    """
    return job.name.tier == "rtl" or job.setup.arriving is not None


def may_stop(job: Job, points: Sequence[Point]) -> bool:
    """Whether a sample above a limit ends one of the points and with it the kernel's trace."""
    return job.name.tier == "host" and any(
        point.params.get("stop_above_us") and point.params.get("trace", 1) for point in points
    )


def silence_s(job: Job, point: Point) -> float:
    """How long a target may be silent in this point: the time-out, plus twice its own length if it
    is periodic, or a window of it, after which it sends."""
    slowdown = SLOWDOWN if job.setup.guest is not None else 2.0

    def asked(name: str) -> int:
        return number(point.params, name, _initial(job, point.bench, name))

    # Each thread's period is longer than the last one's by this distance.
    longest_us = max(asked("period_us"), asked("interval_us")) + asked("distance_us") * _LANES_MAX
    waiting_s = slowdown * 1e-6 * longest_us * (point.samples + point.further)
    busy = _BUSY_SLOWDOWN if job.name.tier in ("emulated", "rtl") else 2.0
    arrivals_s = _ARRIVAL_S * point.further
    return job.timeout_s + waiting_s + arrivals_s + busy * 1e-6 * window_us(job, point)


def window_us(job: Job, point: Point) -> float:
    """How long a benchmark that counts works for one sample; 0 for others."""
    return number(point.params, "window_us", _initial(job, point.bench, "window_us"))


def _initial(job: Job, bench: str, param: str) -> int:
    """A parameter's initial value; 0 if the benchmark has no such parameter."""
    params = [benchmark.params for benchmark in job.catalog.benches if benchmark.name == bench]
    return next((p.initial for of in params for p in of if p.name == param), 0)


def is_traced(job: Job, points: Sequence[Point]) -> bool:
    """Whether Linux's trace gives the timelines of some points, each in its own execution."""
    asked = any(point.id >= FIRST_POINT for point in points)
    return job.setup.traced and job.name.tier == "host" and asked and not records_releases(job.name)


def _apart(job: Job, points: Sequence[Point]) -> Iterator[list[Point]]:
    """A point that may end with a trace has an execution, and so a trace, of its own."""
    if is_split(job) or is_traced(job, points):
        yield from ([point] for point in points)
        return
    together: list[Point] = []
    for point in points:
        if not may_stop(job, [point]):
            together.append(point)
            continue
        if together:
            yield together
        yield [point]
        together = []
    if together:
        yield together
