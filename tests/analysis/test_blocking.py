# SPDX-License-Identifier: Apache-2.0
"""Blocking by services: from arrivals that were tried, and from bounds above them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis.blocking import SECTIONS, Basis
from kadenz.analysis.budget import LOCKS, Budget, budget_of
from kadenz.analysis.overheads import Overhead
from kadenz.analysis.sensitivity import changes_of
from kadenz.archive.texts import packed, unpack
from kadenz.config.bounds import LaneBound, RunBounds, ServiceBound
from kadenz.config.manifest import ConditionEntry, PartEntry, companions_of
from kadenz.errors import StoreError, UsageError
from kadenz.report.budget import as_data, sentences
from kadenz.store import Run, read_run
from kadenz.store.bounds import read_bounds, write_bounds
from kadenz.store.layout import BOUNDS
from tests.analysis.test_budget import RESOURCE, SET, overhead_points, run_of, task_set
from tests.synthetic import STM32F4, Point, manifest, write_run

GIVE, UNLOCK = "critical/semaphore-give", "critical/mutex-unlock"
BY_HAND = SET.replace("[[task]]", '[overheads]\nblocking = "900 instructions"\n[[task]]', 1)
LEAST, TRIED, BOUND = 495, 1131, 1533


@dataclass
class Tried:
    """A service with an interrupt in each of its cycles: the thread's latencies; its bound, the
    reason why there is none, or nothing."""

    task: Sequence[int]
    bound: int | str | None = None


def tried_run(
    folder: Path,
    services: Mapping[str, Tried],
    *,
    sleepers: int = 3,
    conditions: Sequence[ConditionEntry] = (),
    ticked: bool = False,
) -> Run:
    """A run as `kadenz worst` leaves it; with bounds, as `kadenz bound` does; with ticks, as
    `kadenz worst --with tick` does."""
    document = manifest(STM32F4)
    arrivals = ConditionEntry(
        kind="arrivals", value="every cycle of sample 4", usual="none", changes_system=True
    )
    document.conditions += [arrivals, *conditions]
    points = []
    for bench, service in services.items():
        count = len(service.task)
        lanes = {"all": [count], "handler": [120] * count, "task": list(service.task)}
        for lane in ("handler", "task"):
            lanes[f"{lane}:phase"] = list(range(1, count + 1))
            lanes |= {f"{lane}:{kind}": [0] * count for kind in ("pc", "masked", "locked")}
            lanes |= {f"{lane}:{kind}": [9] * count for kind in companions_of("tick") if ticked}
        arrays = {name: np.array(values, dtype=np.uint32) for name, values in lanes.items()}
        points.append(Point(bench, arrays))
    run = read_run(write_run(folder, document, points))
    bounded = [
        _bounded(record, bench, service)
        for record, (bench, service) in enumerate(services.items())
        if service.bound is not None
    ]
    if bounded:
        at_most = {"sleepers": sleepers, "threads": 1}
        unit = run.manifest.clock.unit
        write_bounds(run.path, RunBounds(version=1, unit=unit, at_most=at_most, services=bounded))
    return run


def _bounded(record: int, bench: str, service: Tried) -> ServiceBound:
    refused = isinstance(service.bound, str)
    handler = LaneBound(tried=120, bound=None, why_not="not of interest", section="", parts={})
    task = LaneBound(
        tried=max(service.task),
        bound=None if refused else int(service.bound or 0),
        why_not=str(service.bound) if refused else "",
        section="" if refused else "vTaskSuspendAll+0x6",
        parts={} if refused else {"the lock": int(service.bound or 0)},
    )
    return ServiceBound(
        bench=bench, records=[record], tick=False, never=["memcpy"], handler=handler, task=task
    )


@pytest.fixture
def overheads(tmp_path: Path) -> Run:
    """A run of the campaign."""
    return run_of(tmp_path / "overheads", overhead_points())


@pytest.fixture
def give(tmp_path: Path) -> Run:
    """A run of `kadenz bound`."""
    return tried_run(tmp_path / "give", {GIVE: Tried([LEAST, TRIED, 600], BOUND)})


def answer(budget: Budget) -> list[str]:
    """The sentences of the command."""
    return sentences(budget, changes_of(budget))


@pytest.mark.parametrize(
    ("basis", "blocking"),
    [(None, BOUND - LEAST), ("bound", BOUND - LEAST), ("tried", TRIED - LEAST)],
)
def test_either_end_of_the_interval_is_the_blocking(
    basis: Basis | None, blocking: int, overheads: Run, give: Run
) -> None:
    budget = budget_of(task_set(), [overheads, give], basis)
    fast, slow = budget.tasks
    assert budget.overheads["blocking"].ticks == fast.blocking == blocking
    assert slow.blocking == 0
    assert budget.overheads["tick"].ticks == 42 + 22  # any tick may come in a lock
    # A bound decides; the states that were tried do not.
    assert budget.schedulable is (basis != "tried")
    assert [task.name for task in budget.undecided] == (["fast"] if basis == "tried" else [])


def test_a_set_within_its_deadline_by_the_longest_section_is_late_by_the_bound(
    overheads: Run, give: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same task set: within its deadline with the section and with every arrival that was
    tried, and beyond it with the bound."""
    section = Overhead(269, GIVE, SECTIONS, "section")
    monkeypatch.setattr("kadenz.analysis.blocking.longest_section", lambda _: section)
    fast = budget_of(task_set(), [overheads, give]).tasks[0]
    deadline = f'deadline = "{int(fast.bound) - 1} instructions"'
    given = task_set(SET.replace('period = "4 ms"', f'period = "4 ms"\n{deadline}'))
    bound = budget_of(given, [overheads, give], "bound")
    assert [task.name for task in bound.late] == ["fast"]
    bases: tuple[Basis, ...] = ("section", "tried")
    for basis in bases:
        budget = budget_of(given, [overheads, give], basis)
        assert not budget.late and not budget.schedulable


