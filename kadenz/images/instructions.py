# SPDX-License-Identifier: Apache-2.0
"""Machine instructions from the tool chain's `objdump`: their kind, and where they lead."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kadenz.config.profile import CodeKind
from kadenz.errors import BuildFailed

# call: returns to the next instruction. return: to a caller, or from an exception (Arm). jump:
# through a register. branch: to `target`. trap: raises an exception. exit: returns from one.
Flow = Literal["", "call", "return", "jump", "branch", "trap", "exit"]

_LINE = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t([^\t\n]+)(?:\t(.*))?$", re.MULTILINE)
_TARGET = re.compile(r"(?:^|,)\s*([0-9a-f]+) <")
_COMMENT = re.compile(r"\s*[@#] .*$")

_RISCV_LOAD = re.compile(r"l[bhwd]u?$|fl[wdq]$|lr\.")
_RISCV_STORE = re.compile(r"s[bhwd]$|fs[wdq]$|sc\.|amo")
_RISCV_BRANCH = re.compile(r"b(eq|ne|lt|ge|gt|le)u?z?")
_ARM_LOAD = re.compile(r"v?ldr|v?ldm|v?pop")
_ARM_STORE = re.compile(r"v?str|v?stm|v?push")
_ARM_BRANCH = re.compile(r"b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?$|cbn?z$")
_CONDITION = "(?:eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"
_ARM_CALL = re.compile(f"blx?{_CONDITION}$")
_ARM_BX = re.compile(f"bx{_CONDITION}$")


@dataclass(frozen=True)
class Instruction:
    """One instruction of an image."""

    address: int
    size: int
    text: str
    kind: CodeKind
    flow: Flow
    target: int | None  # of a direct call, jump or branch
    bits: int  # the encoding; of Arm, its halfwords in their order

    @property
    def follows(self) -> int:
        """The address of the next instruction."""
        return self.address + self.size

    @property
    def flow_by_register(self) -> bool:
        """Whether it may lead anywhere."""
        return self.flow in ("return", "jump", "exit") or (
            self.flow == "call" and self.target is None
        )

    @property
    def writes_state(self) -> bool:
        """Whether it may switch interrupts on or off by itself."""
        return self.text.startswith(("csr", "msr", "cps"))


def disassemble(elf: Path, objdump: Path, machine: str) -> dict[int, Instruction]:
    """All instructions by address. `machine` is "EM_RISCV" or "EM_ARM" (Thumb).

    Raises BuildFailed if objdump does not read the file.
    """
    answer = subprocess.run(
        [str(objdump), "-d", "-w", str(elf)], capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        raise BuildFailed(
            f"{elf}: {objdump.name} does not disassemble it",
            remedy="Is it an image for this board?",
            detail=answer.stderr,
        )
    decode = _riscv if machine == "EM_RISCV" else _arm
    return {instruction.address: instruction for instruction in _lines(answer.stdout, decode)}


def _lines(text: str, decode: Callable[[str, str], tuple[CodeKind, Flow]]) -> Iterator[Instruction]:
    for address, code, name, rest in _LINE.findall(text):
        operands = _COMMENT.sub("", rest).strip() if rest else ""
        kind, flow = decode(name.strip(), operands)
        match = _TARGET.search(operands) if flow in ("call", "branch") else None
        yield Instruction(
            int(address, 16),
            len(code.replace(" ", "")) // 2,
            f"{name.strip()} {operands}".strip(),
            kind,
            flow,
            int(match[1], 16) if match else None,
            int(code.replace(" ", ""), 16),
        )


def _riscv_flow(name: str, operands: str) -> tuple[CodeKind, Flow]:
    first = operands.partition(",")[0]
    if name in ("jal", "jalr"):
        links = "," not in operands or first in ("ra", "t0")
        return "branch", "call" if links and not operands.startswith("zero") else "jump"
    if name == "ret" or (name == "jr" and first in ("ra", "t0")):
        return "branch", "return"
    if name == "jr":
        return "branch", "jump"
    if name == "j" or _RISCV_BRANCH.fullmatch(name):
        return "branch", "branch"
    if name in ("mret", "sret", "uret"):
        return "branch", "exit"
    return "other", "trap" if name in ("ecall", "ebreak") else ""


def _riscv(name: str, operands: str) -> tuple[CodeKind, Flow]:
    if _RISCV_LOAD.match(name):
        return "load", ""
    if _RISCV_STORE.match(name):
        return "store", ""
    return _riscv_flow(name, operands)


def _arm(name: str, operands: str) -> tuple[CodeKind, Flow]:
    name = name.removesuffix(".n").removesuffix(".w")
    to_pc = bool(re.search(r"\bpc\}$|^pc,", operands))
    if _ARM_LOAD.match(name):
        # Popping the program counter is a return; `ldr pc, [r3]` is a jump.
        back = name.startswith(("pop", "ldm")) or "sp" in operands
        return ("branch", "return" if back else "jump") if to_pc else ("load", "")
    if _ARM_STORE.match(name):
        return "store", ""
    flow = _arm_flow(name, operands, to_pc=to_pc)
    return "branch" if flow not in ("", "trap") else "other", flow


def _arm_flow(name: str, operands: str, *, to_pc: bool) -> Flow:
    flow: Flow = ""
    if _ARM_CALL.fullmatch(name) and name not in ("blt", "ble", "bls"):
        flow = "call"
    elif _ARM_BX.fullmatch(name):
        flow = "return" if operands == "lr" else "jump"
    elif name in ("tbb", "tbh") or (to_pc and name.startswith(("mov", "add"))):
        flow = "jump"
    elif _ARM_BRANCH.fullmatch(name):
        flow = "branch"
    elif name in ("svc", "udf"):
        flow = "trap"
    return flow
