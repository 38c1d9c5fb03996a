# SPDX-License-Identifier: Apache-2.0
"""Checks which targets this machine can measure, and what the others lack."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import Board, GuestProgram
from kadenz.config.kernel import GuestKernels, Kernel
from kadenz.config.target_name import TargetName, known_targets, own_link, own_source, parse_target
from kadenz.errors import KadenzError, ToolMissing
from kadenz.targets import guest_kernel, rtl_core
from kadenz.targets.board.discovery import of_board
from kadenz.targets.board.reach import data_of
from kadenz.targets.guest import modules_of, require_program
from kadenz.tools import Need, Tool

LookUp = Callable[[Need], Tool]


@dataclass(frozen=True)
class Missing:
    """One missing requirement of a target on this machine, and its remedy."""

    problem: str
    remedy: str


@dataclass(frozen=True)
class TargetCheck:
    """The requirements of a target that this machine lacks, also for the scope."""

    name: str
    title: str
    instruments: tuple[str, ...]
    missing: tuple[Missing, ...]
    missing_for_scope: tuple[Missing, ...]
    note: str

    @property
    def ready(self) -> bool:
        """True if nothing is missing for the counter instrument."""
        return not self.missing


def check_targets(
    look_up: LookUp = tools.look_up, of_host: Sequence[Missing] = ()
) -> list[TargetCheck]:
    """Check every target of the checkout.

    `of_host` lists rights that this machine lacks for targets of tier host.
    """
    tool: dict[Need, Tool] = {}

    def once(wanted: Need) -> Tool:
        if wanted not in tool:
            tool[wanted] = look_up(wanted)
        return tool[wanted]

    boards, kernels = inventory.boards(), inventory.kernels()
    checks = []
    known = known_targets()
    for text in known:
        try:
            name = parse_target(text, known)
        except KadenzError as error:
            checks.append(_cannot(text, error))
            continue
        kernel = kernels[name.kernel] if name.kernel else None
        try:
            checks.append(_check(name, kernel, boards[name.board], once, of_host))
        except KadenzError as error:  # an emulator or a core that kadenz does not have
            checks.append(_cannot(text, error))
    return checks


def _cannot(name: str, error: KadenzError) -> TargetCheck:
    return TargetCheck(name, "", (), (Missing(error.message, error.remedy),), (), "")


def _check(
    name: TargetName,
    kernel: Kernel | None,
    board: Board,
    look_up: LookUp,
    of_host: Sequence[Missing],
) -> TargetCheck:
    missing, unchecked = _for_the_build(name, kernel, board, look_up)
    if name.tier == "host":
        missing += of_host
    note, for_scope = "", []
    if name.tier == "emulated" and board.tier.emulated is not None:
        emulator = look_up(tools.need(board.tier.emulated.qemu))
        missing.append(_lacking(emulator))
        missing.append(_machine(emulator, board.tier.emulated.machine))
        for_scope.append(_plugin_header(emulator))
        note = "counts instructions, not the time of a board"
    if name.tier == "rtl" and board.tier.rtl is not None:
        missing.append(_core(board.tier.rtl.core))
        note = "exact cycles of a core compiled from its Verilog"
    guest = board.tier.guest
    if name.tier == "guest" and guest is not None and kernel is not None and kernel.guest:
        emulator = look_up(tools.need(guest.qemu))
        missing += [_lacking(emulator), _machine(emulator, guest.machine)]
        if guest.program is not None:
            missing.append(_program(name, guest.program, board.arch))
        note = _guest_kernels(board.arch, kernel.guest, guest.program, missing)
    if name.tier == "board" and board.tier.board is not None:
        reaching = of_board(board.tier.board, own_link(name), look_up)
        missing += [_lacking(tool) for tool in reaching]
        unchecked += [tool.unchecked for tool in reaching]
        note = "" if board.tier.board.verified else "the suite has never run on the real board"
        server = data_of(board.tier.board, own_link(name))
        if server is not None and server.simulated_jtag and board.tier.rtl is not None:
            missing.append(_core(board.tier.rtl.core))
            note = "exact cycles of a simulated core, reached as a board is"
    return TargetCheck(
        str(name),
        board.title,
        board.instruments,
        tuple(need for need in missing if need),
        tuple(need for need in for_scope if need) if "scope" in board.instruments else (),
        "; ".join(text for text in (*unchecked, note) if text),
    )


def _for_the_build(
    name: TargetName, kernel: Kernel | None, board: Board, look_up: LookUp
) -> tuple[list[Missing | None], list[str]]:
    """What the build of its image lacks, and which of its programs were not checked.

    An image that another build made needs nothing.
    """
    if kernel is None:
        return [], []
    if kernel.own_build:
        return [Missing(kernel.builds_itself, kernel.take_the_suite(name.kernel))], []
    needs = [tools.need("cmake"), tools.need("ninja"), _compiler(name.board, board)]
    from_crate = kernel.source is not None and kernel.source.crate is not None
    if from_crate or board.tier.crate(name.tier):
        needs.append(tools.need("cargo"))
    if inventory.in_rust(kernel.port or name.kernel):
        needs += [tools.need("cargo"), tools.need("rustc")]
    programs = [look_up(wanted) for wanted in needs]
    missing = [_lacking(tool) for tool in programs]
    if kernel.source is not None and kernel.source.left_to_user and own_source(name) is None:
        missing.append(Missing(kernel.needs_tree, kernel.name_the_tree(name.kernel)))
    return missing, [tool.unchecked for tool in programs]


def _compiler(name: str, board: Board) -> Need:
    """The compiler of the board's tool chain; without one, this machine's own."""
    compiler = inventory.compiler(name, board.arch)
    try:
        return tools.need(compiler)
    except ToolMissing:
        where = str(inventory.toolchain(name, board.arch))
        purpose = f"images for {board.title}"
        return Need(compiler, purpose, f"Install {compiler}", named_by=where)


def _lacking(tool: Tool) -> Missing | None:
    return Missing(tool.problem, tool.need.remedy) if tool.problem else None


def _core(name: str) -> Missing | None:
    """Missing tools of a core compiled from its Verilog."""
    try:
        rtl_core.require(name)
    except KadenzError as error:
        return Missing(error.message, error.remedy)
    return None


def _machine(emulator: Tool, machine: str) -> Missing | None:
    """Checks that the emulator supports the board's machine; this depends on its version."""
    if emulator.problem or emulator.path is None:
        return None  # already reported
    answer = subprocess.run(
        [str(emulator.path), "-machine", "help"], capture_output=True, text=True, check=False
    )
    name = machine.partition(",")[0]
    if re.search(rf"^{re.escape(name)}\s", answer.stdout, re.MULTILINE):
        return None
    return Missing(f"{emulator.path} has no machine {name}", emulator.need.remedy)


def _program(name: TargetName, program: GuestProgram, isa: str) -> Missing | None:
    """Checks that the program of a guest can be compiled for it."""
    try:
        require_program(name, program, isa)
    except ToolMissing as error:
        return Missing(error.message, error.remedy)
    return None


def _guest_kernels(
    isa: str, kernels: GuestKernels, program: GuestProgram | None, missing: list[Missing | None]
) -> str:
    """Lists available kernels, with the modules that the program needs. The target cannot run
    without the default one."""
    releases = []
    for number, version in enumerate(kernels.versions.get(isa, ())):
        try:
            kernel = guest_kernel.find(isa, kernels, version)
            kernel.module_files(modules_of(program, ""))
            releases.append(kernel.release)
        except ToolMissing as error:
            if number == 0:
                missing.append(Missing(error.message, error.remedy))
    return f"{', '.join(releases)}; counts instructions, not hardware latency"


def _plugin_header(emulator: Tool) -> Missing | None:
    if emulator.problem:
        return None
    try:
        tools.plugin_header_dir(emulator.version)
    except KadenzError as error:
        return Missing(error.message, error.remedy)
    return None
