# SPDX-License-Identifier: Apache-2.0
"""Which debug servers and probes this machine has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import BoardTier
from kadenz.config.board_link import DEFAULT, BoardLink
from kadenz.config.debug_server import DebugServer
from kadenz.targets.board import usb
from kadenz.targets.board.gdb import PROGRAM
from kadenz.targets.board.reach import data_of
from kadenz.tools import Need, Tool

LookUp = Callable[[Need], Tool]


def need_of(server: DebugServer) -> Need:
    """The program of a server. One that only a lab names is not started to look at it."""
    for known in tools.NEEDS:
        if known.name == server.program:
            return known
    lab = inventory.lab_naming(server)
    named_by = str(lab) if lab else ""
    return Need(server.program, server.title, server.remedy, named_by=named_by)


def servers(look_up: LookUp = tools.look_up) -> dict[str, Tool]:
    """Every debug server by its name, and whether its program is on this machine."""
    return {name: look_up(need_of(server)) for name, server in inventory.debug_servers().items()}


def probes(sysfs: Path = usb.SYSFS) -> list[usb.Probe]:
    """The debug probes on USB that any server or board knows."""
    return usb.connected(inventory.probe_names() | inventory.own_probe_names(), sysfs)


def of_board(
    tier: BoardTier, link: BoardLink = DEFAULT, look_up: LookUp = tools.look_up
) -> list[Tool]:
    """The programs that reach a board: GDB and its server; none for one loaded by hand."""
    server = data_of(tier, link)
    if server is None:
        return []
    return [look_up(tools.need(PROGRAM)), look_up(need_of(server))]
