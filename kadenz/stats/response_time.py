# SPDX-License-Identifier: Apache-2.0
"""Bounds of response times under fixed priorities, with what a kernel itself takes.

Response-time analysis of Joseph and Pandya (1986) and Audsley et al. (1993); busy periods of
several jobs by Lehoczky (1990); release jitter and a kernel driven by a tick by Burns, Tindell and
Wellings (1995). All times have one unit, whichever the caller chooses. They are compared as whole
numbers of their common fraction: whether a job ends at a release or after it is not a rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kadenz.stats.exact import Time, exact

# Jobs of one busy period that are examined. A longer one counts as unbounded.
JOBS_MAX = 1_000
# Steps to one window: the less time the other tasks leave, the more it takes. One that needs more
# counts as unbounded.
STEPS_MAX = 100_000


@dataclass(frozen=True)
class PeriodicTask:
    """A task: `execution` and `period` above zero; `deadline` from its release, of any length.

    A larger `urgency` preempts a smaller one. `blocking` is the longest time for which less urgent
    tasks hold what this task, or one above it, waits for.
    """

    execution: Time
    period: Time
    deadline: Time
    urgency: int
    blocking: Time = 0


@dataclass(frozen=True)
class Kernel:
    """Overheads of a kernel; without arguments there are none, and jobs are released at any moment.

    `tick_period`: from tick to tick. `tick`: each tick, without releases. `release`: each job that
    a tick releases, whether it runs or waits. `start`: from the tick's end until the job runs, its
    own release included. `job`: what a job takes from others besides its work: its release, and
    the switches to it and from it. `blocking`: the longest section of a less urgent task's sleep
    in which nothing can preempt it. `jitter`: the greatest lateness of a tick.
    """

    tick_period: Time = math.inf
    tick: Time = 0
    release: Time = 0
    start: Time = 0
    job: Time = 0
    blocking: Time = 0
    jitter: Time = 0


def response_times(tasks: Sequence[PeriodicTask], kernel: Kernel) -> list[Time]:
    """The bound of each task's response time, from the moment of its release; `inf`: none.

    Assumes that all tasks may be released together, that no job suspends itself, and that one
    processor runs them. Tasks of equal urgency are taken to delay each other. A bound that is the
    deadline is returned as it was given, so that the two compare equal as floats too.
    """
    scale, whole, kernel = _in_whole_numbers(tasks, kernel)
    bounds = []
    for place, task in enumerate(whole):
        bound = _bound(place, whole, kernel)
        if bound == task.deadline:
            bounds.append(tasks[place].deadline)
        else:
            bounds.append(bound if bound == math.inf else Fraction(bound) / scale)
    return bounds


def schedulable(tasks: Sequence[PeriodicTask], kernel: Kernel) -> bool:
    """Whether every bound is within its deadline; ends at the first that is not."""
    _, tasks, kernel = _in_whole_numbers(tasks, kernel)
    return all(
        _bound(place, tasks, kernel, task.deadline) <= task.deadline
        for place, task in enumerate(tasks)
    )


def utilisation(tasks: Sequence[PeriodicTask], kernel: Kernel) -> Time:
    """The share of the processor that the tasks ask for and the kernel takes, 1 for all of it."""
    _, tasks, kernel = _in_whole_numbers(tasks, kernel)
    jobs = sum(Fraction(task.execution + kernel.job) / Fraction(task.period) for task in tasks)
    return jobs + sum(Fraction(cost) / Fraction(period) for period, cost in _tick(kernel))


def _in_whole_numbers(
    tasks: Sequence[PeriodicTask], kernel: Kernel
) -> tuple[int, list[PeriodicTask], Kernel]:
    """The least factor that makes all times whole, and all times multiplied by it."""
    known = {
        value: exact(value)
        for parameters in (*tasks, kernel)
        for value in vars(parameters).values()
        if math.isfinite(value)
    }
    scale = math.lcm(*(value.denominator for value in known.values()))

    def whole(value: Time) -> Time:
        return int(known[value] * scale) if math.isfinite(value) else value

    rows = [
        PeriodicTask(
            whole(task.execution),
            whole(task.period),
            whole(task.deadline),
            task.urgency,
            whole(task.blocking),
        )
        for task in tasks
    ]
    return scale, rows, Kernel(*(whole(value) for value in vars(kernel).values()))


def _tick(kernel: Kernel) -> list[tuple[Time, Time]]:
    """Period and cost of the kernel's tick, if it has one."""
    # A whole number may be larger than any float.
    return [(kernel.tick_period, kernel.tick)] if kernel.tick_period != math.inf else []


def _bound(
    place: int, tasks: Sequence[PeriodicTask], kernel: Kernel, enough: Time = math.inf
) -> Time:
    """The bound of one task, or any value above `enough` once it exceeds that."""
    task = tasks[place]
    others = [other for at, other in enumerate(tasks) if at != place]
    above = [other for other in others if other.urgency >= task.urgency]
    below = [other for other in others if other.urgency < task.urgency]
    costs = [(other.period, other.execution + kernel.job) for other in above]
    costs += [(other.period, kernel.release) for other in below]
    costs += _tick(kernel)
    blocking = task.blocking + (kernel.blocking if below else 0)
    whole = task.execution + kernel.job
    left = 1 - sum(Fraction(cost) / Fraction(period) for period, cost in costs)
    if left <= 0:
        return math.inf
    worst: Time = 0
    for before in range(JOBS_MAX):
        released = before * task.period
        first = blocking + kernel.start + task.execution + before * whole
        window = _window(first, costs, kernel.jitter, enough + released)
        if window == math.inf:
            return window
        worst = max(worst, kernel.jitter + window - released)
        if worst > enough:
            return worst
        if window + kernel.jitter + kernel.job <= released + task.period:
            return worst  # it sleeps before its next release: the busy period ends
        if left < Fraction(whole) / Fraction(task.period):
            return math.inf
    return math.inf


def _window(first: Time, costs: Sequence[tuple[Time, Time]], jitter: Time, enough: Time) -> Time:
    """The least window w = first + what others take in w, or any above `enough`.

    `costs` are periods and what each release costs; the window exists if they leave any time. inf
    if it is not reached in STEPS_MAX.
    """
    window = first
    for _ in range(STEPS_MAX):
        taken = sum(-(-(window + jitter) // period) * cost for period, cost in costs)
        if first + taken <= window or window > enough:
            return window
        window = first + taken
    return math.inf
