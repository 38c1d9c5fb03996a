# SPDX-License-Identifier: Apache-2.0
"""The option that says how a board is reached."""

from __future__ import annotations

from kadenz.cli.option_groups import declared
from kadenz.config.board_link import WAYS
from kadenz.config.key_values import Key
from kadenz.lab.condition import Option

_BOARD = Option(
    "--board",
    "How a board is reached. Default: as the lab says, else its board.toml.",
    kind="keys",
    keys=(
        Key("port", "Serial port: /dev/serial/by-id/…", "DEVICE"),
        Key(
            "probe",
            "Debug probe, VID:PID:SERIAL or the serial number alone. Default: the only one.",
            "PROBE",
        ),
        Key(
            "server",
            "Debug server that loads, starts and resets it, NAME@HOST:PORT for one that runs; "
            "`none`: loaded by hand.",
            "NAME",
        ),
        Key("results", "How results leave it.", "|".join(WAYS), choices=WAYS),
    ),
)
board_option = declared(_BOARD, "A board on the desk")
