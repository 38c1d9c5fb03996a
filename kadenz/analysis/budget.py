# SPDX-License-Identifier: Apache-2.0
"""Bounds and margins of a task set, with the overheads of a target's kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from kadenz.analysis.blocking import Basis, Evidence, blocking_of, evidence_of, has_arrivals
from kadenz.analysis.overheads import FAMILY, Measurements, Overhead, overheads_of, tick_period
from kadenz.analysis.resources import Use, blocking_times
from kadenz.analysis.runs import refusal
from kadenz.analysis.systems import changes
from kadenz.analysis.task_units import TaskUnits
from kadenz.analysis.units import Unit
from kadenz.config.manifest import ARRIVING, STATES, Manifest, RecordEntry
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
LOCKS = "its tasks lock resources, and what a wait for a lock takes is not measured"
# Parts of an image whose sources decide what a service takes, whichever instrument measures it.
_CODE = ("kernel", "port", "board")


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
    basis: str = ""  # of the blocking by less urgent tasks' services; "": no task is less urgent
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


def budget_of(given: TaskSet, runs: Sequence[Run], basis: Basis | None = None) -> Budget:
    """Checks a task set against `runs` of one target. UsageError if that is impossible.

    `basis`: from where the blocking by services comes; None: from the best that the runs have.
    """
    plain, tried = (
        [run for run in runs if has_arrivals(run.manifest) is arriving]
        for arriving in (False, True)
    )
    manifest = _one_target(plain, tried)
    evidence = evidence_of(plain, tried, manifest.target.name, basis)
    measured = Measurements(plain)
    tick = tick_period(measured)
    units = TaskUnits(manifest, tick)
    by_hand = {
        key: units.work(text, f"overheads.{key}") for key, text in given.overheads.given.items()
    }
    if basis and "blocking" in by_hand:
        raise UsageError(
            f"{given.name}: states `blocking` in [overheads], and --blocking {basis} takes another",
            remedy="Leave one of them out",
        )
    overheads = _overheads(given, measured, by_hand, evidence)
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
            basis=overheads["blocking"].basis if below else "",
        )
        for task, bound, below in zip(tasks, bounds, _below(tasks), strict=True)
    ]
    return Budget(
        name=given.name,
        target=manifest.target.name,
        unit=units.unit,
        tick=tick,
        tasks=tuple(_with_observed(tasks, plain)),
        overheads=overheads,
        work=asked,
        load=utilisation(model, kernel),
        kernel=kernel,
        model=tuple(model),
    )


def _overheads(
    given: TaskSet,
    measured: Measurements,
    by_hand: Mapping[str, Fraction],
    evidence: Evidence | None,
) -> dict[str, Overhead]:
    tasks = len(given.task)
    locks = any(task.section for task in given.task)
    overheads = overheads_of(
        measured,
        tasks,
        by_hand,
        lambda: blocking_of(measured, tasks, evidence),
        services=locks or evidence is not None,
    )
    blocking = overheads["blocking"]
    if locks and "blocking" not in by_hand:
        reasons = filter(None, (LOCKS, blocking.too_small))
        overheads["blocking"] = replace(blocking, too_small="; ".join(reasons))
    return overheads


def has_overheads(runs: Sequence[Run]) -> bool:
    """Whether a run has records of the kernel's overheads."""
    return any(
        record.bench.startswith(FAMILY)
        for run in runs
        if not has_arrivals(run.manifest)
        for record in run.manifest.records
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


def _one_target(plain: Sequence[Run], tried: Sequence[Run]) -> Manifest:
    """Of the first run without arrivals. UsageError if it is missing, or for two systems.

    The image of a run with arrivals has more threads, all asleep or never running: the kernel and
    its conditions are the same, and what the threads add to a service makes it longer.
    """
    if not plain:
        where = f" {tried[0].path} has arrivals alone" if tried else ""
        target = tried[0].manifest.target.name if tried else "…"
        raise UsageError(
            "no run to take the kernel's overheads from" + (f":{where}" if where else ""),
            remedy=f"Name a RUN of `kadenz run interference --target {target}`, or give --target",
        )
    first = plain[0].manifest
    for run in (*plain[1:], *tried):
        other = run.manifest
        if (other.target.name, other.clock.unit) != (first.target.name, first.clock.unit):
            raise UsageError(
                f"{run.path} is a run of {other.target.name}, {plain[0].path} of "
                f"{first.target.name}",
                remedy="Name runs of one target",
            )
        changed = changes(first, other, aside=(ARRIVING, *STATES) if run in tried else ())
        if run in tried and not changed:
            changed = _other_code(first, other)
        if changed:
            raise UsageError(
                f"{plain[0].path} and {run.path} are of two systems: {', '.join(changed)}",
                remedy="Name runs of one kernel under the same conditions",
            )
    return first


def _other_code(left: Manifest, right: Manifest) -> list[str]:
    """Parts of two images that were compiled from other files, as far as both runs know."""
    sums = [
        {part.part: part.sha256 for part in manifest.build.parts} if manifest.build else {}
        for manifest in (left, right)
    ]
    return [
        f"the files of the {part} changed"
        for part in _CODE
        if part in sums[0] and part in sums[1] and sums[0][part] != sums[1][part]
    ]


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
