# SPDX-License-Identifier: Apache-2.0
"""The image of a guest, and a boot of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from kadenz.config import inventory
from kadenz.config.board import GuestProgram
from kadenz.config.target_name import TargetName
from kadenz.images.given_program import FOLDER, GivenProgram
from kadenz.images.guest import GuestImage, build_guest, plan_archive
from kadenz.lab.condition import NONE
from kadenz.lab.conditions.guest import Guest, GuestChoice, thread_rules
from kadenz.targets.guest import GuestTarget, modules_of, require_program

# An emulated second takes several seconds of this machine; a boot is silent for as long.
BOOT_S = 180.0
SLOWDOWN = 30.0


def guest_image(
    name: TargetName,
    guest: Guest,
    extra_bench: Sequence[Path],
    given: GivenProgram | None = None,
) -> GuestImage:
    """The archive with which the guest boots. Raises ToolMissing if its program or a module cannot
    be had here, and the errors of `build_guest`."""
    kernel, board = guest.kernel, inventory.board(name.board)
    tier = board.tier.guest
    assert tier is not None
    if tier.program is not None:
        require_program(name, tier.program, board.arch)
    # Also where it runs the suite, to ask it: what is packed is not loaded then.
    modules = kernel.module_files(modules_of(tier.program, guest.load))
    return build_guest(
        name,
        kernel.version,
        kernel.origin,
        kernel.image,
        kernel.disturbance,
        modules,
        extra_bench=extra_bench,
        given=given,
    )


def program_of(name: TargetName, given: GivenProgram | None) -> GuestProgram | None:
    """The program that a guest runs instead of the suite. It starts the one that is given, and
    simulates the ring itself: it knows then how many frames came."""
    tier = inventory.board(name.board).tier.guest
    program = tier.program if tier is not None else None
    if program is None or given is None:
        return program
    arguments = [*program.arguments, "--given", f"/{FOLDER}", "--ring-interface", program.wire[1]]
    return replace(program, arguments=tuple(arguments), ring=())


def default_guest(name: TargetName) -> Guest:
    """The guest whose catalog stands for its target."""
    return GuestChoice().variants(name)[0]


def guest_target(
    name: TargetName, guest: Guest, image: GuestImage, given: GivenProgram | None = None
) -> GuestTarget:
    """The target of one boot of a guest, with the plan in its RAM disk."""
    tier = inventory.board(name.board).tier.guest
    assert tier is not None

    def pack(plan: str) -> bytes:
        return image.initrd.read_bytes() + plan_archive(plan)

    load = "" if guest.load == NONE else guest.load
    return GuestTarget(
        tier,
        guest.kernel,
        pack,
        load=load,
        threads=thread_rules(guest.tuning),
        disturbance=guest.disturbance,
        program=None if guest.runs_suite else program_of(name, given),
    )
