# SPDX-License-Identifier: Apache-2.0
"""The clock that a board states for its timing model is the one that its start-up code sets."""

from __future__ import annotations

import re

import pytest

from kadenz.config import inventory
from kadenz.config.manifest import ModelEntry
from kadenz.lab.clock import clock_entry
from kadenz.targets import timing_model
from tests.docs.pages import ROOT
from tests.wire.streams import hello

MODELLED = {
    name: board.tier.emulated.model
    for name, board in inventory.boards().items()
    if board.tier.emulated is not None and board.tier.emulated.model is not None
}


def of_the_sources(board: str) -> int:
    """KDZ_CORE_HZ, from what defines it: the board's own timer, an FE310's PLL, a simulated SoC."""
    board_file = (ROOT / "boards" / board / "board.cmake").read_text()
    if timer := re.search(r"KDZ_BOARD_TIMER_HZ=(\d+)u", board_file):
        return int(timer[1])
    if pll := re.search(r"kdz_fe310\((\d+) ", board_file):
        return 4_000_000 * int(pll[1])
    softcore = (ROOT / "boards/softcore/include/kdz_core_hz.h").read_text()
    assert "softcore.cmake" in board_file
    (hz,) = re.findall(r"KDZ_CORE_HZ (\d+)u", softcore)
    return int(hz)


@pytest.mark.parametrize("board", MODELLED)
def test_the_rate_of_a_model_is_that_of_the_chip(board: str) -> None:
    assert MODELLED[board].hz == of_the_sources(board)


@pytest.mark.parametrize("board", MODELLED)
def test_a_run_states_the_rate_and_the_class_of_the_model(board: str) -> None:
    model = timing_model.model(board, MODELLED[board])
    entry = clock_entry(hello(), "instruction", "instruction", model)
    assert (entry.clock_class, entry.unit, entry.hz) == ("cycle-model", "cycle", model.hz)
    assert isinstance(entry.model, ModelEntry)
