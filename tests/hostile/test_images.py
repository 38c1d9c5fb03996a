# SPDX-License-Identifier: Apache-2.0
"""An image under test reaches nothing of the machine that emulates it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import EmulatedTier
from kadenz.elf import Elf
from kadenz.targets.qemu import QemuTarget

pytestmark = pytest.mark.counted

PROGRAM = Path(__file__).parent / "programs" / "calls.c"
ARM = ("arm-none-eabi-gcc", "-mthumb", "-Wl,--section-start=.vectors=0x0", "-Wl,-Ttext=0x100")
MACHINES = {
    "mps2-an386": (*ARM, "-mcpu=cortex-m4", "-Wl,--defsym=stack_top=0x20010000"),
    "microbit": (*ARM, "-mcpu=cortex-m0", "-Wl,--defsym=stack_top=0x20002000"),
    "hifive1-revb": (
        *("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"),
        *("-Wl,-Ttext=0x20010000", "-Wl,--defsym=stack_top=0x80002000"),
    ),
}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder with one file that an image is after."""
    folder = tmp_path / "victims"
    folder.mkdir()
    (folder / "victim").write_text("whole")
    return folder


def hostile(board: str, victim: Path) -> Path:
    """The hostile image for a board."""
    compiler, *flags = MACHINES[board]
    elf = victim.parent / "hostile.elf"
    options = ["-Os", "-ffreestanding", "-nostdlib", "-Wl,-e,start", f'-DFOLDER="{victim}"']
    command = [str(tools.require(compiler)), *flags, *options, str(PROGRAM), "-o", str(elf)]
    subprocess.run(command, check=True)
    return elf


def tier_of(board: str) -> EmulatedTier:
    tier = inventory.board(board).tier.emulated
    assert tier is not None
    return tier


@pytest.mark.parametrize("board", MACHINES)
def test_an_image_reaches_no_file_and_starts_no_program(board: str, victim: Path) -> None:
    target = QemuTarget(tier_of(board), Elf(hostile(board, victim)))
    target.open("hello\n")
    try:
        while target.read(60.0):
            pass
        assert (target._folder / "plan").read_bytes().startswith(b"hello")
        assert not (target._folder / "ordered").exists()
    finally:
        target.close()
    assert {file.name: file.read_text() for file in victim.iterdir()} == {"victim": "whole"}


@pytest.mark.parametrize("board", MACHINES)
def test_the_image_is_hostile(board: str, victim: Path) -> None:
    """Where QEMU serves its calls, it does all of that."""
    tier = tier_of(board)
    qemu = str(tools.require(tier.qemu))
    command = [qemu, "-machine", tier.machine, "-semihosting-config", "enable=on,target=native"]
    command += ["-display", "none", "-monitor", "none", "-serial", "null"]
    image = ["-kernel", str(hostile(board, victim))]
    subprocess.run([*command, *image], cwd=victim.parent, check=True, timeout=600)
    assert {file.name for file in victim.iterdir()} == {"moved", "ordered", "made"}
    assert (victim / "moved").read_text().startswith("ruined")
    assert (victim.parent / "ordered").exists()


@pytest.mark.parametrize("option", ["-semihosting", "-semihosting-config"])
def test_a_board_cannot_ask_for_it(option: str) -> None:
    """Not even by its own arguments: QEMU would take the last of two."""
    data = msgspec.to_builtins(tier_of("mps2-an386"))
    with pytest.raises(msgspec.ValidationError, match="kadenz itself lets an image end QEMU"):
        msgspec.convert({**data, "arguments": [option, "enable=on"]}, EmulatedTier)
