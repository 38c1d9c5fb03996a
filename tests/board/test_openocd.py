# SPDX-License-Identifier: Apache-2.0
"""The real OpenOCD, over JTAG, at a verilated Ibex whose memory is empty."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.board_link import BoardLink
from kadenz.config.target_name import parse_target
from kadenz.errors import TargetFailed, ToolMissing, UsageError
from kadenz.images.image import build_image
from kadenz.lab.conformance import conformance
from kadenz.lab.measure import measure
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.store import Run, read_run
from kadenz.targets.board.reach import Reach, reach
from kadenz.targets.board.server import ServerProcess
from kadenz.targets.board.target import BoardTarget
from tests.board.bench import session
from tests.lab.test_measure import job

pytestmark = pytest.mark.counted
BOARD = "ibex"
MEASURED = ("itc/queue", "micro/task-switch-sampled", "irq/to-task")
POINTS = [
    Point(10, "itc/semaphore-binary", 40),
    Point(11, "itc/queue", 4000),
    Point(12, "itc/semaphore-binary", 40),
]
_FIRST_BYTES = 1200  # the first record has arrived by then, and the second is on its way


def reached() -> Reach:
    """As board.toml says: OpenOCD, and results by RTT."""
    tier = inventory.board(BOARD).tier.board
    assert tier is not None
    return reach(BOARD, tier, BoardLink())


def on_desk(way: Reach) -> BoardTarget:
    tier = inventory.board(BOARD).tier.board
    assert tier is not None
    name = parse_target(f"freertos/{BOARD}@board")
    return BoardTarget(way, tier, build_image(name, "counter", console="rtt").elf)


def measured(tier: str, folder: Path) -> Run:
    arguments = ["run", *MEASURED, "--target", f"freertos/{BOARD}@{tier}", "--quick"]
    arguments += ["--set", "samples=40", "--output", str(folder)]
    answer = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([folder])
    return run


def test_a_run_over_jtag_has_the_figures_of_the_tier_rtl(tmp_path: Path) -> None:
    """The clock is the same. The code is placed otherwise, because the console is RTT, and Ibex
    needs a cycle more for a jump to an instruction that crosses a word.
    """
    run, alone = (measured(tier, tmp_path / tier) for tier in ("board", "rtl"))
    for mine, other in zip(run.manifest.records, alone.manifest.records, strict=True):
        assert (mine.bench, mine.status, other.status) == (other.bench, "ok", "ok")
        medians = np.median(run.samples(mine, 0)), np.median(alone.samples(other, 0))
        assert abs(medians[0] - medians[1]) <= 4, (mine.bench, medians)
    document = run.manifest
    assert document.clock.clock_class == "cycle-exact" and document.clock.unit == "cycle"
    assert document.target.settings["debug_server"] == "OpenOCD at a simulated core"
    assert document.emulator is not None and document.emulator.name == "Ibex"
    assert "rom:0x80000000:0x40000:0" in document.emulator.arguments


@dataclass
class Harmed:
    """A run whose board was reset by its debugger, died in its second record, and stayed dead."""

    before: bytes  # of the reset
    after: bytes
    told: str  # the failures, with the words of OpenOCD
    run: Run


def kill(target: BoardTarget) -> None:
    """Ends the simulated core, as a power cut does."""
    assert isinstance(target._server, ServerProcess)
    board = target._server._board
    assert board is not None and board._process is not None
    if board._process.poll() is None:
        os.kill(board._process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Harmed:
    folder = tmp_path_factory.mktemp("harmed")
    before, after = bytearray(), bytearray()

    def dies() -> BoardTarget:
        target = on_desk(reached())
        opened, read = target.open, target.read

        def opened_twice(plan: str) -> None:
            opened(plan)
            if before:  # an execution after the death
                kill(target)
                return
            while len(before) < _FIRST_BYTES:
                before.extend(read(1.0) or b"")
            assert target._gdb is not None
            target._gdb.halt()
            target._start()

        def read_until_dead(timeout_s: float) -> bytes | None:
            data = read(timeout_s)
            after.extend(data or b"")
            if len(after) > _FIRST_BYTES:
                kill(target)
            return data

        target.open, target.read = opened_twice, read_until_dead  # type: ignore[method-assign]
        return target

    name = parse_target(f"freertos/{BOARD}@board")
    result = measure(
        replace(job(folder, []), name=name, points=POINTS, make=dies, timeout_s=30.0),
        folder / "runs",
        Progress(),
        threading.Event(),
    )
    told = "".join(f"{failure.message}\n{failure.detail}\n" for failure in result.failures)
    return Harmed(bytes(before), bytes(after), told, read_run(result.folder))


def test_every_start_gives_the_same_bytes(harmed: Harmed) -> None:
    """After power-on and after a reset through the debug module: no stop is in a timed region, and
    mtime stands still in debug mode.
    """
    both = min(len(harmed.before), len(harmed.after))
    assert both >= _FIRST_BYTES and harmed.before[:both] == harmed.after[:both]


def test_a_board_that_dies_is_named_and_the_run_is_partial(harmed: Harmed) -> None:
    assert "the simulated Ibex was ended by signal 9" in harmed.told
    assert "remote_bitbang" in harmed.told  # OpenOCD's own words; the moment decides which
    document = harmed.run.manifest
    assert document.partial and document.partial_reason
    assert any("ended by signal 9" in warning.message for warning in document.warnings)


def test_a_board_that_dies_costs_no_sample_that_arrived(harmed: Harmed) -> None:
    whole, broken, never = harmed.run.manifest.records
    assert (whole.status, broken.status, never.status) == ("ok", "failed", "failed")
    assert harmed.run.samples(whole, 0).size == whole.lanes[0].taken == 40
    kept = sum(harmed.run.samples(broken, lane).size for lane in broken.lanes)
    assert kept == sum(lane.taken for lane in broken.lanes)
    assert not never.lanes or never.lanes[0].taken == 0


def test_another_chip_at_the_connector_is_refused_with_openocds_words() -> None:
    way = reached()
    command = tuple(word.replace("0x10000001", "0x20000913") for word in way.command)
    with pytest.raises(TargetFailed, match="OpenOCD at a simulated core is not ready") as caught:
        session(on_desk(replace(way, command=command)))
    assert "UNEXPECTED: 0x10000001" in caught.value.detail
    assert "expected 1 of 1: 0x20000913" in caught.value.detail


@pytest.mark.parametrize("board", ["vexriscv", "stm32f4"])
def test_a_board_without_a_simulated_jtag_port_is_refused(board: str) -> None:
    tier = inventory.board("stm32f4").tier.board
    assert tier is not None
    with pytest.raises(UsageError, match=f"JTAG port, and {board} has none") as caught:
        reach(board, tier, BoardLink(server="openocd-rtl", results="rtt"))
    assert "another server" in caught.value.remedy


def test_without_openocd_the_run_ends_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="openocd is not installed") as caught:
        conformance(parse_target("freertos/ibex@board"))
    assert caught.value.exit_code == 2 and "apt-get install openocd" in caught.value.remedy
