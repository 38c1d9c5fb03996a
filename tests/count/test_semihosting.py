# SPDX-License-Identifier: Apache-2.0
"""What a firmware prints by semihosting is its console; no file of this machine is reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadenz.errors import TargetFailed

from .firmware import ARM, HERE, RISCV, Machine, assemble, count, functions

pytestmark = pytest.mark.counted
both = pytest.mark.parametrize("machine", [ARM, RISCV], ids=["m4", "riscv"])

# A call of semihosting with an operation and the address of its argument.
CALL = {
    "arm": "ldr r0, ={operation}\n ldr r1, ={argument}\n bkpt 0xab\n",
    "riscv": " .option push\n .option norvc\n li a0, {operation}\n la a1, {argument}\n .balign 16\n"
    " slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n .option pop\n",
}
DATA = """
    .section .rodata, "a"
    .balign 4
file:    .word name, 4, 8
console: .word tt, 4, 3
said:    .asciz "said so\\n"
name:    .asciz "data.txt"
tt:      .asciz ":tt"
    .text
"""
OPEN, WRITE0, REMOVE, RENAME, SYSTEM = 0x01, 0x04, 0x0E, 0x0F, 0x12


def asking(machine: Machine, folder: Path, *calls: tuple[int, str]) -> Path:
    """A firmware that makes these calls before all else."""
    text = (HERE / "programs" / f"calls.{machine.suffix}.S").read_text()
    begin = "_start:\n"
    assert text.count(begin) == 1
    asks = "".join(
        CALL[machine.suffix].format(operation=operation, argument=argument)
        for operation, argument in calls
    )
    source = folder / "asks.S"
    source.write_text(DATA + text.replace(begin, begin + asks))
    return assemble(machine, folder, str(source))


@both
def test_what_is_printed_by_semihosting_is_on_the_console(machine: Machine, tmp_path: Path) -> None:
    """Also for `--until-text`; and the console may be opened."""
    elf = asking(machine, tmp_path, (OPEN, "console"), (WRITE0, "said"))
    run = json.loads(count(elf, machine, *functions("six"), "--json").stdout)["run"]
    assert (Path(run) / "console.txt").read_text() == "said so\n"
    answer = count(elf, machine, *functions("six"), "--until-text", "said", "--json")
    assert json.loads(answer.stdout)["ended"] == "printed 'said'"


@both
@pytest.mark.parametrize(
    ("operation", "argument", "name"),
    [
        (OPEN, "file", "SYS_OPEN"),
        (REMOVE, "file", "SYS_REMOVE"),
        (RENAME, "file", "SYS_RENAME"),
        (SYSTEM, "file", "SYS_SYSTEM"),
    ],
)
def test_a_call_for_a_file_or_a_program_ends_the_count(
    machine: Machine, operation: int, argument: str, name: str, tmp_path: Path
) -> None:
    elf = asking(machine, tmp_path, (WRITE0, "said"), (operation, argument))
    error = count(elf, machine, *functions("six")).exception
    assert isinstance(error, TargetFailed)
    assert error.message.startswith("the firmware asked for a file or a program of this machine")
    assert error.message.endswith(f": {name}")
    assert error.detail == "said so"
    assert "Only the console" in error.remedy
