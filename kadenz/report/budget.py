# SPDX-License-Identifier: Apache-2.0
"""A schedulability budget as tables, Markdown and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kadenz.analysis.budget import Budget, TaskBudget
from kadenz.analysis.change import percent
from kadenz.analysis.overheads import Overhead
from kadenz.analysis.sensitivity import Change, breaks_first
from kadenz.report.digits import ABSENT, number
from kadenz.report.table import Cell, Table, join, text_cell
from kadenz.stats.exact import Time
from kadenz.visible_text import markdown_text

_TERMS = {
    "tick": "each tick of the kernel",
    "release": "each job that a tick releases",
    "start": "from the end of a tick's work to the start of a job",
    "job": "release of a job, and the switches to it and from it",
    "blocking": "section of a less urgent task that cannot be preempted",
    "jitter": "lateness of a tick",
}


# Where the blocking by a service comes from.
_BASIS = {
    "bound": "the largest bound of a service over all ways (docs/explanation/bound.md)",
    "tried": "the largest arrival that was tried (docs/explanation/worst.md)",
    "section": "the longest section that was profiled (docs/explanation/critical.md)",
    "sleep": "the latest wake-up beside a sleep",
    "by hand": "which FILE states",
}


def tables(budget: Budget, changes: Sequence[Change]) -> list[Table]:
    """Tasks, overheads, and how far each quantity may move."""
    return [_tasks(budget), _overheads(budget), _changes(budget, changes)]


def sentences(budget: Budget, changes: Sequence[Change]) -> list[str]:
    """The answer in words."""
    lines = [
        f"{budget.name} on {budget.target}: {_answer(budget)}",
        f"utilisation: {_percent(budget.work)} by the tasks, {_percent(budget.load)} with the "
        f"kernel; a tick is {number(budget.unit.figure(budget.tick))} {budget.unit.label}",
    ]
    lines += _basis(budget)
    first = breaks_first(budget, changes)
    if first is not None:
        lines.append(f"breaks first: {first.what}, at {_limit(budget, first)}")
    lines += [
        f"{task.name}: job {task.observed.job} took {_figure(budget, task.observed.most)} "
        f"{budget.unit.label}, above the bound"
        for task in budget.tasks
        if task.exceeds and task.observed is not None
    ]
    return lines


def _basis(budget: Budget) -> list[str]:
    """What the response times rest on, besides the measured overheads."""
    blocking = budget.overheads["blocking"]
    blocked = [task for task in budget.tasks if task.basis]
    free = [task for task in budget.tasks if not task.basis]
    lines = []
    if blocked:
        amount = f"{_figure(budget, blocking.ticks)} {budget.unit.label}"
        lines.append(
            f"R of {_names(blocked)} rests on a blocking of {amount}, "
            f"{_BASIS[blocking.basis]}: {blocking.source}"
        )
        lines += [f"premise: {premise}" for premise in blocking.premises]
    if free:
        lines.append(f"R of {_names(free)} rests on no blocking: no task is less urgent")
    return lines


def _answer(budget: Budget) -> str:
    if budget.late:
        return f"not schedulable: {_names(budget.late)}"
    if budget.undecided:
        return (
            f"undecided for {_names(budget.undecided)}: the blocking may be longer than "
            f"{_figure(budget, budget.kernel.blocking)} {budget.unit.label}: "
            f"{budget.undecided[0].too_small}. State its worst case in FILE: [overheads] "
            'blocking = "…"'
        )
    return "every deadline is met"


def _names(tasks: Sequence[TaskBudget]) -> str:
    return ", ".join(task.name for task in tasks)


def _percent(share: Time) -> str:
    return f"{100 * float(share):.1f} %"


def markdown(budget: Budget, changes: Sequence[Change]) -> str:
    """All of it as GitHub-flavoured Markdown."""
    lines = "".join(f"- {markdown_text(line)}\n" for line in sentences(budget, changes))
    return f"# {markdown_text(budget.name)}\n\n{lines}\n{join(tables(budget, changes))}"


def as_data(budget: Budget, changes: Sequence[Change]) -> dict[str, Any]:
    """All of it for JSON, times in `unit`; null for a bound that does not exist."""
    scale = budget.unit.scale
    first = breaks_first(budget, changes)
    return {
        "name": budget.name,
        "target": budget.target,
        "clock_class": budget.unit.clock_class,
        "unit": budget.unit.label,
        "tick": budget.tick * scale,
        "schedulable": None if budget.undecided and not budget.late else budget.schedulable,
        "undecided": budget.undecided[0].too_small if budget.undecided else None,
        "utilisation": {"tasks": float(budget.work), "with_kernel": float(budget.load)},
        "tasks": [_task_data(task, scale) for task in budget.tasks],
        "overheads": {
            name: _overhead_data(overhead, scale) for name, overhead in budget.overheads.items()
        },
        "changes": [_change_data(change, scale) for change in changes],
        "breaks_first": first.what if first else None,
    }


def _tasks(budget: Budget) -> Table:
    return Table.headed(
        "Task | >C | >T | >D | >B | B from | >R bound | >Margin | >Observed | >Jobs | Verdict",
        name="tasks",
        title=f"Tasks, in {budget.unit.label} ({budget.unit.clock_class})",
        rows=tuple(_task(budget, task) for task in budget.tasks),
        notes=(
            "C execution, T period, D deadline, B blocking, R response from the release. B from: "
            "what the blocking by services is taken from. Observed: "
            "the longest response of workload/taskset. The most urgent task is first.",
        ),
    )


def _task(budget: Budget, task: TaskBudget) -> tuple[Cell, ...]:
    observed = task.observed
    verdict, kind = ("met", "") if task.margin >= 0 else ("late", "bad")
    if task in budget.undecided:
        verdict, kind = "undecided", "bad"
    if task.exceeds:
        verdict, kind = "observed above the bound", "bad"
    return (
        text_cell(task.name),
        *(
            _cell(budget, value)
            for value in (task.execution, task.period, task.deadline, task.blocking)
        ),
        text_cell(task.basis or ABSENT),
        *(_cell(budget, value) for value in (task.bound, task.margin)),
        _cell(budget, observed.most) if observed else Cell(ABSENT),
        Cell(f"{observed.jobs:,}", observed.jobs) if observed else Cell(ABSENT),
        Cell(verdict, verdict, kind),
    )


def _overheads(budget: Budget) -> Table:
    return Table.headed(
        "Overhead | >Value | What | From",
        name="overheads",
        title=f"What the kernel takes, in {budget.unit.label}",
        rows=tuple(
            (
                text_cell(name),
                _cell(budget, overhead.ticks),
                text_cell(_TERMS[name]),
                text_cell(overhead.source),
            )
            for name, overhead in budget.overheads.items()
        ),
    )


def _changes(budget: Budget, changes: Sequence[Change]) -> Table:
    return Table.headed(
        "Quantity | >Now | >Limit | >Change",
        name="changes",
        title=f"How far each may move, in {budget.unit.label}",
        rows=tuple(
            (
                text_cell(change.what),
                _cell(budget, change.present),
                text_cell(_limit(budget, change)),
                _share(change),
            )
            for change in changes
        ),
        notes=(
            "The value up to which every deadline is met, all others unchanged. Periods are whole "
            "ticks, and a deadline that equals its period moves with it.",
        ),
    )


def _limit(budget: Budget, change: Change) -> str:
    if change.limit is None:
        return "none: this alone does not help"
    text = _figure(budget, change.limit)
    return f"beyond {text}" if change.farthest else text


def _share(change: Change) -> Cell:
    if change.share is None or not math.isfinite(change.share):
        return Cell(ABSENT)
    if change.share > 10.0:
        return Cell(f"× {number(change.share + 1.0)}", change.share)
    return Cell(percent(change.share), change.share)


def _cell(budget: Budget, ticks: Time) -> Cell:
    if not math.isfinite(ticks):
        return Cell("none" if ticks > 0 else ABSENT)
    return Cell(_figure(budget, ticks), budget.unit.figure(ticks))


def _figure(budget: Budget, ticks: Time) -> str:
    """Whole counts in full: four digits would hide what a kernel takes."""
    value = budget.unit.figure(ticks)
    return number(value) if budget.unit.is_time else number(round(value))


def _overhead_data(overhead: Overhead, scale: float) -> dict[str, Any]:
    """The basis and the premises of blocking are those of the response times."""
    data = {"value": overhead.ticks * scale, "source": overhead.source}
    if not overhead.premises:
        return data
    return {**data, "basis": overhead.basis, "premises": list(overhead.premises)}


def _task_data(task: TaskBudget, scale: float) -> dict[str, Any]:
    observed = task.observed
    return {
        "name": task.name,
        "urgency": task.urgency,
        "execution": task.execution * scale,
        "period_kernel_ticks": task.period_ticks,
        "period": task.period * scale,
        "deadline": task.deadline * scale,
        "blocking": task.blocking * scale,
        "basis": task.basis or None,
        "bound": _finite(task.bound * scale),
        "margin": _finite(task.margin * scale),
        "observed": None
        if observed is None
        else {"most": observed.most * scale, "jobs": observed.jobs, "job": observed.job},
    }


def _change_data(change: Change, scale: float) -> dict[str, Any]:
    return {
        "what": change.what,
        "present": change.present * scale,
        "limit": None if change.limit is None else change.limit * scale,
        "share": None if change.share is None else _finite(change.share),
        "farthest": change.farthest,
    }


def _finite(value: Time) -> float | None:
    return float(value) if math.isfinite(value) else None
