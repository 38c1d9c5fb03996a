# SPDX-License-Identifier: Apache-2.0
"""Boards with a fault on purpose: tests/rtl/faults has one file each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kadenz.config import inventory

_FAULTS = Path(__file__).parent / "faults"


def plant(
    fault: str,
    function: str,
    lab: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    base: str = "ibex2",
    tier: str = "",
) -> str:
    """A lab with the board `fault`: `base`, and the fault in place of `function`. Its target.

    `tier` are lines for [tier.rtl].
    """
    board = lab / "boards" / fault
    shutil.copytree(inventory.root() / "boards" / base, board)
    shutil.copy(_FAULTS / f"{fault}.c", board)
    file = board / "board.toml"
    file.write_text(file.read_text().replace("locks =", f"{tier}\nlocks ="))
    with (board / "board.cmake").open("a") as cmake:
        cmake.write(f"target_sources(kadenz-suite PRIVATE ${{KDZ_BOARD_DIR}}/{fault}.c)\n")
        cmake.write(f"target_link_options(kadenz-suite PRIVATE -Wl,--wrap={function})\n")
    (lab / "kadenz.toml").write_text("")
    monkeypatch.setenv("KADENZ_LAB", str(lab))
    return f"freertos/{fault}@rtl"
