# SPDX-License-Identifier: Apache-2.0
"""An image that another build made, with the suite inside: checked before it is started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import Board, EmulatedTier, RtlTier
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.images.debug_info import DebugInfo
from kadenz.images.elf_facts import ElfFacts, build_elsewhere, read_facts
from kadenz.images.footprint import FOLDERS
from kadenz.images.image import Image
from kadenz.images.provenance import Tree

# The suite's first function; link-time optimisation may add a suffix.
_ENTRY = "kdz_suite_main"
_MARKER = "kdz_scope_marker"
# Folder of arch/ -> e_machine and class of its images.
MACHINES = {"armv6m": ("EM_ARM", 32), "armv7m": ("EM_ARM", 32), "riscv": ("EM_RISCV", 32)}
_HOW = "See docs/how-to/measure-your-own-image.md"


@dataclass(frozen=True)
class GivenImage(Image):
    """Its folder only holds what the image answered."""

    stripped: bool = False  # without symbols


def given_folder(file: Path) -> Path:
    """Where the answers of this image are kept."""
    return inventory.build_folder() / f"image-{Elf(file).sha256[:16]}"


def given_image(target: TargetName, file: Path, instrument: str = "counter") -> GivenImage:
    """The image in `file`. UsageError if it cannot be an image of the suite for this board."""
    facts = read_facts(file)
    _check(file, facts, target.board, inventory.board(target.board))
    if instrument == "scope":
        _check_marker(file, facts)
    elf = Elf(file)
    entry = build_elsewhere(elf, facts, f"image {file}")
    return GivenImage(elf, given_folder(file), entry, stripped=facts.symbols is None)


def trees_of(image: Image, kernel: str) -> tuple[Tree, ...]:
    """Folders outside the checkout with parts of an image.

    Those of a given image are found by its debug information: the suite around its first function,
    the kernel around the variable with its current thread. Without either, that part is missing.
    """
    if not isinstance(image, GivenImage):
        return image.trees
    debug, trees = DebugInfo(image.elf.path), []
    known = inventory.kernels().get(kernel)
    current = known.current_thread.partition(".")[0] if known is not None else ""
    entry = next((symbol for symbol in image.elf.symbols if symbol.name.startswith(_ENTRY)), None)
    runner = debug.source_at(entry.address) if entry is not None else None
    if runner is not None and runner.parent.match("suite/core"):
        trees += [Tree(part, runner.parents[2] / folder) for folder, part in FOLDERS.items()]
    kept = debug.definition(current) if current else None
    if kept is not None and known is not None:
        trees.append(Tree("kernel", _root(kept, Path(known.current_thread_file))))
    return tuple(trees)


def _root(file: Path, inside: Path) -> Path:
    """The tree that has `file` at `inside`; the folder of `file` if it is at another place."""
    count = len(inside.parts)
    return file.parents[count - 1] if count and file.match(str(inside)) else file.parent


def _check(file: Path, facts: ElfFacts, name: str, board: Board) -> None:
    check_machine(file, facts, name, board)
    if facts.symbols is not None and not any(s.startswith(_ENTRY) for s in facts.symbols):
        raise UsageError(
            f"{file}: the suite is not in this image: it has no symbol {_ENTRY}",
            remedy=f"`kadenz export-suite` writes it for your project. {_HOW}",
        )
    check_memory(file, facts, name, board)
    _check_pages(file, facts, name, board)


def check_machine(
    file: Path, facts: ElfFacts, name: str, board: Board, *, option: str = "--target BOARD@TIER"
) -> None:
    """UsageError unless the file is a linked image for the machine of this board, which `option`
    names."""
    if facts.kind != "ET_EXEC":
        raise UsageError(
            f"{file}: not a linked image ({facts.kind})",
            remedy="Pass the file that the linker wrote",
        )
    machine = MACHINES.get(board.arch)
    if machine is not None and machine != (facts.machine, facts.bits):
        raise UsageError(
            f"{file}: built for {facts.machine}, {facts.bits} bits; {name} is "
            f"{machine[0]}, {machine[1]} bits",
            remedy=f"Name its own board with {option}; `kadenz list` shows the boards",
        )


def _check_marker(file: Path, facts: ElfFacts) -> None:
    if facts.symbols is None:
        raise UsageError(
            f"{file}: stripped: the scope cannot find {_MARKER} without symbols",
            remedy="Pass the image before it is stripped, or measure with --instrument counter",
        )
    if _MARKER not in facts.symbols:
        raise UsageError(
            f"{file}: not built for the scope: it has no symbol {_MARKER}",
            remedy="Export the suite with --instrument scope, or measure with --instrument counter",
        )


def check_memory(file: Path, facts: ElfFacts, name: str, board: Board) -> None:
    """UsageError for what the image has outside of the board's memory."""
    ranges = board.memory.ranges if board.memory is not None else ()
    for address, size in facts.occupied:
        inside = any(low <= address and address + size <= low + room for low, room in ranges)
        if ranges and not inside:
            raise UsageError(
                f"{file}: {size:,} bytes at {address:#010x} are outside the memory of {name}",
                remedy="Check its linker script; the board's memory is in its board.toml",
            )


def _check_pages(file: Path, facts: ElfFacts, name: str, board: Board) -> None:
    for occupied in facts.occupied:
        for tier in (board.tier.emulated, board.tier.rtl):
            if tier is not None and tier.plan_address:
                _check_page(file, occupied, name, tier)


def _check_page(
    file: Path, occupied: tuple[int, int], name: str, tier: EmulatedTier | RtlTier
) -> None:
    address, size = occupied
    page, end = tier.plan_address, tier.plan_address + tier.plan_bytes
    if address < end and page < address + size:
        raise UsageError(
            f"{file}: {size:,} bytes at {address:#010x} overlap the plan page of {name}, "
            f"{page:#010x} to {end:#010x}",
            remedy="Leave these addresses free in its linker script. " + _HOW,
        )
