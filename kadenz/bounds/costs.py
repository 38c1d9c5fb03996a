# SPDX-License-Identifier: Apache-2.0
"""Cycles of instructions, by a timing model of instruments/models: the C code that also charges
what an emulator executes, compiled for this machine."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kadenz import build_key, tools
from kadenz.bounds.lines import Cache
from kadenz.config import inventory
from kadenz.errors import BuildFailed
from kadenz.images.instructions import Instruction
from kadenz.targets import timing_model

_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
_LINES_OF_JUMP = 3  # one that was begun ahead, and two of an instruction that crosses a border
_PROGRAM = "costs"  # a folder of instruments/models, too

Step = tuple[Instruction, Instruction]


class Costs:
    """What steps cost under a model: an instruction, and the way to the next one. `cache`: of the
    instructions, whose lines are apart; None for a core without one."""

    def __init__(self, model: str, vectors: int) -> None:
        """`vectors`: the address of the first trap vector. BuildFailed, ToolMissing without a
        compiler."""
        self._program, self._vectors = _build(model), vectors
        self._known: dict[Step, int] = {}
        cache = Cache(*map(int, self._answer("").split()))
        self.cache = cache if cache.line_late else None

    def of(self, steps: Sequence[Step]) -> list[int]:
        """Cycles of each step."""
        new = list(dict.fromkeys(step for step in steps if step not in self._known))
        if new:
            text = "\n".join(" ".join(map(_shown, step)) for step in new)
            _, *answers = self._answer(text).splitlines()
            self._known |= zip(new, map(int, answers), strict=True)
        return [self._known[step] for step in steps]

    def most(self, instructions: Sequence[Instruction]) -> list[int]:
        """Of each instruction and the longest way from it: to one that crosses a border of words,
        and of lines, behind a line that the core had begun to fetch."""
        crossing = Instruction(0x2, 4, "nop", "other", "", None, 0x13)
        lines = [_LINES_OF_JUMP if each.flow else 1 for each in instructions]
        cycles = self.of([(each, crossing) for each in instructions])
        return [a + b * self.line for a, b in zip(cycles, lines, strict=True)]

    def alone(self, instructions: Sequence[Instruction]) -> list[int]:
        """Of each instruction that the core goes on behind."""
        behind = [Instruction(i.follows, 2, "c.nop", "other", "", None, 0x1) for i in instructions]
        return self.of(list(zip(instructions, behind, strict=True)))

    @property
    def load(self) -> int:
        """Cycles by which a load is late at most, if its line is not there."""
        return self.cache.load_late if self.cache is not None else 0

    @property
    def line(self) -> int:
        """Cycles by which a line of code is late, at most."""
        return self.cache.line_late if self.cache is not None else 0

    def _answer(self, text: str) -> str:
        answer = subprocess.run(
            [str(self._program), f"{self._vectors:x}"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        return answer.stdout


def _shown(instruction: Instruction) -> str:
    return f"{instruction.address:x} {instruction.bits:x} {instruction.size:x}"


def _build(model: str) -> Path:
    """The program of a model, compiled unless it is up to date."""
    folders = [
        timing_model.folder(),
        timing_model.folder() / _PROGRAM,
        timing_model.folder() / model,
    ]
    files = sorted(file for folder in folders for file in folder.glob("*.[ch]"))
    compiler = tools.require("gcc")
    key = [_FLAGS, build_key.tools([compiler]), build_key.variables(os.environ)]
    digest = hashlib.sha256(json.dumps(key).encode())
    for file in files:
        digest.update(file.read_bytes())
    program = inventory.build_folder() / "bounds" / f"{model}-{digest.hexdigest()[:16]}"
    if program.is_file():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    part = program.with_name(f".{program.name}.{secrets.token_hex(4)}")
    sources = [str(file) for file in files if file.suffix == ".c"]
    command = [str(compiler), *_FLAGS, f"-I{folders[0]}", *sources, "-o", str(part)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise BuildFailed(
            f"{folders[1]}: the model `{model}` did not compile",
            remedy="Report it with the compiler's version",
            detail=answer.stderr,
        )
    part.replace(program)
    return program
