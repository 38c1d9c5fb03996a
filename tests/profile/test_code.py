# SPDX-License-Identifier: Apache-2.0
"""Instructions are told apart by what they do, images without symbols are refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kadenz.config.profile import CodeKind
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.images.code import Code, objdump
from kadenz.images.instructions import Flow, disassemble
from tests.scope import emulator

pytestmark = pytest.mark.counted

RISCV = """
    .globl _start
_start: lw a0, 0(sp); sw a0, 0(sp); jal _start; jalr a5; ret; jr a5; j _start
    beqz a0, _start; ecall; mret; addi a0, a0, 1; amoadd.w a0, a1, (a2)
"""
RISCV_KINDS: list[tuple[CodeKind, Flow]] = [
    ("load", ""),
    ("store", ""),
    ("branch", "call"),
    ("branch", "call"),
    ("branch", "return"),
    ("branch", "jump"),
    ("branch", "branch"),
    ("branch", "branch"),
    ("other", "trap"),
    ("branch", "exit"),
    ("other", ""),
    ("store", ""),
]
ARM = """
    .syntax unified
    .thumb
    .globl _start
    .type _start, %function
_start: ldr r0, [sp]; str r0, [sp]; bl _start; blx r3; bx lr; bx r3; b _start
    ble _start; svc 0; push {r0, lr}; pop {r0, pc}; pop {r0}; ldr pc, [r3]; cbz r0, 1f
    bls _start; add r0, r0, #1
1:  nop
"""
ARM_KINDS: list[tuple[CodeKind, Flow]] = [
    ("load", ""),
    ("store", ""),
    ("branch", "call"),
    ("branch", "call"),
    ("branch", "return"),
    ("branch", "jump"),
    ("branch", "branch"),
    ("branch", "branch"),
    ("other", "trap"),
    ("store", ""),
    ("branch", "return"),
    ("load", ""),
    ("branch", "jump"),
    ("branch", "branch"),
    ("branch", "branch"),
    ("other", ""),
]


def assembled(machine: emulator.Machine, text: str, folder: Path) -> Path:
    source, elf = folder / "code.S", folder / "code.elf"
    source.write_text(text)
    flags = [flag for flag in machine.flags if not flag.startswith("-Wl")]
    subprocess.run([machine.compiler, "-nostdlib", *flags, str(source), "-o", str(elf)], check=True)
    return elf


@pytest.mark.parametrize(
    ("machine", "board", "text", "kinds"),
    [
        (emulator.RISCV, "hifive1-revb", RISCV, RISCV_KINDS),
        (emulator.ARM, "stm32f4", ARM, ARM_KINDS),
    ],
    ids=["riscv", "arm"],
)
def test_instructions_are_told_apart(
    machine: emulator.Machine,
    board: str,
    text: str,
    kinds: list[tuple[CodeKind, Flow]],
    tmp_path: Path,
) -> None:
    elf = assembled(machine, text, tmp_path)
    decoded = disassemble(elf, objdump(board), Elf(elf).machine)
    in_order = [decoded[address] for address in sorted(decoded)][: len(kinds)]
    assert [(instruction.kind, instruction.flow) for instruction in in_order] == kinds


def test_a_stripped_image_is_refused(tmp_path: Path) -> None:
    elf = assembled(emulator.ARM, ARM, tmp_path)
    stripped = tmp_path / "stripped.elf"
    shutil.copy(elf, stripped)
    subprocess.run([str(objdump("stm32f4")).replace("objdump", "strip"), str(stripped)], check=True)
    with pytest.raises(UsageError, match="it was stripped"):
        Code(Elf(stripped), "stm32f4")