@pytest.mark.parametrize("basis", [None, "bound"])
def test_a_service_without_a_bound_is_named(
    basis: Basis | None, overheads: Run, give: Run, tmp_path: Path
) -> None:
    why = "prvTimerTask+0xba: `jr a5` leads through a register"
    timer = tried_run(tmp_path / "timer", {"critical/timer-start": Tried([LEAST, 1821], why)})
    budget = budget_of(task_set(), [overheads, give, timer], basis)
    assert budget.overheads["blocking"].ticks == 1821 - LEAST  # it takes that, at least
    assert budget.tasks[0].basis == "tried"
    assert budget.undecided and budget.undecided[0].too_small == (
        f"no bound of critical/timer-start: {why}"
    )
    unlock = tried_run(tmp_path / "unlock", {UNLOCK: Tried([LEAST, 700])})
    (fast,) = budget_of(task_set(), [overheads, give, unlock], basis).undecided
    assert f"{UNLOCK} was tried, and has no bound" in fast.too_small
    assert fast.basis == "bound"


def test_the_least_of_all_arrivals_is_undisturbed(
    overheads: Run, give: Run, tmp_path: Path
) -> None:
    """A service all of whose arrivals wait must not make the blocking smaller."""
    waits = tried_run(tmp_path / "waits", {UNLOCK: Tried([900, 1200], 1600)})
    budget = budget_of(task_set(), [overheads, give, waits])
    assert budget.overheads["blocking"].ticks == 1600 - LEAST


def test_states_of_a_service_are_tried_together(overheads: Run, give: Run, tmp_path: Path) -> None:
    held = ConditionEntry(kind="sleepers", value="2", usual="0", changes_system=True)
    longer = tried_run(tmp_path / "held", {GIVE: Tried([LEAST, 1400])}, conditions=[held])
    runs = [overheads, give, longer]
    assert budget_of(task_set(), runs, "tried").overheads["blocking"].ticks == 1400 - LEAST
    assert budget_of(task_set(), runs, "bound").schedulable
    above = tried_run(tmp_path / "above", {GIVE: Tried([LEAST, BOUND + 1])}, conditions=[held])
    with pytest.raises(UsageError, match=f"{GIVE}: an arrival took 1,534, and its bound is 1,533"):
        budget_of(task_set(), [*runs, above])


