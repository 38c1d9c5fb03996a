# SPDX-License-Identifier: Apache-2.0
"""The code of an image: functions with their parts, instructions, source lines."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kadenz.config import inventory
from kadenz.elf import Elf
from kadenz.errors import ToolMissing, UsageError
from kadenz.images.debug_info import DebugInfo
from kadenz.images.footprint import CodeOrigins
from kadenz.images.instructions import Instruction, disassemble
from kadenz.images.provenance import Tree

_WORD = 4  # bytes


@dataclass(frozen=True)
class Function:
    """A function, or a label of assembly."""

    name: str
    start: int
    end: int
    part: str  # "kernel", "port", "benchmarks" … as `kadenz footprint` names them
    file: str  # below that part


class Code:
    """The code of an image for a board. Raises UsageError for an image without symbols."""

    def __init__(self, elf: Elf, board: str, trees: Sequence[Tree] = ()) -> None:
        if not elf.functions:
            raise UsageError(
                f"{elf.path}: has no symbols: it was stripped, so no function can be named",
                remedy="Link with -g, and do not strip the image that is measured",
            )
        self._elf, self._board, self._trees = elf, board, trees
        self._starts = [start for start, _, _ in elf.functions]
        self._known: dict[int, Function] = {}

    @property
    def arch(self) -> str:
        """The board's architecture: "riscv", "armv6m"."""
        return inventory.board(self._board).arch

    @property
    def functions(self) -> list[Function]:
        """All functions and labels, by address."""
        return [self.function_at(start) for start in dict.fromkeys(self._starts)]

    def function_at(self, address: int) -> Function:
        """The function at an address; one of an unnamed place, if there is none."""
        index = bisect_right(self._starts, address) - 1
        if index not in self._known:
            self._known[index] = self._function(index)
        function = self._known[index]
        if not function.start <= address < function.end:
            return Function(f"{address:#x}", address, address + 1, "not attributed", "")
        return function

    def variable_at(self, address: int) -> str:
        """The variable that holds an address: "tcb_table+0x28"; "" if there is none."""
        for symbol in self._elf.symbols:
            if symbol.address <= address < symbol.address + symbol.size:
                offset = address - symbol.address
                return f"{symbol.name}+{offset:#x}" if offset else symbol.name
        return ""

    def instruction(self, address: int) -> Instruction | None:
        """The instruction at an address; None if objdump sees data there."""
        return self._instructions.get(address)

    def word(self, address: int) -> int | None:
        """The word at an address of code or constants, which nothing writes; None elsewhere."""
        for start, content in self._read_only:
            if start <= address <= start + len(content) - _WORD:
                return int.from_bytes(content[address - start :][:_WORD], "little")
        return None

    def lines(self, addresses: Collection[int]) -> dict[int, tuple[str, int]]:
        """The source file and line of each of these addresses that has them."""
        lines = self._debug.lines(addresses)
        return {address: (self._shown(file), line) for address, (file, line) in lines.items()}

    def _function(self, index: int) -> Function:
        if index < 0:
            return Function("", 0, 0, "not attributed", "")
        start, size, name = self._elf.functions[index]
        part, file = self._origins.at(start)
        return Function(name, start, start + size, part, file)

    def _shown(self, file: Path) -> str:
        """A source by its path below the checkout or its tree, so that it is the same elsewhere."""
        plain = Path(os.path.normpath(file))
        for base in (*(tree.folder.resolve() for tree in self._trees), inventory.root()):
            if plain.is_relative_to(base):
                return str(plain.relative_to(base))
        return plain.name

    @cached_property
    def _read_only(self) -> list[tuple[int, bytes]]:
        """Address and contents of each section that nothing writes."""
        return [
            (section.address, self._elf.contents(section.name))
            for section in self._elf.sections
            if section.kind in ("code", "constants")
        ]

    @cached_property
    def _debug(self) -> DebugInfo:
        return DebugInfo(self._elf.path)

    @cached_property
    def _origins(self) -> CodeOrigins:
        return CodeOrigins(self._elf.path, self._trees)

    @cached_property
    def _instructions(self) -> dict[int, Instruction]:
        return disassemble(self._elf.path, objdump(self._board), self._elf.machine)


def objdump(board: str) -> Path:
    """The disassembler beside the board's compiler. Raises ToolMissing."""
    from kadenz import tools

    compiler = tools.require(inventory.compiler(board, inventory.board(board).arch))
    disassembler = compiler.with_name(compiler.name.removesuffix("gcc") + "objdump")
    if not disassembler.is_file():
        raise ToolMissing(
            f"{disassembler}: no such file (disassembles images)",
            remedy=tools.need(compiler.name).remedy,
        )
    return disassembler
