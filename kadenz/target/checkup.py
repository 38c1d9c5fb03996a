# SPDX-License-Identifier: Apache-2.0
"""Which targets this machine can measure, and what is missing for the others."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kadenz.config import house
from kadenz.config.board import Board
from kadenz.config.kernel import Kernel
from kadenz.config.target_name import TargetName, known_targets, parse_target
from kadenz.errors import KadenzError
from kadenz.target import tools
from kadenz.target.tools import Need, Tool

LookUp = Callable[[Need], Tool]


@dataclass(frozen=True)
class Missing:
    """One thing a target lacks on this machine, and how to get it."""

    problem: str
    remedy: str


@dataclass(frozen=True)
class TargetCheck:
    """Whether a target can run here. `scope` is the same for the instrument from outside."""

    name: str
    title: str
    instruments: tuple[str, ...]
    missing: tuple[Missing, ...]
    missing_for_scope: tuple[Missing, ...]
    note: str

    @property
    def ready(self) -> bool:
        """Nothing is missing for the instrument on the target."""
        return not self.missing


def check_targets(
    look_up: LookUp = tools.look_up, of_host: Sequence[Missing] = ()
) -> list[TargetCheck]:
    """Check every target the checkout offers; each tool is looked up once.

    `of_host` is what this machine itself lacks for measuring on it: rights.
    """
    known: dict[str, Tool] = {}

    def once(wanted: Need) -> Tool:
        if wanted.name not in known:
            known[wanted.name] = look_up(wanted)
        return known[wanted.name]

    boards, kernels = house.boards(), house.kernels()
    checks = []
    for text in known_targets():
        name = parse_target(text)
        checks.append(_check(name, kernels[name.kernel], boards[name.board], once, of_host))
    return checks


def _check(
    name: TargetName,
    kernel: Kernel,
    board: Board,
    look_up: LookUp,
    of_host: Sequence[Missing],
) -> TargetCheck:
    needs = [tools.need("cmake"), tools.need("ninja"), _compiler(board)]
    if kernel.source is not None:
        needs.append(tools.need("cargo"))
    missing: list[Missing | None] = [_lacking(look_up(wanted)) for wanted in needs]
    if name.tier == "host":
        missing += of_host
    note, for_scope = "", []
    if name.tier == "emulated" and board.tier.emulated is not None:
        emulator = look_up(tools.need(board.tier.emulated.qemu))
        missing.append(_lacking(emulator))
        missing.append(_machine(emulator, board.tier.emulated.machine))
        for_scope.append(_plugin_header(emulator))
        note = "counts instructions, no time of a board"
    if name.tier == "board" and board.tier.board is not None:
        note = "" if board.tier.board.verified else "nobody has run the suite on the real board yet"
    return TargetCheck(
        str(name),
        board.title,
        board.instruments,
        tuple(found for found in missing if found),
        tuple(found for found in for_scope if found) if "scope" in board.instruments else (),
        note,
    )


def _compiler(board: Board) -> Need:
    """The compiler that arch/<arch>/toolchain.cmake names; this machine's own without one."""
    file = house.root() / "arch" / board.arch / "toolchain.cmake"
    text = file.read_text() if file.is_file() else ""
    found = re.search(r"set\(CMAKE_C_COMPILER\s+(\S+?)\s*\)", text)
    if found is None:
        return tools.need("gcc")
    try:
        return tools.need(found.group(1))
    except KeyError:
        return Need(found.group(1), f"images for {board.title}", f"Install {found.group(1)}")


def _lacking(tool: Tool) -> Missing | None:
    return Missing(tool.problem, tool.need.remedy) if tool.problem else None


def _machine(emulator: Tool, machine: str) -> Missing | None:
    """The emulator must know the board's machine; versions add and drop them."""
    if emulator.problem or emulator.path is None:
        return None  # said already
    answer = subprocess.run(
        [str(emulator.path), "-machine", "help"], capture_output=True, text=True, check=False
    )
    name = machine.partition(",")[0]
    if re.search(rf"^{re.escape(name)}\s", answer.stdout, re.MULTILINE):
        return None
    return Missing(f"{emulator.path} has no machine {name}", emulator.need.remedy)


def _plugin_header(emulator: Tool) -> Missing | None:
    if emulator.problem:
        return None
    try:
        tools.plugin_header_dir(emulator.version)
    except KadenzError as error:
        return Missing(error.message, error.remedy)
    return None
