# SPDX-License-Identifier: Apache-2.0
"""Bounds of response times under fixed priorities, with what a kernel itself takes.

Response-time analysis of Joseph and Pandya (1986) and Audsley et al. (1993); busy periods of
several jobs by Lehoczky (1990); release jitter and a kernel driven by a tick by Burns, Tindell and
Wellings (1995). All times have one unit, whichever the caller chooses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Jobs of one busy period that are examined. A longer one counts as unbounded.
JOBS_MAX = 1_000


@dataclass(frozen=True)
class PeriodicTask:
    """A task: `execution` and `period` above zero; `deadline` from its release, of any length.

    A larger `urgency` preempts a smaller one. `blocking` is the longest time for which less urgent
    tasks hold what this task, or one above it, waits for.
    """

    execution: float
    period: float
    deadline: float
    urgency: int
    blocking: float = 0.0


@dataclass(frozen=True)
class Kernel:
    """Overheads of a kernel; without arguments there are none, and jobs are released at any moment.

    `tick_period`: from tick to tick. `tick`: each tick, without releases. `release`: each job that
    a tick releases, whether it runs or waits. `start`: from the tick's end until the job runs, its
    own release included. `job`: what a job takes from others besides its work: its release, and
    the switches to it and from it. `blocking`: the longest section of a less urgent task's sleep
    in which nothing can preempt it. `jitter`: the greatest lateness of a tick.
    """

    tick_period: float = math.inf
    tick: float = 0.0
    release: float = 0.0
    start: float = 0.0
    job: float = 0.0
    blocking: float = 0.0
    jitter: float = 0.0


def response_times(tasks: Sequence[PeriodicTask], kernel: Kernel) -> list[float]:
    """The bound of each task's response time, from the moment of its release; `inf`: none.

    Assumes that all tasks may be released together, that no job suspends itself, and that one
    processor runs them. Tasks of equal urgency are taken to delay each other.
    """
    return [_bound(place, tasks, kernel) for place in range(len(tasks))]


def schedulable(tasks: Sequence[PeriodicTask], kernel: Kernel) -> bool:
    """Whether every bound is within its deadline; ends at the first that is not."""
    return all(
        _bound(place, tasks, kernel, one.deadline) <= one.deadline
        for place, one in enumerate(tasks)
    )


def utilisation(tasks: Sequence[PeriodicTask], kernel: Kernel) -> float:
    """The share of the processor that the tasks ask for and the kernel takes, 1 for all of it."""
    jobs = sum((one.execution + kernel.job) / one.period for one in tasks)
    return jobs + kernel.tick / kernel.tick_period


def _bound(
    place: int, tasks: Sequence[PeriodicTask], kernel: Kernel, enough: float = math.inf
) -> float:
    """The bound of one task, or any value above `enough` once it exceeds that."""
    own = tasks[place]
    others = [one for at, one in enumerate(tasks) if at != place]
    above = [one for one in others if one.urgency >= own.urgency]
    below = [one for one in others if one.urgency < own.urgency]
    costs = [(one.period, one.execution + kernel.job) for one in above]
    costs += [(one.period, kernel.release) for one in below]
    costs.append((kernel.tick_period, kernel.tick))
    blocking = own.blocking + (kernel.blocking if below else 0.0)
    whole = own.execution + kernel.job
    taken = sum(cost / period for period, cost in costs)
    if taken >= 1.0:
        return math.inf
    worst = 0.0
    for before in range(JOBS_MAX):
        released = before * own.period
        first = blocking + kernel.start + own.execution + before * whole
        window = _window(first, costs, kernel.jitter, enough + released)
        worst = max(worst, kernel.jitter + window - released)
        if worst > enough:
            return worst
        if window + kernel.jitter + kernel.job <= released + own.period:
            return worst  # it sleeps before its next release: the busy period ends
        if taken + whole / own.period > 1.0:
            return math.inf
    return math.inf


def _window(
    first: float, costs: Sequence[tuple[float, float]], jitter: float, enough: float
) -> float:
    """The least window w = first + what others take in w, or any above `enough`.

    `costs` are periods and what each release costs; the window exists if they leave any time.
    """
    window = first
    while window <= enough:
        taken = sum(math.ceil((window + jitter) / period) * cost for period, cost in costs)
        if first + taken <= window:
            break
        window = first + taken
    return window
