# SPDX-License-Identifier: Apache-2.0
"""`critical/`: the longest sections of kernel services, and the budget that takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.analysis.blocking import longest_section
from kadenz.analysis.profiles import view
from kadenz.config.profile import MaskedEntry, Profile
from kadenz.report.families.critical import table_of_sections
from kadenz.store import Run, read_run
from kadenz.store.profiles import read_profiles
from tests.forked import kadenz
from tests.rtos.images import boot, build

pytestmark = pytest.mark.counted

BOARDS = ("hifive1-revb", "stm32f4")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One profiled run of the campaign on each board."""
    folder = tmp_path_factory.mktemp("critical")
    targets = [word for board in BOARDS for word in ("--target", f"freertos/{board}@emulated")]
    settings = ["--set", "samples=3", "--output", str(folder)]
    answer = kadenz("profile", "critical", *targets, *settings)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "longest sections that nothing preempts" in answer.stdout
    profiled = [read_run(file.parent) for file in folder.glob("*/run.json")]
    return {run.manifest.target.board: run for run in profiled}


def sections(run: Run, bench: str, kind: str) -> list[tuple[Profile, MaskedEntry]]:
    """The sections of one kind in the records of a benchmark."""
    return [
        (profile, section)
        for profile in read_profiles(run)
        if profile.bench == bench
        for lane in profile.lanes
        for section in getattr(view(lane, "all"), kind)
    ]


def longest(run: Run, bench: str, kind: str) -> int:
    """Its longest section in instructions; 0 without one."""
    return max((entry.instructions for _, entry in sections(run, bench, kind)), default=0)


# What FreeRTOS lacks: pools on every board, timers on one with little memory.
LACKING = {
    "stm32f4": {"critical/block-pool-allocate", "critical/block-pool-release"},
    "hifive1-revb": {
        *("critical/block-pool-allocate", "critical/block-pool-release"),
        *("critical/timer-start", "critical/timer-stop"),
    },
}


@pytest.mark.parametrize("board", BOARDS)
def test_every_service_has_its_sections(board: str, runs: dict[str, Run]) -> None:
    run = runs[board]
    records = [r for r in run.manifest.records if r.bench.startswith("critical/")]
    assert {r.bench for r in records if r.status == "n/a"} == LACKING[board]
    assert {r.status for r in records} == {"ok", "n/a"}
    benches = {r.bench for r in records if r.status == "ok"}
    assert len(benches | LACKING[board]) == 24
    for bench in benches:
        masked, locked, held = (longest(run, bench, kind) for kind in ("masked", "locked", "held"))
        assert masked > 0, bench
        assert held >= max(masked, locked), bench
    table = table_of_sections(read_profiles(run))
    assert table is not None
    assert {row[0].text for row in table.rows} == {bench.partition("/")[2] for bench in benches}


@pytest.mark.parametrize("board", BOARDS)
def test_the_scheduler_is_locked_where_freertos_locks_it(board: str, runs: dict[str, Run]) -> None:
    """xTaskDelayUntil suspends the scheduler; a give without a waiter does not."""
    locked = sections(runs[board], "critical/sleep", "locked")
    names = {profile.functions[n].name for profile, entry in locked for n in entry.path}
    assert "xTaskDelayUntil" in names
    assert sections(runs[board], "critical/semaphore-take", "locked") == []


@pytest.mark.parametrize("board", BOARDS)
def test_a_waiter_makes_the_section_of_an_unlock_longer(board: str, runs: dict[str, Run]) -> None:
    """It gets the mutex in the call that frees it."""
    free, contended = (
        max(section.instructions for section in view(profile.lanes[0], "all").held)
        for profile in read_profiles(runs[board])
        if profile.bench == "critical/mutex-unlock"
    )
    assert contended > 2 * free


@pytest.mark.parametrize("board", BOARDS)
def test_a_section_is_part_of_its_call(board: str, runs: dict[str, Run]) -> None:
    run = runs[board]
    for profile in read_profiles(run):
        if profile.bench.startswith("critical/"):
            for lane_view in profile.lanes[0].views:
                assert (
                    sum(e.instructions * e.times for e in lane_view.held) < lane_view.instructions
                )


def test_a_budget_takes_the_longest_section_of_all(runs: dict[str, Run]) -> None:
    run = runs["stm32f4"]
    section = longest_section([run])
    assert section is not None
    assert section.source.startswith("critical/")
    benches = {profile.bench for profile in read_profiles(run)}
    assert section.ticks == max(longest(run, b, "held") for b in benches if b[:4] == "crit")


WAITING = ("semaphore-take", "mutex-lock", "queue-receive", "stream-buffer-receive")


@pytest.mark.parametrize("board", BOARDS)
def test_a_call_that_blocks_is_let_go_by_a_less_urgent_thread(board: str, tmp_path: Path) -> None:
    """Its sample has the sections of both threads; the proof holds that it waited."""
    services = [f"critical/{name}" for name in (*WAITING, "event-flag-wait")]
    target = ["--target", f"freertos/{board}@emulated", "--output", str(tmp_path)]
    answer = kadenz("profile", *services, *target, "--set", "blocks=1,2", "--set", "samples=3")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (run,) = [read_run(file.parent) for file in tmp_path.glob("*/run.json")]
    records = [record for record in run.manifest.records if record.bench in services]
    assert {record.status for record in records} == {"ok"} and len(records) == 2 * len(services)
    for service in services:
        assert sections(run, service, "locked"), service


def test_without_the_scope_it_is_n_a() -> None:
    said = boot(build("stm32f4"), "stm32f4", "critical/sleep id=1 samples=3\nend\n")
    _, end = said.record("critical/sleep")
    assert end.status == "n/a"
    assert "the scope alone" in end.reason


def test_profiles_from_before_say_nothing_of_locks(tmp_path: Path) -> None:
    """`locked` and `held` may be missing in a file."""
    import msgspec

    from kadenz.config.profile import ViewEntry

    old = (
        b'{"name": "all", "sample": -1, "samples": 1, "instructions": 5, "stacks": [], "code": [],'
        b' "exceptions": {}, "returns": 0, "masked": []}'
    )
    assert msgspec.json.decode(old, type=ViewEntry).held == []
