# SPDX-License-Identifier: Apache-2.0
"""Options that say how a board is reached: the command receives them as one `link`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from kadenz.cli.option_groups import option
from kadenz.config.board_link import WAYS, BoardLink

_GROUP = "A board on the desk"


def board_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --port, --probe, --server and --results."""

    @option(_GROUP, "--port", default="", help="Serial port of a board: /dev/serial/by-id/…")
    @option(
        _GROUP,
        "--probe",
        default="",
        metavar="VID:PID:SERIAL",
        help="The board's debug probe, or its serial number alone. Default: the only one.",
    )
    @option(
        _GROUP,
        "--server",
        default="",
        metavar="NAME|NAME@HOST:PORT|none",
        help="Debug server that loads, starts and resets the board, or the address of one that "
        "runs; `none`: loaded by hand. Default: the lab's, else the board's.",
    )
    @option(
        _GROUP,
        "--results",
        type=click.Choice(["", *WAYS]),
        default="",
        metavar="|".join(WAYS),
        help="How results leave the board. Default: the lab's, else the board's.",
    )
    @functools.wraps(command)
    def with_link(*args: Any, port: str, probe: str, server: str, results: str, **rest: Any) -> Any:
        link = BoardLink(port=port, probe=probe, server=server, results=results)
        return command(*args, link=link, **rest)

    found: Callable[..., Any] = with_link
    return found
