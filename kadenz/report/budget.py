# SPDX-License-Identifier: Apache-2.0
"""A schedulability budget as tables, Markdown and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kadenz.analysis.budget import Budget, TaskBudget
from kadenz.analysis.change import percent
from kadenz.analysis.sensitivity import Change, breaks_first
from kadenz.report.digits import ABSENT, number
from kadenz.report.table import Cell, Table, join, words
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


def tables(found: Budget, changes: Sequence[Change]) -> list[Table]:
    """Tasks, overheads, and how far each quantity may move."""
    return [_tasks(found), _overheads(found), _changes(found, changes)]


def sentences(found: Budget, changes: Sequence[Change]) -> list[str]:
    """The answer in words."""
    lines = [
        f"{found.name} on {found.target}: {_answer(found)}",
        f"utilisation: {_percent(found.work)} by the tasks, {_percent(found.load)} with the "
        f"kernel; a tick is {number(found.unit.figure(found.tick))} {found.unit.label}",
    ]
    first = breaks_first(found, changes)
    if first is not None:
        lines.append(f"breaks first: {first.what}, at {_limit(found, first)}")
    lines += [
        f"{task.name}: job {task.observed.job} took {_figure(found, task.observed.most)} "
        f"{found.unit.label}, above the bound"
        for task in found.tasks
        if task.exceeds and task.observed is not None
    ]
    return lines


def _answer(found: Budget) -> str:
    if found.late:
        return f"not schedulable: {_names(found.late)}"
    if found.undecided:
        return (
            f"undecided for {_names(found.undecided)}: the blocking may be longer than "
            f"{_figure(found, found.kernel.blocking)} {found.unit.label}: "
            f"{found.undecided[0].too_small}. State its worst case in FILE: [overheads] "
            'blocking = "…"'
        )
    return "every deadline is met"


def _names(tasks: Sequence[TaskBudget]) -> str:
    return ", ".join(task.name for task in tasks)


def _percent(share: Time) -> str:
    return f"{100 * float(share):.1f} %"


def markdown(found: Budget, changes: Sequence[Change]) -> str:
    """All of it as GitHub-flavoured Markdown."""
    lines = "".join(f"- {markdown_text(line)}\n" for line in sentences(found, changes))
    return f"# {markdown_text(found.name)}\n\n{lines}\n{join(tables(found, changes))}"


def as_data(found: Budget, changes: Sequence[Change]) -> dict[str, Any]:
    """All of it for JSON, times in `unit`; null for a bound that does not exist."""
    scale = found.unit.scale
    first = breaks_first(found, changes)
    return {
        "name": found.name,
        "target": found.target,
        "clock_class": found.unit.clock_class,
        "unit": found.unit.label,
        "tick": found.tick * scale,
        "schedulable": None if found.undecided and not found.late else found.schedulable,
        "undecided": found.undecided[0].too_small if found.undecided else None,
        "utilisation": {"tasks": float(found.work), "with_kernel": float(found.load)},
        "tasks": [_task_data(task, scale) for task in found.tasks],
        "overheads": {
            name: {"value": one.ticks * scale, "source": one.source}
            for name, one in found.overheads.items()
        },
        "changes": [_change_data(one, scale) for one in changes],
        "breaks_first": first.what if first else None,
    }


def _tasks(found: Budget) -> Table:
    return Table.headed(
        "Task | >C | >T | >D | >B | >R bound | >Margin | >Observed | >Jobs | Verdict",
        name="tasks",
        title=f"Tasks, in {found.unit.label} ({found.unit.clock_class})",
        rows=tuple(_task(found, task) for task in found.tasks),
        notes=(
            "C execution, T period, D deadline, B blocking, R response from the release. Observed: "
            "the longest response of workload/taskset. The most urgent task is first.",
        ),
    )


def _task(found: Budget, task: TaskBudget) -> tuple[Cell, ...]:
    observed = task.observed
    verdict, kind = ("met", "") if task.margin >= 0 else ("late", "bad")
    if task in found.undecided:
        verdict, kind = "undecided", "bad"
    if task.exceeds:
        verdict, kind = "observed above the bound", "bad"
    return (
        words(task.name),
        *(
            _cell(found, value)
            for value in (
                task.execution,
                task.period,
                task.deadline,
                task.blocking,
                task.bound,
                task.margin,
            )
        ),
        _cell(found, observed.most) if observed else Cell(ABSENT),
        Cell(f"{observed.jobs:,}", observed.jobs) if observed else Cell(ABSENT),
        Cell(verdict, verdict, kind),
    )


def _overheads(found: Budget) -> Table:
    return Table.headed(
        "Overhead | >Value | What | From",
        name="overheads",
        title=f"What the kernel takes, in {found.unit.label}",
        rows=tuple(
            (words(name), _cell(found, one.ticks), words(_TERMS[name]), words(one.source))
            for name, one in found.overheads.items()
        ),
    )


def _changes(found: Budget, changes: Sequence[Change]) -> Table:
    return Table.headed(
        "Quantity | >Now | >Limit | >Change",
        name="changes",
        title=f"How far each may move, in {found.unit.label}",
        rows=tuple(
            (
                words(one.what),
                _cell(found, one.present),
                words(_limit(found, one)),
                _share(one),
            )
            for one in changes
        ),
        notes=(
            "The value up to which every deadline is met, all others unchanged. Periods are whole "
            "ticks, and a deadline that equals its period moves with it.",
        ),
    )


def _limit(found: Budget, one: Change) -> str:
    if one.limit is None:
        return "none: this alone does not help"
    text = _figure(found, one.limit)
    return f"beyond {text}" if one.farthest else text


def _share(one: Change) -> Cell:
    if one.share is None or not math.isfinite(one.share):
        return Cell(ABSENT)
    if one.share > 10.0:
        return Cell(f"× {number(one.share + 1.0)}", one.share)
    return Cell(percent(one.share), one.share)


def _cell(found: Budget, ticks: Time) -> Cell:
    if not math.isfinite(ticks):
        return Cell("none" if ticks > 0 else ABSENT)
    return Cell(_figure(found, ticks), found.unit.figure(ticks))


def _figure(found: Budget, ticks: Time) -> str:
    """Whole counts in full: four digits would hide what a kernel takes."""
    value = found.unit.figure(ticks)
    return number(value) if found.unit.is_time else number(round(value))


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
        "bound": _finite(task.bound * scale),
        "margin": _finite(task.margin * scale),
        "observed": None
        if observed is None
        else {"most": observed.most * scale, "jobs": observed.jobs, "job": observed.job},
    }


def _change_data(one: Change, scale: float) -> dict[str, Any]:
    return {
        "what": one.what,
        "present": one.present * scale,
        "limit": None if one.limit is None else one.limit * scale,
        "share": None if one.share is None else _finite(one.share),
        "farthest": one.farthest,
    }


def _finite(value: Time) -> float | None:
    return float(value) if math.isfinite(value) else None
