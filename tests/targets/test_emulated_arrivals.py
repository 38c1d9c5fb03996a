# SPDX-License-Identifier: Apache-2.0
"""kadenz worst in QEMU: an interrupt in every instruction of a service, one in a sample."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.target_name import TargetName
from kadenz.errors import EXIT_FAILED, UsageError
from kadenz.lab import arrivals
from kadenz.store import Run
from tests.rtl.test_arrivals import (
    GIVE,
    NOPS,
    WAITER,
    all_arrivals,
    curve,
    planted,
    population,
    processes_with,
    record_of,
    worst,
)
from tests.rtl.test_cores import kadenz
from tests.waiting import wait_for

pytestmark = pytest.mark.counted
RISCV, ARM = "freertos/hifive1-revb@emulated", "freertos/stm32f4@emulated"
BOARDS = [
    name
    for name, board in sorted(inventory.boards().items())
    if board.tier.emulated is not None and board.tier.emulated.interrupt is not None
]


@pytest.fixture(scope="module", params=[RISCV, ARM])
def give(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("give")
    (run,) = worst(folder, GIVE, *WAITER, "--target", request.param)
    return run


def test_every_instruction_between_the_stamps_has_its_arrival(give: Run) -> None:
    assert all_arrivals(give).moment == "instruction"


@pytest.mark.parametrize("board", BOARDS)
def test_the_interrupt_of_each_board_is_raised(board: str, tmp_path: Path) -> None:
    """`interrupt` in its board.toml is the one that the image's handler serves."""
    (run,) = worst(tmp_path, GIVE, "--step", "8", "--target", f"freertos/{board}@emulated")
    exact = population(run, GIVE)
    assert exact.tried > 5 and exact.lost == exact.untried == 0


def test_a_service_that_is_too_long_to_be_repeated_says_so(tmp_path: Path) -> None:
    bench = "micro/preemption"
    answer = kadenz("worst", bench, "--target", RISCV, "--output", str(tmp_path))
    (run,) = find_runs([tmp_path])
    assert answer.return_value == EXIT_FAILED and record_of(run, bench).status == "failed"
    assert "too long to be repeated for each arrival" in (run.path / "console.txt").read_text()


def test_what_is_off_or_locked_is_where_it_is_late(give: Run) -> None:
    """With interrupts on, the handler begins after the core's way to it, which has one length."""
    values = curve(give, GIVE)
    masked, late = values["masked"] > 0, values["handler"] - values["handler"].min()
    # An instruction that turns them off was begun with interrupts on.
    assert masked[late > 2].mean() > 0.95 and np.median(late[~masked]) == 0
    assert late[masked].max() > 100 and values["locked"].max() == 1
    exact = population(give, GIVE)
    assert exact.task.function == "vTaskSuspendAll" and exact.handler.function


def test_an_arrival_depends_on_no_other(give: Run, tmp_path: Path) -> None:
    """Each has a sample of its own: of one in seven, every other sample and tick is another."""
    target = give.manifest.target.name
    (few,) = worst(tmp_path, GIVE, *WAITER, "--step", "7", "--target", target)
    every, seventh = curve(give, GIVE), curve(few, GIVE)
    for name, values in every.items():
        assert values[::7].tolist() == seventh[name].tolist(), name


def test_another_execution_has_the_same_rows(give: Run, tmp_path: Path) -> None:
    target = give.manifest.target.name
    (again,) = worst(tmp_path, GIVE, *WAITER, "--fresh", "--target", target)
    first, second = curve(give, GIVE), curve(again, GIVE)
    assert all(first[name].tolist() == second[name].tolist() for name in first)


def test_nops_in_a_critical_section_are_in_the_maximum_exactly(tmp_path: Path) -> None:
    most = {}
    for count in (0, NOPS):
        source = ("--kernel-source", str(planted(count)))
        (run,) = worst(tmp_path / str(count), GIVE, *WAITER, "--target", RISCV, *source)
        most[count] = population(run, GIVE)
    assert most[NOPS].handler.max - most[0].handler.max == NOPS
    assert most[NOPS].tried - most[0].tried == NOPS


