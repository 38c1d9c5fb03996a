# SPDX-License-Identifier: Apache-2.0
"""kadenz worst on two Ibex: an interrupt in every cycle of a service beside another core's work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.structures.population import EXHAUSTIVE_BESIDE
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.manifest import ARRIVALS, BESIDE, DELAY
from kadenz.config.target_name import parse_target
from kadenz.errors import UsageError
from kadenz.lab.beside import CORES, KINDS, Beside, kinds_of
from kadenz.lab.profile.watching import flag_of
from kadenz.store import Run
from kadenz.targets import scope
from kadenz.targets.arrivals import Asked, read_arrivals
from tests.rtl.test_arrivals import (
    GIVE,
    SAMPLES,
    Bench,
    all_arrivals,
    curve,
    population,
    record_of,
    worst,
)
from tests.rtl.test_cores import IBEX, kadenz
from tests.rtl.test_two_cores import IBEX_2

pytestmark = pytest.mark.counted
OFFSETS = 8


def beside(bench: str, folder: Path, asked: Asked, settings: str = "") -> tuple[Bench, Asked]:
    """The bench of a sample of `bench`, and `asked` with what tells the handlers."""
    line = " ".join([bench, "id=10", f"samples={SAMPLES}", settings, *asked.keys])
    built = Bench(folder, IBEX_2, line, asked)
    name = parse_target(IBEX_2)
    tier = inventory.board(name.board).tier.rtl
    assert tier is not None
    return built, replace(asked, flag=flag_of(name, tier, built.image))


@pytest.mark.parametrize(
    ("kind", "core"), [("idle", "service"), ("calls", "service"), ("calls", "other")]
)
def test_copies_of_both_cores_agree_with_runs_from_reset(
    kind: str, core: str, tmp_path: Path
) -> None:
    asked = Asked(SAMPLES - 1, beside=kind, delay=150, elsewhere=core == CORES[1])
    bench, asked = beside(GIVE, tmp_path, asked, "waiter=0")
    undisturbed, file = bench.marks(), tmp_path / "arrivals"
    assert bench.marks(*asked.arguments(str(file))).tobytes() == undisturbed.tobytes()
    seen = read_arrivals(file)
    rows = {int(row["phase"]): row for row in seen.rows}
    assert sorted(rows) == list(range(1, seen.cycles + 1)) and not seen.lost
    assert set(seen.rows["handled"]) == set(seen.rows["responded"]) == {1}

    handler, task = seen.rows["handler"], seen.rows["task"]
    chosen = {int(f(values)) + 1 for f in (np.argmin, np.argmax) for values in (handler, task)}
    for phase in chosen | {seen.cycles // 3}:
        events = bench.marks(*asked.arguments(str(file)), "--arrival-only", str(phase))
        begin = events["low"][events["value"] == scope.BEGIN][-1]
        (handled,) = events["low"][events["value"] == scope.HANDLED]
        (responded,) = events["low"][events["value"] == scope.RESPONDED]
        assert handled - begin - phase == rows[phase]["handler"]
        assert responded - begin - phase == rows[phase]["task"]
        assert events["low"][events["value"] == scope.END][-1] - begin == rows[phase]["end"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Run]:
    """By the work of the other core, and the turns by which it begins later."""
    folder = tmp_path_factory.mktemp("beside")
    service = (GIVE, "--target", IBEX_2, "--beside")
    worst(folder, *service, "idle,loop")
    worst(folder, *service, "calls", "--offsets", str(OFFSETS))
    return {condition(run): run for run in find_runs([folder])}


def condition(run: Run) -> tuple[str, int]:
    values = {entry.kind: entry.value for entry in run.manifest.conditions}
    return values[BESIDE], int(values.get(DELAY, 0))


def test_each_offset_has_a_run(
    runs: dict[tuple[str, int], Run],
) -> None:
    delays = [place * 320 // OFFSETS for place in range(OFFSETS)]
    works = [("idle", 0), ("loop", 0), *(("calls", delay) for delay in delays)]
    assert sorted(runs) == sorted(works)
    for (kind, _), run in runs.items():
        premise = all_arrivals(run).premise
        assert premise == EXHAUSTIVE_BESIDE["idle" if kind == "idle" else ""]


def test_a_lock_that_the_other_core_holds_delays_the_handler(
    runs: dict[tuple[str, int], Run],
) -> None:
    """The kernel's calls have interrupts off while they wait for it; a loop takes none."""
    most = {kind: 0.0 for kind, _ in runs}
    worst_of: dict[str, Run] = {}
    for (kind, _), run in runs.items():
        exact = population(run, GIVE)
        if exact.handler.max > most[kind]:
            most[kind], worst_of[kind] = exact.handler.max, run
    assert most["idle"] < most["loop"] and 1.3 * most["loop"] < most["calls"]
    values = curve(worst_of["calls"], GIVE)
    late = values["handler"] > most["loop"]
    assert late.any() and values["masked"][late].mean() > 0.95


def test_a_service_with_a_thread_on_the_other_core_has_no_work_beside_it(tmp_path: Path) -> None:
    bench, settings = "itc/semaphore-give", ("--set", "core_b=1")
    (run,) = worst(tmp_path, bench, *settings, "--target", IBEX_2, "--beside", "loop")
    record = record_of(run, bench)
    assert record.status == "n/a" and "a thread of its own on the core" in record.reason
    assert all(lane.name not in ARRIVALS for lane in record.lanes)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (f"--target {IBEX} --beside calls", "it has one core, and --beside is of another one"),
        (f"--target {IBEX} --offsets 2", "it has one core, and --offsets is of another one"),
        (f"--target {IBEX} --core other", "it has one core, and --core is of another one"),
        (f"--target {IBEX_2} --with tick", "an interrupt is tried without --with tick"),
        (f"--target {IBEX_2} --state waking=1", "an interrupt is tried without --state waking"),
        (f"--target {IBEX_2} --why", "it has 2 cores, and a profile follows one"),
        (f"--target {IBEX_2} --beside same", "no work `same` of another core"),
    ],
)
def test_what_a_number_of_cores_cannot_try_is_refused(
    options: str, why: str, tmp_path: Path
) -> None:
    answer = kadenz("worst", GIVE, *options.split(), "--output", str(tmp_path))
    assert isinstance(answer.exception, UsageError) and why in answer.exception.message
    assert answer.exception.remedy and not list(tmp_path.iterdir())


def test_kinds_and_offsets_are_one_execution_each() -> None:
    asked = list(Beside(kinds_of("calls,idle,calls"), offsets=2, core="other").of(Asked(3)))
    assert [(each.beside, each.delay) for each in asked] == [
        ("calls", 0),
        ("calls", 160),
        ("idle", 0),
    ]
    assert all(each.elsewhere and each.sample == 3 for each in asked)
    assert asked[1].keys == ("arrivals=1", "beside=calls", "beside.delay=160")
    assert [each.beside for each in Beside().of(Asked(3))] == [*KINDS]
