# SPDX-License-Identifier: Apache-2.0
"""Parts of a target that the scope watches for a profile."""

from __future__ import annotations

from kadenz.config import inventory
from kadenz.config.board import RtlTier
from kadenz.config.profile import LockEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import ToolMissing, UsageError
from kadenz.host import tracefs
from kadenz.images.debug_info import DebugInfo
from kadenz.images.image import Image
from kadenz.lab.profile.cores import core_of
from kadenz.targets.arrivals import Flag
from kadenz.targets.rtl_core import core_file
from kadenz.targets.scope_plugin import NamePlace, Watched

_LONGEST_WINDOW_US = 10_000  # at one instruction a nanosecond, ten million are followed
_NAME_BYTES = 24  # of a name that a pointer leads to


def check_profiled(name: TargetName, instrument: str) -> None:
    """UsageError for a target whose instructions cannot be watched."""
    if name.tier == "rtl" and instrument == "scope":
        _check_core(name)
    elif name.tier != "emulated" or instrument not in ("scope", "records"):
        raise UsageError(
            f"{name}: the instructions between two stamps cannot be watched there",
            remedy="Name a target of the tier `emulated`, or `ibex@rtl`: see `kadenz list`",
        )


def check_window(bench: str, window_us: float) -> None:
    """UsageError for a benchmark whose window has too many instructions to follow."""
    if window_us > _LONGEST_WINDOW_US:
        raise UsageError(
            f"{bench}: a window of {window_us:,.0f} µs is too long for a profile",
            remedy=f"Take a shorter one: --set window_us={_LONGEST_WINDOW_US}",
        )


def _check_core(name: TargetName) -> None:
    """UsageError for simulated cores that do not show what they retire."""
    board = inventory.board(name.board)
    if board.tier.rtl is None:
        return
    core = core_file(board.tier.rtl.core)
    if board.cores > 1 or not core.retires:
        why = (
            f"it has {board.cores} cores, and a profile follows one"
            if board.cores > 1
            else f"a store of {core.title} acts at no fixed distance from its retirement"
        )
        raise UsageError(
            f"{name}: cannot be profiled: {why}",
            remedy="Profile on `ibex@rtl`, or on the tier `emulated`: see `kadenz list`",
        )


def records_releases(name: TargetName) -> bool:
    """Whether the target's program records its own releases: those of fieldbus/ do."""
    return bool(inventory.board(name.board).tier.crate(name.tier))


def check_traced(name: TargetName, instrument: str) -> None:
    """UsageError for a target that nothing can trace, ToolMissing for a Linux without tracefs."""
    if name.tier == "rtl":
        raise UsageError(
            f"{name}: a simulated core shows no timeline",
            remedy="Trace it on the tier `emulated`: see `kadenz list`",
        )
    if name.tier != "host":
        check_profiled(name, instrument)
    elif not records_releases(name) and not tracefs.available():
        raise ToolMissing(
            f"{name}: cannot be traced: {tracefs.PLACES[0]} is not tracefs, or not writable",
            remedy="As root: mount -t tracefs nodev /sys/kernel/tracing",
        )


def watched(name: TargetName, image: Image, *, traced: bool) -> Watched:
    """The registers of the core; the kernel's pointer to the current thread and its lock, if known.

    `traced`: the thread's name too, over whole records.
    """
    kernel = inventory.kernels().get(name.kernel)  # of a given image, the lab may not know it
    debug = DebugInfo(image.elf.path)
    addresses: list[int] = []
    for word in (kernel.current_thread, kernel.scheduler_lock) if kernel is not None else ():
        found_at = _addresses(word, image, debug)
        if not found_at:  # the lock is the second word, or there is none
            break
        addresses.append(found_at[0])
    structure, _, member = (kernel.thread_name if kernel and traced else "").partition(".")
    name_member = debug.member(structure, member) if structure else None
    place = (
        NamePlace(
            name_member.offset, name_member.characters or _NAME_BYTES, name_member.pointer_bytes
        )
        if name_member is not None
        else None
    )
    registers = core_of(inventory.board(name.board).arch).registers
    return Watched(tuple(addresses), registers, place, traced)


def lock_address(name: TargetName, image: Image) -> int:
    """Where the lock of the kernel's scheduler is; 0 for a kernel without one that is known."""
    kernel = inventory.kernels().get(name.kernel)
    word = kernel.scheduler_lock if kernel is not None else ""
    return next(iter(_addresses(word, image, DebugInfo(image.elf.path))), 0)


def flag_of(name: TargetName, tier: RtlTier, image: Image) -> Flag | None:
    """The words that tell the handler of each core that its interrupt is no call of another one;
    None on one core. UsageError for an image without them."""
    board = inventory.board(name.board)
    if board.cores == 1:
        return None
    variable, offset = DebugInfo(image.elf.path).place(tier.interrupt) or ("", 0)
    variables = [
        (symbol.address + offset, symbol.size // board.cores)
        for symbol in image.elf.symbols
        if variable and symbol.name == variable
    ]
    if len(variables) != 1:
        raise UsageError(
            f"{image.elf.path}: defines `{tier.interrupt}` {len(variables)} times, and a handler "
            "has to find it",
            remedy=f"Correct `interrupt` in [tier.rtl] of boards/{name.board}/board.toml",
        )
    return Flag(*variables[0])


def lock_of(name: TargetName, watch: Watched | None) -> LockEntry:
    """What a profile with these words knows of the lock of the kernel's scheduler."""
    kernel = inventory.kernels().get(name.kernel)
    lock_watched = watch is not None and len(watch.addresses) > 1
    return LockEntry(lock_watched, kernel.no_scheduler_lock if kernel is not None else "")


def _addresses(word: str, image: Image, debug: DebugInfo) -> list[int]:
    """The addresses of a word of the kernel, a variable or a member of one; of one at most."""
    place = debug.place(word) if word else None
    if place is None:
        return []
    variable, offset = place
    return [symbol.address + offset for symbol in image.elf.symbols if symbol.name == variable]
