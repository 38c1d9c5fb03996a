# SPDX-License-Identifier: Apache-2.0
"""A machine of QEMU that kadenz does not have is a board of six lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.elf import Elf
from kadenz.errors import ConfigError
from kadenz.targets.qemu import QemuTarget
from tests.architecture.test_house_rules import ROOT

from .firmware import ARM, Machine, assemble, count, functions, samples

pytestmark = pytest.mark.counted
PAGE = ROOT / "docs" / "how-to" / "count-a-function.md"
MACHINE = Machine(
    "arm",
    "lm3s6965",
    ARM.compiler,
    (
        "-mcpu=cortex-m3",
        "-mthumb",
        "-Wl,--section-start=.vectors=0",
        "-Wl,-Ttext=0x100",
        "-Wl,-Tbss=0x20000000",
    ),
)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab with the board of the page."""
    text = PAGE.read_text().partition("```toml\n")[2].partition("```")[0]
    assert len(text.splitlines()) == 6
    folder = tmp_path / "lab"
    (folder / "boards" / MACHINE.board).mkdir(parents=True)
    (folder / "kadenz.toml").touch()
    (folder / "boards" / MACHINE.board / "board.toml").write_text(text)
    monkeypatch.setenv("KADENZ_LAB", str(folder))
    return folder


def test_a_firmware_is_counted_on_a_board_of_six_lines(lab: Path, tmp_path: Path) -> None:
    answer = count(assemble(MACHINE, tmp_path), MACHINE, *functions("six", "down"), "--json")
    data = json.loads(answer.stdout)
    assert data["ended"] == "by itself, with exit status 0"
    assert samples(data["run"], "six")["call"] == [6, 6, 6]
    assert samples(data["run"], "down")["call"] == [4, 10, 16, 22, 28]


def test_an_image_of_the_suite_needs_more(lab: Path, tmp_path: Path) -> None:
    tier = inventory.board(MACHINE.board).tier.emulated
    assert tier is not None
    with pytest.raises(ConfigError, match="no `plan_address`"):
        QemuTarget(tier, Elf(assemble(MACHINE, tmp_path))).open("end\n")