@pytest.mark.parametrize("target", [RISCV, ARM])
def test_a_service_that_has_a_tick_by_itself_is_tried(target: str, tmp_path: Path) -> None:
    """As often as without an interrupt, a tick comes in each of its samples."""
    (run,) = worst(tmp_path, "critical/sleep", "--target", target)
    exact = population(run, "critical/sleep")
    assert exact.exhaustive and exact.handler.max > exact.handler.min


def test_too_few_samples_are_named_with_the_step_that_suffices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "FURTHER", 100)
    asked = ("worst", GIVE, *WAITER, "--target", RISCV, "--output", str(tmp_path))
    answer = kadenz(*asked)
    (run,) = find_runs([tmp_path])
    record = record_of(run, GIVE)
    assert answer.return_value == EXIT_FAILED and record.status == "invalid"
    count = int(run.samples(record, 0)[-1])
    tried, step = 50, count // 40 + 1  # every other sample has one
    assert record.reason == (
        f"its samples suffice for {tried} of {count} arrivals: "
        f"try one in {step}, with --step {step}"
    )
    assert kadenz(*asked, "--step", str(step)).return_value == 0


@pytest.mark.parametrize("step", ["1", "9"])
def test_a_service_that_goes_another_way_each_time_has_no_population(
    step: str, tmp_path: Path
) -> None:
    """A stream buffer goes on in its ring, and copies in one piece or in two."""
    bench = "critical/stream-buffer-send"
    asked = ("worst", bench, *WAITER, "--step", step, "--target", ARM, "--output", str(tmp_path))
    assert kadenz(*asked).return_value == EXIT_FAILED
    (run,) = find_runs([tmp_path])
    record = record_of(run, bench)
    assert record.status == "invalid" and "its samples go different ways" in record.reason


def test_a_board_without_an_interrupt_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    board = inventory.board("stm32f4")
    assert board.tier.emulated is not None
    tiers = msgspec.structs.replace(
        board.tier, emulated=msgspec.structs.replace(board.tier.emulated, interrupt=None)
    )
    changed = msgspec.structs.replace(board, tier=tiers)
    monkeypatch.setattr(inventory, "board", lambda name: changed)
    with pytest.raises(UsageError, match="no `interrupt` in the tier `emulated`"):
        arrivals.check_arrivals(TargetName("freertos", "stm32f4", "emulated"), "scope")


@pytest.mark.parametrize("option", ["--with tick", "--with request", "--with device", "--why"])
def test_what_needs_an_earlier_state_is_refused(option: str, tmp_path: Path) -> None:
    answer = kadenz("worst", GIVE, *option.split(), "--target", ARM, "--output", str(tmp_path))
    assert isinstance(answer.exception, UsageError) and option in answer.exception.message
    assert not list(tmp_path.iterdir())


def kill_emulator() -> bool:
    """Kills the QEMU that tries arrivals. False: there is none."""
    for child in processes_with("arrivals=arrivals"):
        os.kill(child, signal.SIGKILL)
        return True
    return False


def test_an_emulator_that_is_killed_leaves_a_run_that_can_be_read(tmp_path: Path) -> None:
    bench = "critical/thread-join"  # it runs for a while
    ended = threading.Event()
    killer = threading.Thread(target=wait_for, args=[lambda: ended.is_set() or kill_emulator()])
    killer.start()
    answer = kadenz("worst", bench, "--fresh", "--target", ARM, "--output", str(tmp_path))
    ended.set()
    killer.join()
    assert answer.return_value == EXIT_FAILED, answer.output
    (run,) = find_runs([tmp_path])
    assert record_of(run, bench).status == "failed" and not processes_with("arrivals=arrivals")
