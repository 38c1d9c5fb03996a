# SPDX-License-Identifier: Apache-2.0
"""How far each quantity of a budget may move until a deadline is missed, all others unchanged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kadenz.analysis.budget import Budget, TaskBudget
from kadenz.stats.breaking_point import largest, least_whole
from kadenz.stats.exact import Time
from kadenz.stats.response_time import schedulable

# A period is followed up to this many times its value.
FARTHEST = 1000


@dataclass(frozen=True)
class Change:
    """The value up to which every deadline is met, in ticks of the clock."""

    what: str  # "execution of control"
    present: Time
    limit: Time | None  # None: this change alone does not make it
    farthest: bool = False  # no limit was found: `limit` is where the search ended

    @property
    def share(self) -> float | None:
        """The move as a share of the present value, below zero if it has to shrink."""
        if self.limit is None or self.farthest:
            return None
        return float(self.limit / self.present - 1) if self.present else math.inf


def changes_of(budget: Budget) -> list[Change]:
    """Each execution time, period and overhead; then all overheads by one factor."""
    changes = []
    for place, task in enumerate(budget.tasks):

        def with_task(place: int = place, **values: Time) -> bool:
            model = [*budget.model]
            model[place] = replace(model[place], **values)  # type: ignore[arg-type]
            return schedulable(model, budget.kernel)

        changes += [_execution(task, with_task), _period(task, with_task, budget.tick)]
    present = {name: overhead.ticks for name, overhead in budget.overheads.items()}
    high = max(task.deadline for task in budget.tasks)

    def with_overheads(**values: Time) -> bool:
        return schedulable(budget.model, replace(budget.kernel, **values))

    changes += [_overhead(name, value, high, with_overheads) for name, value in present.items()]
    if any(present.values()):
        changes.append(_all_overheads(present, high, with_overheads))
    return changes


def breaks_first(budget: Budget, changes: Sequence[Change]) -> Change | None:
    """The change with the smallest share that makes a schedulable set miss a deadline."""
    if not budget.schedulable:
        return None
    known = [
        (abs(change.share), place)
        for place, change in enumerate(changes)
        if change.share is not None
    ]
    return changes[min(known)[1]] if known else None


def _execution(task: TaskBudget, holds: Callable[..., bool]) -> Change:
    limit = largest(lambda value: holds(execution=value), 0, task.deadline)
    return Change(f"execution of {task.name}", task.execution, limit)


def _period(task: TaskBudget, holds: Callable[..., bool], tick: Fraction) -> Change:
    """The shortest period in whole ticks; a deadline at the end of the period moves with it."""
    implicit = task.deadline == task.period

    def met(ticks: int) -> bool:
        period = ticks * tick
        return holds(period=period, deadline=period if implicit else task.deadline)

    ticks = least_whole(met, 1, FARTHEST * task.period_ticks)
    limit = None if ticks is None else ticks * tick
    return Change(f"period of {task.name}", task.period, limit, farthest=ticks == 1)


def _overhead(name: str, value: Time, high: Time, holds: Callable[..., bool]) -> Change:
    limit = largest(lambda other: holds(**{name: other}), 0, high)
    return Change(f"overhead: {name}", value, limit, farthest=limit == high)


def _all_overheads(present: Mapping[str, Time], high: Time, holds: Callable[..., bool]) -> Change:
    """One factor for all of them: how much slower the kernel may be."""
    most = high / max(present.values())
    factor = largest(
        lambda by: holds(**{name: by * value for name, value in present.items()}), 0, most
    )
    total = sum(present.values())
    limit = None if factor is None else factor * total
    return Change("all overheads together", total, limit, farthest=factor == most)
