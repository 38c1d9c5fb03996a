# SPDX-License-Identifier: Apache-2.0
"""Options of a board: refused where none is measured, and a missing serial port before a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.board_link import DEFAULT, BoardLink
from kadenz.config.target_name import parse_target
from kadenz.errors import TargetFailed, UsageError
from kadenz.lab.execution import check_board, check_link
from tests.forked import kadenz

EMULATED, SILICON = (parse_target(f"freertos/stm32f4@{tier}") for tier in ("emulated", "board"))


@pytest.mark.parametrize(
    ("link", "option"),
    [
        (BoardLink(port="/dev/ttyACM0"), "--board port="),
        (BoardLink(probe="066E"), "--board probe="),
        (BoardLink(server="openocd"), "--board server="),
        (BoardLink(results="rtt"), "--board results="),
    ],
)
def test_an_option_of_a_board_is_refused_where_no_target_is_one(
    link: BoardLink, option: str
) -> None:
    with pytest.raises(UsageError, match=f"^{option}.+: no target of this run is a board"):
        check_link([EMULATED], link)
    check_link([EMULATED, SILICON], link)
    check_link([EMULATED], DEFAULT)


@pytest.mark.parametrize("command", [("run", "itc/queue", "--target"), ("conformance",)])
def test_a_command_refuses_it_before_it_builds(command: tuple[str, ...]) -> None:
    answer = kadenz(*command, str(EMULATED), "--board", "port=/dev/ttyACM0")
    assert answer.returncode == 2 and "--board port=/dev/ttyACM0: no target" in answer.stderr
    assert "building" not in answer.stdout + answer.stderr


def test_a_serial_port_that_is_not_there_is_named_before_a_build(tmp_path: Path) -> None:
    absent = tmp_path / "ttyACM9"
    link = BoardLink(port=str(absent), server="none", results="uart")
    with pytest.raises(TargetFailed, match=f"{absent}: no such serial port"):
        check_board(SILICON, link)
    absent.touch()
    check_board(SILICON, link)
    check_board(SILICON, BoardLink(port="rfc2217://bench:4001", server="none", results="uart"))


def test_an_emulated_target_needs_no_port() -> None:
    check_board(EMULATED, DEFAULT)
    assert inventory.board(EMULATED.board).tier.board is not None
