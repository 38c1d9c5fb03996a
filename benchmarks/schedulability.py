# SPDX-License-Identifier: Apache-2.0
"""Random task sets on an emulated target: no observed response time above its bound.

    python benchmarks/schedulability.py [--sets 1000] [--target freertos/stm32f4@emulated]

Utilisations by UUniFast (Bini and Buttazzo 2005), periods of whole ticks, deadlines below, at and
above the period. In every second set one job ends near a tick, so that ticks occur during the
kernel's sleep call. The overheads are measured first, on the same image. Exit code 1 if an observed
response exceeds its bound, or if a set that is called schedulable misses a deadline.
"""

from __future__ import annotations

import argparse
import itertools
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kadenz.analysis.budget import Budget, budget_of, workload_points
from kadenz.analysis.overheads import Measurements, tick_period
from kadenz.config.task_set import TaskEntry, TaskSet
from kadenz.store import Run, read_run

TITLE = "Bounds of response times"

PERIODS = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20])  # in kernel ticks
BANDS = (0.0, 0.3, 0.6, 0.8, 0.9, 1.0)
SETS_PER_RUN = 250
LEAST_WORK = 200  # instructions; a job without a loop takes fewer


def uunifast(random: np.random.Generator, tasks: int, total: float) -> list[float]:
    """Utilisations (tasks,) that add up to `total`, uniformly distributed."""
    left, utilisations = total, []
    for remaining in range(tasks - 1, 0, -1):
        following = left * random.random() ** (1.0 / remaining)
        utilisations.append(left - following)
        left = following
    return [*utilisations, left]


def task_set(random: np.random.Generator, number: int, tick: float) -> TaskSet:
    """A set of two to six tasks; deadline-monotonic."""
    count = int(random.integers(2, 7))
    shares = uunifast(random, count, float(random.uniform(0.05, 0.98)))
    periods = [int(period) for period in random.choice(PERIODS, count)]
    work = [
        max(LEAST_WORK, math.floor(share * period * tick))
        for share, period in zip(shares, periods, strict=True)
    ]
    if number % 2:
        _end_at_a_tick(random, work, tick)
    while sum(w / (p * tick) for w, p in zip(work, periods, strict=True)) > 1.0:
        work = [max(LEAST_WORK, w * 9 // 10) for w in work]
        periods = [period + 1 for period in periods]
    deadlines = [period * float(random.choice([0.5, 1.0, 1.0, 1.5])) for period in periods]
    return TaskSet(
        name=f"set {number}",
        task=tuple(
            TaskEntry(
                name=f"task {place}",
                period=f"{periods[place]} kernel ticks",
                deadline=f"{deadlines[place]} kernel ticks",
                execution=f"{work[place]} instructions",
            )
            for place in range(count)
        ),
    )


def _end_at_a_tick(random: np.random.Generator, work: list[int], tick: float) -> None:
    """Changes the longest work so that all jobs together end near a tick."""
    longest = work.index(max(work))
    rest = sum(work) - work[longest]
    ticks = max(1, math.ceil(sum(work) / tick))
    work[longest] = max(LEAST_WORK, int(ticks * tick) - rest - int(random.integers(0, 4000)))


def measure(target: str, arguments: Sequence[str], folder: Path) -> Run:
    """One run of `kadenz run`."""
    program = [sys.executable, "-c", "from kadenz.cli import main; main()", "run", *arguments]
    known = set(folder.iterdir()) if folder.is_dir() else set()
    answer = subprocess.run(
        [*program, "--target", target, "--output", str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    if answer.returncode != 0:
        sys.exit(answer.stdout[-2000:] + answer.stderr[-2000:])
    (new,) = set(folder.iterdir()) - known
    return read_run(new)


def campaign_text(target: str, budgets: Sequence[Budget]) -> str:
    """A campaign of the workload, a point for each set."""
    lines = ['name = "task-sets"', 'title = "random task sets"', f'targets = ["{target}"]']
    for budget in budgets:
        params, samples = workload_points(budget)
        pairs = ", ".join(f"{name} = {value}" for name, value in params.items())
        lines += ["[[benchmark]]", 'name = "workload/taskset"', f"samples = {samples}"]
        lines += [f"params = {{ {pairs} }}"]
    return "\n".join(lines) + "\n"


def observe(target: str, sets: Sequence[TaskSet], overheads: Run, folder: Path) -> list[Budget]:
    """Every set with its observed response times."""
    budgets = []
    for start in range(0, len(sets), SETS_PER_RUN):
        some = sets[start : start + SETS_PER_RUN]
        file = folder / "task-sets.toml"
        file.write_text(campaign_text(target, [budget_of(budget, [overheads]) for budget in some]))
        run = measure(target, [str(file)], folder / "runs")
        budgets += [budget_of(budget, [overheads, run]) for budget in some]
    return budgets


def row(name: str, budgets: Sequence[Budget]) -> str:
    """A line of the table."""
    seen = [(b, t, t.observed) for b in budgets for t in b.tasks if t.observed is not None]
    jobs = sum(observed.jobs for _, _, observed in seen)
    above = sum(task.exceeds for _, task, _ in seen)
    good = [b for b in budgets if b.schedulable]
    missed = sum(
        any(t.observed is not None and t.observed.most > t.deadline for t in b.tasks) for b in good
    )
    slack = [task.bound - observed.most for _, task, observed in seen if task.bound < math.inf]
    ratio = [observed.most / task.bound for _, task, observed in seen if task.bound < math.inf]
    if not seen:
        return f"| {name} | 0 | | | | | | | |"
    return (
        f"| {name} | {len(budgets):,} | {len(seen):,} | {jobs:,} | **{above}** | {len(good):,} "
        f"| {missed} | {min(slack):,.0f} / {np.median(slack):,.0f} | {np.median(ratio):.4f} |"
    )


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", default="freertos/stm32f4@emulated")
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        overheads = measure(options.target, ["interference"], folder / "overheads")
        tick = float(tick_period(Measurements([overheads])))
        sets = [task_set(random, number, tick) for number in range(options.sets)]
        budgets = observe(options.target, sets, overheads, folder)
    print(
        "| utilisation | sets | tasks observed | jobs | above the bound | schedulable | of these "
        "missed | bound less observed, least / median | observed over bound, median |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    for low, high in itertools.pairwise(BANDS):
        some = [
            budget for budget in budgets if low <= budget.work < high or budget.work == high == 1.0
        ]
        print(row(f"{low:.0%} to {high:.0%}".replace("%", " %"), some))
    print(row("all", budgets))
    for budget in budgets:
        for task in budget.tasks:
            if task.exceeds and task.observed is not None:
                print(f"{budget.name}: {task.name}: {task.observed.most} above {task.bound}")
    wrong = sum(task.exceeds for budget in budgets for task in budget.tasks)
    print(f"\nanswer: {len(budgets):,} random task sets: {wrong} tasks above their bound")
    missed = any(
        task.observed is not None and task.observed.most > task.deadline
        for budget in budgets
        if budget.schedulable
        for task in budget.tasks
    )
    return int(wrong or missed)


if __name__ == "__main__":
    sys.exit(main())
