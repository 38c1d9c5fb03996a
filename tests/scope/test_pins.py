# SPDX-License-Identifier: Apache-2.0
"""Instrument `pins`: two pins rise at BEGIN and END, for a logic analyser.

The scope's plugin stands in for the analyser: it watches the register of the pins instead of the
marker, so each store, and the instruction at which it came, is known.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from vcd import VCDWriter

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import EmulatedTier
from kadenz.elf import Elf
from kadenz.store import read_run
from kadenz.targets import scope, scope_plugin
from kadenz.targets.qemu import QemuTarget
from tests.forked import kadenz
from tests.rtos.images import BOARDS, Said, boot, build
from tests.scope.emulator import SCOPE_SOURCE

pytestmark = pytest.mark.counted

SAMPLES = 20
PLAN = f"itc/semaphore-binary id=1 samples={SAMPLES}\nend\n"
HEADER = {
    "stm32f4": "boards/stm32/f4/kdz_board_marks.h",
    "hifive1-revb": "boards/fe310/include/kdz_board_marks.h",
}
# The counter is read before BEGIN's store and after END's: a sample has both stores, and the loads
# of the addresses and words, where the compiler leaves them inside.
MOST_OFFSET = 8


class WithAnalyser(QemuTarget):
    """A board whose pins are watched."""

    def __init__(self, tier: EmulatedTier, elf: Elf, *, register: int, trace: Path) -> None:
        super().__init__(tier, elf)
        version = tools.version(tier.qemu)
        plugin = scope_plugin.build(SCOPE_SOURCE, inventory.build_folder() / "scope", version)
        self._plugin = f"{plugin},marker={register:#x},trace={trace}"

    def _command(self, folder: Path | None) -> list[str]:
        return [*super()._command(folder), "-plugin", self._plugin]


def declared(board: str) -> dict[str, int]:
    """The values of a board's kdz_board_marks.h."""
    text = (inventory.root() / HEADER[board]).read_text()
    marks = re.findall(r"#define KDZ_BOARD_MARK_(\w+) (0x[0-9a-f]+)u", text)
    return {name: int(value, 16) for name, value in marks}


@pytest.fixture(scope="module", params=BOARDS)
def seen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Said, scope.Events]:
    """A board, what it said, and the stores to its pins."""
    board, trace = request.param, tmp_path_factory.mktemp(request.param) / "trace"
    folder = build(board, instrument="pins")
    target_type = partial(WithAnalyser, register=declared(board)["REGISTER"], trace=trace)
    said = boot(folder, board, PLAN, target_type=target_type)
    return board, said, scope.read_trace(trace).events


def test_each_sample_raises_one_pin_and_then_the_other(
    seen: tuple[str, Said, scope.Events],
) -> None:
    board, said, events = seen
    marks = declared(board)
    assert said.record("itc/semaphore-binary")[1].status == "ok"
    assert events["value"].tolist() == [marks["BEGIN"], marks["END"]] * SAMPLES


def test_between_the_edges_is_the_sample_but_for_a_constant(
    seen: tuple[str, Said, scope.Events],
) -> None:
    _, said, events = seen
    edges = events["low"].astype(np.int64)
    offsets = said.values("itc/semaphore-binary") - (edges[1::2] - edges[0::2])
    assert len(set(offsets.tolist())) == 1 and 0 < offsets[0] <= MOST_OFFSET


def test_a_capture_of_the_pins_is_a_run_with_these_samples(
    seen: tuple[str, Said, scope.Events], tmp_path: Path
) -> None:
    board, _, events = seen
    begin = declared(board)["BEGIN"]
    with (tmp_path / "capture.vcd").open("w") as stream, VCDWriter(stream, "1 ns") as vcd:
        pins = [vcd.register_var("board", name, "wire", size=1, init=0) for name in ("D0", "D1")]
        for at, value in zip(events["low"].tolist(), events["value"].tolist(), strict=True):
            vcd.change(pins[0], at, int(value == begin))
            vcd.change(pins[1], at, int(value != begin))
    marks = ("--begin", "D0", "--end", "D1", "--bench", "itc/semaphore-binary")
    target = ("--target", f"freertos/{board}@board", "--output", str(tmp_path / "runs"))
    answer = kadenz("import", str(tmp_path / "capture.vcd"), *marks, *target)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    run = read_run(folder)
    edges = events["low"].astype(np.int64)
    assert run.samples(run.manifest.records[0], 0).tolist() == (edges[1::2] - edges[::2]).tolist()


def test_a_board_without_such_pins_is_refused() -> None:
    answer = kadenz(
        "run", "itc/queue", "--target", "freertos/ibex@emulated", "--instrument", "pins"
    )
    assert answer.returncode == 2
    assert "cannot be measured with the instrument `pins`" in answer.stderr
