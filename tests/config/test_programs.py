# SPDX-License-Identifier: Apache-2.0
"""Options of a program in its board's table are those that its sources declare."""

from __future__ import annotations

import re

import pytest

from kadenz.config import inventory
from tests.docs.pages import ROOT

PROGRAMS = {
    name: host
    for name, board in inventory.boards().items()
    if (host := board.tier.host) is not None and host.crate
}


@pytest.mark.parametrize("board", PROGRAMS)
def test_every_option_of_the_table_is_one_of_the_program(board: str) -> None:
    host = PROGRAMS[board]
    folder = ROOT / "fieldbus" / host.crate
    text = "".join(file.read_text() for file in (folder / "src").rglob("*.rs"))
    for option in (
        host.no_realtime_argument,
        host.idle_states_argument,
        host.bus_interface_argument,
        host.bus_second_argument,
        host.bus_layout_argument,
    ):
        field = option.lstrip("-").replace("-", "_")
        assert re.search(rf"^\s*pub {re.escape(field)}: ", text, re.M), option