def test_a_sleep_that_takes_longer_is_the_blocking(overheads: Run, tmp_path: Path) -> None:
    short = tried_run(tmp_path / "short", {GIVE: Tried([LEAST, 500], 520)})
    blocking = budget_of(task_set(), [overheads, short]).overheads["blocking"]
    assert (blocking.ticks, blocking.source) == (192, "interference/blocking tasks=6")


def test_a_bound_of_fewer_sleepers_than_the_set_has_does_not_hold(
    overheads: Run, tmp_path: Path
) -> None:
    run = tried_run(tmp_path / "few", {GIVE: Tried([LEAST, TRIED], BOUND)}, sleepers=0)
    budget = budget_of(task_set(), [overheads, run])
    assert "allows 0 sleepers, and 2 tasks may have 1" in budget.undecided[0].too_small
    assert "--at-most sleepers=1" in budget.undecided[0].too_small


def test_each_response_time_says_what_it_rests_on(overheads: Run, give: Run) -> None:
    budget = budget_of(task_set(), [overheads, give])
    said = "\n".join(answer(budget))
    assert "R of fast rests on a blocking of 1,038 instructions, the largest bound" in said
    assert f"{GIVE}, bound 1,533, less 495" in said
    assert f"premise: tasks call no service of the kernel but their sleep and {GIVE}" in said
    assert "premise: one interrupt comes in a service" in said
    assert "premise: loops of the kernel stay within sleepers 3, threads 1" in said
    assert f"premise: no way of {GIVE} leads through memcpy" in said
    assert "R of slow rests on no blocking" in said
    data = as_data(budget, changes_of(budget))
    assert [task["basis"] for task in data["tasks"]] == ["bound", None]
    assert len(data["overheads"]["blocking"]["premises"]) == 4
    tried = budget_of(task_set(), [overheads, give], "tried")
    said = "\n".join(answer(tried))
    assert "undecided for fast: the blocking may be longer than 636 instructions" in said
    assert "premise: no state of the kernel makes a service longer than those tried" in said
    by_hand = budget_of(task_set(BY_HAND), [overheads, give])
    assert "900 instructions, which FILE states" in "\n".join(answer(by_hand))


def test_a_bound_does_not_cover_a_wait_for_a_resource(overheads: Run, tmp_path: Path) -> None:
    services = {name: Tried([LEAST, TRIED], BOUND) for name in (UNLOCK, "critical/mutex-lock")}
    runs = [overheads, tried_run(tmp_path / "locks", services)]
    budget = budget_of(task_set(SET + RESOURCE), runs)
    assert [task.too_small for task in budget.undecided] == [LOCKS]
    assert budget_of(task_set(BY_HAND + RESOURCE), runs).schedulable


# ---- what cannot be used -------------------------------------------------------------------------
def refused(runs: Sequence[Run], basis: Basis | None = None, text: str = SET) -> UsageError:
    """The error."""
    with pytest.raises(UsageError) as caught:
        budget_of(task_set(text), runs, basis)
    assert caught.value.exit_code == 2 and caught.value.remedy
    return caught.value


def test_what_the_runs_lack_is_named_with_its_command(
    overheads: Run, give: Run, tmp_path: Path
) -> None:
    tried = tried_run(tmp_path / "tried", {GIVE: Tried([LEAST, TRIED])})
    for basis, runs, lacks, command in (
        ("bound", [overheads, tried], "bounds of services", "bound"),
        ("tried", [overheads], "arrivals in services", "worst"),
        ("section", [overheads, give], "profiles of services", "profile"),
    ):
        error = refused(runs, basis)  # type: ignore[arg-type]
        assert error.message == f"--blocking {basis}: no RUN has {lacks}"
        assert error.remedy.startswith(f"kadenz {command} critical --target freertos/stm32f4@")
    assert "has arrivals alone" in refused([give]).message
    assert "states `blocking`" in refused([overheads, give], "bound", BY_HAND).message


def test_a_run_without_a_service_is_refused(overheads: Run, tmp_path: Path) -> None:
    empty = tried_run(tmp_path / "none", {})
    assert "no service in it has arrivals" in refused([overheads, empty]).message


