# SPDX-License-Identifier: Apache-2.0
"""Options that say how a board is reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from kadenz.cli.option_groups import option
from kadenz.config.board_link import WAYS, BoardLink

_GROUP = "A board on the desk"
_OPTIONS = (
    option(_GROUP, "--port", default="", help="Serial port of a board: /dev/serial/by-id/…"),
    option(
        _GROUP,
        "--probe",
        default="",
        metavar="VID:PID:SERIAL",
        help="The board's debug probe, or its serial number alone. Default: the only one.",
    ),
    option(
        _GROUP,
        "--server",
        default="",
        metavar="NAME|NAME@HOST:PORT|none",
        help="Debug server that loads, starts and resets the board, or the address of one that "
        "runs; `none`: loaded by hand. Default: the lab's, else the board's.",
    ),
    option(
        _GROUP,
        "--results",
        type=click.Choice(WAYS),
        help="How results leave the board. Default: the lab's, else the board's.",
    ),
)


def board_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options --port, --probe, --server and --results to a command."""
    for one in reversed(_OPTIONS):
        command = one(command)
    return command


def link_of(options: Mapping[str, Any]) -> BoardLink:
    """The link that these options describe."""
    port, probe, server = options["port"], options["probe"], options["server"]
    return BoardLink(port=port, probe=probe, server=server, results=options["results"] or "")
