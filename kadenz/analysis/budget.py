# SPDX-License-Identifier: Apache-2.0
"""Bounds and margins of a task set, with the overheads of a target's kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from kadenz.analysis.overheads import SECTIONS, Measurements, Overhead, overheads_of, tick_period
from kadenz.analysis.resources import Use, blocking_times
from kadenz.analysis.runs import refusal
from kadenz.analysis.systems import changes
from kadenz.analysis.task_units import TaskUnits
from kadenz.analysis.units import Unit
from kadenz.config.manifest import Manifest, RecordEntry
from kadenz.config.params import Params
from kadenz.config.quantity import parse_points
from kadenz.config.task_set import TaskEntry, TaskSet
from kadenz.errors import UsageError
from kadenz.stats.exact import Time
from kadenz.stats.response_time import Kernel, PeriodicTask, response_times, utilisation
from kadenz.store import Run

WORKLOAD = "workload/taskset"
WORKLOAD_TASKS = 6
# Why the blocking of a set with [[task.section]] has no bound.
LOCKS = f"its tasks lock resources, and {SECTIONS}"


@dataclass(frozen=True)
class Observed:
    """Response times of one task in a run of the workload, in ticks of the clock."""

    jobs: int
    most: float
    job: int  # of the longest, from 0


@dataclass(frozen=True)
class TaskBudget:
    """One task, times in ticks of the clock. `bound` is infinite if there is none."""

    name: str
    urgency: int  # 1: the least urgent of the set
    execution: Time
    period_ticks: int  # of the kernel
    period: Time
    deadline: Time
    blocking: Time  # by resources and by sleeps of less urgent tasks
    bound: Time
    too_small: str = ""  # why the bound may be too small
    observed: Observed | None = None

    @property
    def margin(self) -> Time:
        """Deadline less bound: below zero if the task may be late."""
        return self.deadline - self.bound

    @property
    def exceeds(self) -> bool:
        """Whether a job took longer than the bound: the analysis or a measurement is wrong."""
        return self.observed is not None and self.observed.most > self.bound


@dataclass(frozen=True)
class Budget:
    """The whole answer; times in ticks of the clock, to be shown in `unit`."""

    name: str
    target: str
    unit: Unit
    tick: Fraction
    tasks: tuple[TaskBudget, ...]  # the most urgent first
    overheads: Mapping[str, Overhead]
    work: Time  # utilisation by the tasks' own work
    load: Time  # including the kernel's overheads
    kernel: Kernel
    model: tuple[PeriodicTask, ...]  # one for each task

    @property
    def late(self) -> tuple[TaskBudget, ...]:
        """The tasks whose bound is above their deadline."""
        return tuple(task for task in self.tasks if task.margin < 0)

    @property
    def undecided(self) -> tuple[TaskBudget, ...]:
        """The tasks that would meet their deadline if their bound were not too small."""
        return tuple(task for task in self.tasks if task.margin >= 0 and task.too_small)

    @property
    def schedulable(self) -> bool:
        """Whether every task certainly meets its deadline."""
        return not self.late and not self.undecided


def budget_of(given: TaskSet, runs: Sequence[Run]) -> Budget:
    """Checks a task set against `runs` of one target. UsageError if that is impossible."""
    manifest = _one_target(runs)
    measured = Measurements(runs)
    tick = tick_period(measured)
    units = TaskUnits(manifest, tick)
    by_hand = {
        key: units.work(text, f"overheads.{key}") for key, text in given.overheads.given.items()
    }
    overheads = overheads_of(measured, len(given.task), by_hand)
    if "blocking" not in by_hand and any(task.section for task in given.task):
        overheads["blocking"] = replace(overheads["blocking"], too_small=LOCKS)
    kernel = Kernel(
        tick_period=tick, **{name: overhead.ticks for name, overhead in overheads.items()}
    )
    tasks = _tasks(given, units, measured, kernel)
    asked = utilisation([_periodic(task) for task in tasks], Kernel())
    if asked > 1:
        raise UsageError(
            f"{given.name}: the tasks ask for {float(100 * asked):.1f} % of one processor",
            remedy="Lengthen periods or shorten execution times: no schedule exists",
        )
    model = [_periodic(task) for task in tasks]
    bounds = response_times(model, kernel)
    tasks = [
        replace(
            task,
            bound=bound,
            blocking=task.blocking + (kernel.blocking if below else 0),
            too_small=overheads["blocking"].too_small if below else "",
        )
        for task, bound, below in zip(tasks, bounds, _below(tasks), strict=True)
    ]
    return Budget(
        name=given.name,
        target=manifest.target.name,
        unit=units.unit,
        tick=tick,
        tasks=tuple(_with_observed(tasks, runs)),
        overheads=overheads,
        work=asked,
        load=utilisation(model, kernel),
        kernel=kernel,
        model=tuple(model),
    )


def workload_points(budget: Budget) -> tuple[Params, int]:
    """Parameters and number of samples of `workload/taskset` that run the set.

    Its window is twice the longest period, and holds every task's first two jobs. UsageError for
    a set that the workload cannot carry.
    """
    if len(budget.tasks) > WORKLOAD_TASKS:
        raise UsageError(
            f"{budget.name}: {len(budget.tasks)} tasks, and {WORKLOAD} runs up to {WORKLOAD_TASKS}",
            remedy="Leave --target out: the bounds need no workload",
        )
    if len({task.urgency for task in budget.tasks}) < len(budget.tasks):
        raise UsageError(
            f"{budget.name}: tasks share a priority, and {WORKLOAD} gives each its own",
            remedy="Give each task its own `priority`, or leave --target out",
        )
    window = 2 * max(task.period_ticks for task in budget.tasks)
    samples = sum(-(-window // task.period_ticks) for task in budget.tasks)
    return _params(budget.tasks), samples


def _params(tasks: Sequence[TaskBudget]) -> Params:
    params: Params = {}
    for place in range(WORKLOAD_TASKS):
        task = tasks[place] if place < len(tasks) else None
        params[f"period{place + 1}_ticks"] = task.period_ticks if task else 0
        params[f"work{place + 1}"] = math.floor(task.execution) if task else 0
    return params


def _one_target(runs: Sequence[Run]) -> Manifest:
    if not runs:
        raise UsageError(
            "no run to take the kernel's overheads from",
            remedy="Name a RUN of `kadenz run interference --target …`, or give --target",
        )
    first = runs[0].manifest
    for run in runs[1:]:
        other = run.manifest
        if (other.target.name, other.clock.unit) != (first.target.name, first.clock.unit):
            raise UsageError(
                f"{run.path} is a run of {other.target.name}, {runs[0].path} of "
                f"{first.target.name}",
                remedy="Name runs of one target",
            )
        changed = changes(first, other)
        if changed:
            raise UsageError(
                f"{runs[0].path} and {run.path} are of two systems: {', '.join(changed)}",
                remedy="Name runs of one kernel under the same conditions",
            )
    return first


# ---- from the file -------------------------------------------------------------------------------
def _tasks(
    given: TaskSet, units: TaskUnits, measured: Measurements, kernel: Kernel
) -> list[TaskBudget]:
    """The tasks, the most urgent first, without bounds."""
    bare = [_task(task, units, measured) for task in given.task]
    order = {
        "rate-monotonic": lambda place: bare[place].period,
        "deadline-monotonic": lambda place: bare[place].deadline,
        "given": lambda place: -(given.task[place].priority or 0),
    }[given.priorities]
    places = sorted(range(len(bare)), key=order)
    urgency = _urgencies(given, places)
    uses = [
        Use(
            task.name,
            urgency[place],
            section.resource,
            units.work(section.length, _where(task, "section.length")),
        )
        for place, task in enumerate(given.task)
        for section in task.section
    ]
    return [
        replace(
            bare[place],
            urgency=urgency[place],
            blocking=blocking_times(uses, urgency[place], given.locks, kernel.job),
        )
        for place in places
    ]


def _urgencies(given: TaskSet, places: Sequence[int]) -> dict[int, int]:
    """By place in the file: 1 for the least urgent; equal where given priorities are equal."""
    if given.priorities != "given":
        return {place: len(places) - at for at, place in enumerate(places)}
    known = sorted({task.priority or 0 for task in given.task})
    return {place: known.index(given.task[place].priority or 0) + 1 for place in places}


def _task(task: TaskEntry, units: TaskUnits, measured: Measurements) -> TaskBudget:
    ticks = units.kernel_ticks(task.period, _where(task, "period"))
    period = ticks * units.tick
    execution = (
        units.work(task.execution, _where(task, "execution")) if task.execution else Fraction(0)
    )
    if task.measured is not None:
        longest = _longest(measured, task.measured.bench, _where(task, "measured.bench"))
        execution += task.measured.times * longest
    return TaskBudget(
        name=task.name,
        urgency=0,
        execution=execution,
        period_ticks=ticks,
        period=period,
        deadline=units.span(task.deadline, _where(task, "deadline")) if task.deadline else period,
        blocking=0,
        bound=math.inf,
    )


def _where(task: TaskEntry, key: str) -> str:
    return f"task `{task.name}`: {key}"


def _longest(measured: Measurements, text: str, where: str) -> int:
    """The longest sample of the records that `text` selects, in ticks of the clock."""
    points = parse_points(text, where)
    maxima = [
        int(np.max(run.samples(entry, lane)))
        for run in measured.runs
        for entry in run.manifest.records
        if points.concern(entry.bench, entry.params)
        and not refusal(entry)
        and entry.unit == "ticks"
        for lane in entry.series
        if lane.taken
    ]
    if not maxima:
        raise UsageError(
            f"{where}: no run here has samples of {text}",
            remedy=f"kadenz run {points.bench} --target {measured.target}, and name that run too",
        )
    return max(maxima)


def _periodic(task: TaskBudget) -> PeriodicTask:
    return PeriodicTask(task.execution, task.period, task.deadline, task.urgency, task.blocking)


def _below(tasks: Sequence[TaskBudget]) -> list[bool]:
    """Whether a task has a less urgent one."""
    return [any(other.urgency < task.urgency for other in tasks) for task in tasks]


# ---- observed ------------------------------------------------------------------------------------
def _with_observed(tasks: Sequence[TaskBudget], runs: Sequence[Run]) -> list[TaskBudget]:
    """With the longest response of each, if a run has the workload of exactly this set."""
    if len(tasks) > WORKLOAD_TASKS:
        return list(tasks)
    params = _params(tasks)
    observed = {
        place: _longest_response(run, entry, place)
        for run in runs
        for entry in run.manifest.records
        if entry.bench == WORKLOAD and not refusal(entry) and params == entry.params
        for place in range(len(tasks))
    }
    return [replace(task, observed=observed.get(place)) for place, task in enumerate(tasks)]


def _longest_response(run: Run, entry: RecordEntry, place: int) -> Observed | None:
    lane = entry.series[0]
    beside = entry.companions(lane)
    of_task = run.samples(entry, beside["task"]) == place + 1
    if not of_task.any():
        return None
    spans, jobs = run.samples(entry, lane)[of_task], run.samples(entry, beside["job"])[of_task]
    worst = int(np.argmax(spans))
    return Observed(int(of_task.sum()), float(spans[worst]), int(jobs[worst]))
