# SPDX-License-Identifier: Apache-2.0
"""A task set held against runs: overheads by hand, units, refusals, and observed responses."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.blocking import SECTIONS
from kadenz.analysis.budget import Budget, budget_of, workload_points
from kadenz.analysis.overheads import Overhead
from kadenz.analysis.resources import Use, blocking_times
from kadenz.analysis.sensitivity import breaks_first, changes_of
from kadenz.config.manifest import ConditionEntry
from kadenz.config.task_set import TaskSet
from kadenz.config.toml import parse_toml
from kadenz.errors import ConfigError, UsageError
from kadenz.stats.response_time import schedulable
from kadenz.store import Run, read_run
from tests.synthetic import LINUX, STM32F4, Point, Samples, manifest, write_run

TICK = 1_000_000
SET = """
name = "two"
[[task]]
name = "fast"
period = "4 ms"
execution = "1000000 instructions"
[[task]]
name = "slow"
period = "10 kernel ticks"
deadline = "9 ms"
execution = "0.5 kernel ticks"
"""


def counts(*values: int) -> Samples:
    """Samples."""
    return np.array(values, dtype=np.uint32)


def overhead_points(tasks: int = 6) -> list[Point]:
    """Records as the campaign `interference` makes them."""
    return [
        Point(
            "interference/tick",
            {"tick": counts(55, 57), "loop": counts(15, 16), "period": counts(TICK - 2, TICK + 2)},
        ),
        Point("interference/release", {"release": counts(120), "loop": counts(16)}, {"tasks": 1}),
        Point("interference/release", {"release": counts(360), "loop": counts(16)}, {"tasks": 6}),
        Point("interference/job", {"job": counts(480), "loop": counts(16)}, {"tasks": tasks}),
        Point(
            "interference/sleep",
            {
                "all": counts(281, 286, 336, 286),
                "all:phase": counts(0, 6, 12, 18),
                "all:ticks": counts(0, 0, 1, 0),
            },
            {"tasks": tasks},
        ),
        Point(
            "interference/blocking",
            {"all": counts(170, 354), "all:phase": counts(0, 6)},
            {"tasks": tasks},
        ),
        Point("cyclic/wakeup-latency", {"core0": counts(168, 173)}, {"period_us": 1000}),
    ]


def run_of(folder: Path, points: Sequence[Point], target: dict[str, str] = STM32F4) -> Run:
    """A run folder with these records."""
    return read_run(write_run(folder, manifest(target), points))


@pytest.fixture
def overheads(tmp_path: Path) -> Run:
    """A run of the campaign."""
    return run_of(tmp_path / "overheads", overhead_points())


def task_set(text: str = SET) -> TaskSet:
    """A file with this text."""
    return parse_toml(text, TaskSet, "set.toml")


def refused(text: str, *runs: Run) -> UsageError:
    """The error."""
    with pytest.raises(UsageError) as caught:
        budget_of(task_set(text), runs)
    return caught.value


def test_overheads_are_differences_of_maxima_and_minima(overheads: Run) -> None:
    costs = budget_of(task_set(), [overheads]).overheads
    assert {name: cost.ticks for name, cost in costs.items()} == {
        "tick": 57 - 15,
        "release": 120 - 16 - (55 - 16),  # one release in a tick; of six each costs less
        "start": 168 - 42,
        "job": (480 - 16 - 39) + (336 - 281 - 39 + 6),  # and a tick during the sleep
        "blocking": 354 - 168 + 6,
        "jitter": (173 - 168) + 4,
    }
    assert costs["job"].source == "interference/job tasks=6, interference/sleep tasks=6"


def test_bounds_by_hand(overheads: Run) -> None:
    budget = budget_of(task_set(), [overheads])
    fast, slow = budget.tasks
    assert (fast.period_ticks, slow.period_ticks) == (4, 10)
    assert (fast.deadline, slow.deadline) == (4 * TICK, 9 * TICK)
    # J + B + S + C, two ticks, one release of the other.
    assert fast.bound == 9 + 192 + 126 + TICK + 2 * 42 + 65
    assert slow.bound == 9 + 126 + TICK // 2 + (TICK + 447) + 2 * 42
    assert budget.schedulable
    assert budget.work == pytest.approx(0.3)


def test_an_overhead_by_hand_needs_no_record(tmp_path: Path) -> None:
    points = [point for point in overhead_points() if point.bench != "interference/blocking"]
    run = run_of(tmp_path, points)
    by_hand = '[overheads]\nblocking = "1000 instructions"\njitter = "0"\n'
    text = SET.replace("[[task]]", by_hand + "[[task]]", 1)
    costs = budget_of(task_set(text), [run]).overheads
    assert (costs["blocking"].ticks, costs["blocking"].source) == (1000, "by hand")
    assert costs["jitter"].ticks == 0


def test_execution_times_come_from_the_records_of_a_run(overheads: Run, tmp_path: Path) -> None:
    other = run_of(
        tmp_path / "more", [Point("itc/queue", {"all": counts(800, 856)}, {"size_bytes": 60})]
    )
    text = SET.replace(
        'execution = "1000000 instructions"',
        'execution = "100 instructions"\n'
        'measured = { bench = "itc/queue size_bytes=60", times = 3 }',
    )
    assert budget_of(task_set(text), [overheads, other]).tasks[0].execution == 100 + 3 * 856
    error = refused(text, overheads)
    assert "no run here has samples of itc/queue size_bytes=60" in error.message
    assert error.remedy.startswith("kadenz run itc/queue --target freertos/stm32f4@emulated")


@pytest.mark.parametrize(
    ("text", "said", "remedy"),
    [
        (
            SET.replace("1000000 instructions", "9 kernel ticks"),
            "ask for 230.0 % of one",
            "Lengthen",
        ),
        (SET.replace("1000000 instructions", "900 us"), "class instruction", "1e+06 instructions"),
        (SET.replace("4 ms", "4500 us"), "4.5 ticks of this kernel", '"4 kernel ticks"'),
    ],
)
def test_what_cannot_be_held_against_a_run_is_refused(
    text: str, said: str, remedy: str, overheads: Run
) -> None:
    error = refused(text, overheads)
    assert said in error.message
    assert remedy in error.remedy
    assert error.exit_code == 2


@pytest.mark.parametrize("bench", sorted({point.bench for point in overhead_points()}))
def test_a_missing_measurement_names_its_command(bench: str, tmp_path: Path) -> None:
    run = run_of(tmp_path, [point for point in overhead_points() if point.bench != bench])
    error = refused(SET, run)
    assert f"no record of {bench}" in error.message
    assert error.remedy.startswith("kadenz run interference --target freertos/stm32f4@emulated")


def test_overheads_of_fewer_tasks_do_not_bound_a_larger_set(tmp_path: Path) -> None:
    error = refused(SET, run_of(tmp_path, overhead_points(tasks=1)))
    assert "no record of interference/job with tasks=2 or more" in error.message
    assert error.remedy.endswith("--set tasks=2")


def test_a_sweep_that_never_met_a_tick_is_refused(tmp_path: Path) -> None:
    points = overhead_points()
    sleep = next(point for point in points if point.bench == "interference/sleep")
    zeros = counts(0, 0)
    sleep.lanes = {"all": counts(281, 286), "all:phase": zeros, "all:ticks": zeros}
    assert "never met a tick" in refused(SET, run_of(tmp_path, points)).message


def test_a_sweep_without_phases_is_refused(tmp_path: Path) -> None:
    points = overhead_points()
    blocking = next(point for point in points if point.bench == "interference/blocking")
    blocking.lanes = {"all": counts(170, 354)}
    assert "an older kadenz" in refused(SET, run_of(tmp_path, points)).message


def test_runs_of_two_systems_are_refused(overheads: Run) -> None:
    other = Run(overheads.path, copy.deepcopy(overheads.manifest))
    other.manifest.conditions += [ConditionEntry(kind="rom_wait", value="4", usual="0")]
    assert "are of two systems: rom_wait 0 → 4" in refused(SET, overheads, other).message


def test_runs_of_two_targets_are_refused(overheads: Run, tmp_path: Path) -> None:
    other = run_of(tmp_path / "linux", [Point("itc/pipe", {"all": counts(1)})], LINUX)
    assert "posix/linux@host" in refused(SET, overheads, other).message
    assert "no run to take" in refused(SET).message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("period", "rate"), "unknown key `task[0].rate`"),
        (('"4 ms"', '"4"'), "`4` is not a quantity"),
        (('"4 ms"', '"1e308 ms"'), "`1e308 ms` is out of range"),
        (('"1000000 instructions"', '"5e-324 instructions"'), "5e-324 instructions` is out of"),
        (('name = "slow"', 'name = "fast"'), "two tasks are named `fast`"),
        (('name = "two"', 'name = "two"\npriorities = "given"'), "set `priority`"),
        (('name = "slow"', 'name = "slow"\npriority = 3'), "is allowed only"),
        (('execution = "1000000 instructions"', ""), "no execution time"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(change: tuple[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        task_set(SET.replace(*change, 1))
    assert said in caught.value.message
    assert "set.toml" in caught.value.message


def test_priorities_order_the_tasks(overheads: Run) -> None:
    short = SET.replace('deadline = "9 ms"', 'deadline = "3 ms"')

    def names(head: str, text: str = short) -> list[str]:
        budget = budget_of(
            task_set(text.replace('name = "two"', f'name = "two"\n{head}')), [overheads]
        )
        return [task.name for task in budget.tasks]

    assert names("") == names('priorities = "deadline-monotonic"') == ["slow", "fast"]
    assert names('priorities = "rate-monotonic"') == ["fast", "slow"]
    given = short.replace('name = "slow"', 'name = "slow"\npriority = 7')
    given = given.replace('name = "fast"', 'name = "fast"\npriority = 8')
    assert names('priorities = "given"', given) == ["fast", "slow"]


# ---- observed ------------------------------------------------------------------------------------
def observed(budget: Budget, folder: Path, responses: Sequence[tuple[int, int, int]]) -> Run:
    """A run of the workload with (response, task, job)."""
    params, _ = workload_points(budget)
    spans, tasks, jobs = (counts(*column) for column in zip(*responses, strict=True))
    lanes = {"all": spans, "all:task": tasks, "all:job": jobs}
    return run_of(folder, [Point("workload/taskset", lanes, params)])


def test_observed_responses_are_shown_next_to_their_bounds(overheads: Run, tmp_path: Path) -> None:
    budget = budget_of(task_set(), [overheads])
    params, samples = workload_points(budget)
    assert (params["period1_ticks"], params["work2"]) == (4, 500_000)
    assert samples == 5 + 2  # 20 ticks
    run = observed(budget, tmp_path / "run", [(1_000_400, 1, 0), (1_000_100, 1, 1), (900, 2, 0)])
    fast, slow = budget_of(task_set(), [overheads, run]).tasks
    assert fast.observed is not None
    assert slow.observed is not None
    assert (fast.observed.most, fast.observed.jobs, fast.observed.job) == (1_000_400, 2, 0)
    assert (slow.observed.most, slow.observed.jobs) == (900, 1)
    assert not fast.exceeds


def test_a_job_above_its_bound_is_found(overheads: Run, tmp_path: Path) -> None:
    budget = budget_of(task_set(), [overheads])
    bound = int(budget.tasks[0].bound)
    run = observed(budget, tmp_path / "run", [(bound, 1, 0), (bound + 1, 1, 7)])
    fast, slow = budget_of(task_set(), [overheads, run]).tasks
    assert fast.exceeds
    assert fast.observed is not None
    assert fast.observed.job == 7
    assert slow.observed is None


def test_the_workload_of_another_set_is_not_taken(overheads: Run, tmp_path: Path) -> None:
    budget = budget_of(task_set(), [overheads])
    run = observed(budget, tmp_path / "run", [(1, 1, 0)])
    other = task_set(SET.replace("1000000 instructions", "1000001 instructions"))
    assert [task.observed for task in budget_of(other, [overheads, run]).tasks] == [None, None]


# ---- coincidences --------------------------------------------------------------------------------
NO_OVERHEADS = "[overheads]\n" + "".join(
    f'{name} = "0"\n' for name in ("tick", "release", "start", "job", "blocking", "jitter")
)


def textbook(*tasks: tuple[str, str, str]) -> str:
    """A file with tasks of (C, T, D) in kernel ticks, the most urgent first, and no overheads."""
    return f'name = "textbook"\npriorities = "given"\n{NO_OVERHEADS}' + "".join(
        f'[[task]]\nname = "t{place}"\npriority = {-place}\nexecution = "{c} kernel ticks"\n'
        f'period = "{t} kernel ticks"\ndeadline = "{d} kernel ticks"\n'
        for place, (c, t, d) in enumerate(tasks)
    )


@pytest.mark.parametrize("odd", [0, 1, 3, 7])  # the tick is a whole number, and is not
@pytest.mark.parametrize(
    ("tasks", "bound", "met"),
    [
        ([("26", "70", "70"), ("62", "100", "118")], 118, True),  # Lehoczky 1990
        ([("26", "70", "70"), ("62", "100", "117")], 118, False),
        ([("1", "6", "6"), ("10", "24", "12")], 12, True),  # ends at a release
        ([("0.1", "1", "1"), ("5.4", "6", "6")], 6, True),  # all of the processor
        ([("2", "4", "4"), ("4", "8", "8")], 8, True),
        ([("2", "5", "5"), ("4", "7", "7")], 8, False),  # Liu and Layland 1973
    ],
)
def test_response_times_of_textbooks(
    tasks: list[tuple[str, str, str]], bound: int, met: bool, odd: int, tmp_path: Path
) -> None:
    points = [point for point in overhead_points() if point.bench != "interference/tick"]
    periods = counts(*[TICK - 1] * odd, *[TICK] * (20 - odd))
    points += [Point("interference/tick", {"tick": counts(55), "period": periods})]
    budget = budget_of(task_set(textbook(*tasks)), [run_of(tmp_path, points)])
    assert budget.tasks[-1].bound == bound * budget.tick
    assert budget.schedulable is met


# ---- a blocking that is no bound -----------------------------------------------------------------
RESOURCE = '[[task.section]]\nresource = "bus"\nlength = "300 instructions"\n'


def test_a_set_that_locks_resources_is_undecided(overheads: Run) -> None:
    budget = budget_of(task_set(SET + RESOURCE), [overheads])
    assert [task.name for task in budget.undecided] == ["fast"]  # nothing blocks the least urgent
    assert not budget.schedulable
    assert breaks_first(budget, changes_of(budget)) is None
    by_hand = SET.replace("[[task]]", '[overheads]\nblocking = "900 instructions"\n[[task]]', 1)
    assert budget_of(task_set(by_hand + RESOURCE), [overheads]).schedulable


def test_a_set_whose_services_were_profiled_is_undecided(
    overheads: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = Overhead(269, "critical/semaphore-give", SECTIONS, "section")
    monkeypatch.setattr("kadenz.analysis.blocking.longest_section", lambda _: longest)
    budget = budget_of(task_set(), [overheads])
    assert budget.overheads["blocking"].ticks == 269
    assert budget.overheads["tick"].ticks == 42 + 22  # after a lock
    assert [task.name for task in budget.undecided] == ["fast"]
    assert not budget.late


# ---- sensitivity ---------------------------------------------------------------------------------
def test_each_limit_is_the_last_value_that_meets_every_deadline(overheads: Run) -> None:
    budget = budget_of(task_set(), [overheads])
    changes = {change.what: change for change in changes_of(budget)}
    for place, task in enumerate(budget.tasks):
        limit = changes[f"execution of {task.name}"].limit
        assert limit is not None
        for execution, met in ((limit, True), (limit + 0.01, False)):
            model = [*budget.model]
            model[place] = type(model[place])(
                execution, task.period, task.deadline, task.urgency, 0.0
            )
            assert schedulable(model, budget.kernel) == met
    # The slow task meets two jobs of the fast one from a period of 1.5 ticks and more on.
    assert changes["period of fast"].limit == 2 * TICK
    first = breaks_first(budget, list(changes.values()))
    assert first is changes["period of fast"]
    assert first.share == -0.5


def test_an_unschedulable_set_says_what_would_help(overheads: Run) -> None:
    text = SET.replace('deadline = "9 ms"', 'deadline = "1 ms"').replace('"4 ms"', '"2 ms"')
    budget = budget_of(task_set(text), [overheads])
    assert [task.margin >= 0 for task in budget.tasks] == [True, True]
    tight = text.replace('execution = "0.5 kernel ticks"', 'execution = "0.9999 kernel ticks"')
    budget = budget_of(task_set(tight), [overheads])
    assert not budget.schedulable
    changes = {change.what: change for change in changes_of(budget)}
    assert breaks_first(budget, list(changes.values())) is None
    slow = changes["execution of slow"]
    assert slow.limit is not None
    assert slow.limit < 999_900
    assert changes["period of slow"].limit is None  # no period makes its own work shorter


# ---- resources -----------------------------------------------------------------------------------
def test_blocking_by_resources() -> None:
    """Three tasks; the two less urgent ones hold a for 5 and 7, the last holds b for 4."""
    uses = [
        Use("high", 3, "a", 1),
        Use("high", 3, "b", 1),
        Use("middle", 2, "a", 5),
        Use("low", 1, "a", 7),
        Use("low", 1, "b", 4),
    ]
    assert blocking_times(uses, 3, "ceiling", 100) == 7
    assert blocking_times(uses, 3, "inherit", 10) == min(7 + 4 + 20, 5 + 7 + 20)
    assert blocking_times(uses, 2, "ceiling", 100) == 7  # low holds b at the rank of high
    assert blocking_times(uses, 1, "inherit", 10) == 0
    unshared = [Use("middle", 2, "c", 9), Use("low", 1, "d", 9)]
    assert blocking_times(unshared, 3, "inherit", 10) == 0  # nobody above uses them