def test_arrivals_with_ticks_are_refused(overheads: Run, give: Run, tmp_path: Path) -> None:
    """A tick is a term of its own; and a bound without one may be below such an arrival."""
    ticked = tried_run(tmp_path / "ticked", {GIVE: Tried([LEAST, BOUND + 1])}, ticked=True)
    error = refused([overheads, give, ticked])
    assert "with a second tick" in error.message and "without --with" in error.remedy


def test_services_that_failed_are_named(overheads: Run, give: Run) -> None:
    (record,) = give.manifest.records
    failed = msgspec.structs.replace(record, id=1, bench=UNLOCK, status="failed", reason="stopped")
    give.manifest.records.append(failed)
    (fast,) = budget_of(task_set(), [overheads, give]).undecided
    assert fast.too_small == f"{UNLOCK} is failed: stopped"


def test_arrivals_without_an_end_leave_the_bound_open(overheads: Run, give: Run) -> None:
    """Which functions they met is unknown."""
    for lane in give.manifest.records[0].series[1:]:
        lane.missed = 3
    (fast,) = budget_of(task_set(), [overheads, give]).undecided
    assert fast.too_small.startswith(f"{GIVE}: arrivals came to no end")


@pytest.mark.parametrize("what", ["wait states", "kernel", "sources"])
def test_arrivals_of_another_system_are_refused(what: str, overheads: Run, give: Run) -> None:
    """More threads are the same system; another memory, kernel or port is not."""
    if what == "wait states":
        waits = ConditionEntry(kind="rom_wait", value="4", usual="0", changes_system=True)
        give.manifest.conditions.append(waits)
    if what == "kernel":
        give.manifest.target.kernel_version = "V10.6.2"
    if what == "sources":
        for run, digest in ((overheads, "a"), (give, "b")):
            assert run.manifest.build is not None
            run.manifest.build.parts = [PartEntry(part="port", files=3, sha256=digest * 64)]
    message = refused([overheads, give]).message
    assert "are of two systems" in message
    assert {"wait states": "rom_wait", "kernel": "V10.6.2", "sources": "files of the port"}[
        what
    ] in message


def test_arrivals_are_no_execution_times(overheads: Run, give: Run) -> None:
    text = SET.replace('execution = "1000000 instructions"', f'measured = {{ bench = "{GIVE}" }}')
    assert f"no run here has samples of {GIVE}" in refused([overheads, give], None, text).message


# ---- the file ------------------------------------------------------------------------------------
def test_a_run_without_bounds_has_none(overheads: Run) -> None:
    assert read_bounds(overheads) is None


def test_bounds_are_replaced_as_a_whole(give: Run) -> None:
    bounds = read_bounds(give)
    assert bounds is not None and bounds.services[0].task.bound == BOUND
    (give.path / f".{BOUNDS}").symlink_to("/dev/full")  # of a killed writer
    write_bounds(give.path, bounds)
    assert read_bounds(give) == bounds
    assert not (give.path / f".{BOUNDS}").exists()


def test_an_archive_keeps_the_bounds(give: Run, tmp_path: Path) -> None:
    unpack(packed(give), tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / BOUNDS).read_bytes() == (give.path / BOUNDS).read_bytes()


CHANGES: dict[str, Callable[[RunBounds], object]] = {
    "other arrivals": lambda bounds: setattr(bounds.services[0].task, "tried", 1),
    "a service twice": lambda bounds: bounds.services.append(bounds.services[0]),
    "other records": lambda bounds: setattr(bounds.services[0], "records", [7]),
    "its unit is ns": lambda bounds: setattr(bounds, "unit", "ns"),
    "the parts are not the bound": lambda bounds: bounds.services[0].task.parts.clear(),
    "neither a bound nor a reason": lambda b: setattr(b.services[0].task, "why_not", "no"),
    "version 2": lambda bounds: setattr(bounds, "version", 2),
    "of length >= 1": lambda bounds: bounds.services[0].records.clear(),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_damaged_file_is_named(said: str, overheads: Run, give: Run) -> None:
    bounds = read_bounds(give)
    assert bounds is not None
    CHANGES[said](bounds)
    write_bounds(give.path, bounds)
    with pytest.raises(StoreError, match=said) as caught:
        budget_of(task_set(), [overheads, give])
    assert str(give.path) in caught.value.message and caught.value.remedy
