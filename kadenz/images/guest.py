# SPDX-License-Identifier: Apache-2.0
"""A guest's initial RAM disk with init, the suite and the loads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kadenz import build_key
from kadenz.config import inventory
from kadenz.config.board import GuestProgram, GuestTier
from kadenz.config.manifest import PartEntry
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, UsageError
from kadenz.images.cpio import Entry, File, Node, archive
from kadenz.images.cross import cross
from kadenz.images.given_program import GivenProgram
from kadenz.images.image import Image, build_image, locked, require_compiler
from kadenz.images.private_copy import private_copy
from kadenz.images.program import build_program
from kadenz.images.provenance import Tree, parts, sha256_of
from kadenz.images.shared_libraries import is_dynamic, shared_libraries

_SOURCES = Path("kernels/linux/guest")
_PROGRAMS = {  # their C files
    "init": ("init", "threads", "window"),
    "load": ("load",),
    "wire": ("wire",),
    "launch": ("launch", "trace"),
}
_EVERY = ("init", "load", "wire")  # of these, that every guest has which runs the suite
_FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla"]
_FLAGS += ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror", "-static", "-s"]


@dataclass(frozen=True)
class GuestImage(Image):
    """An image of the suite, and the archive for the guest. `folder` belongs to this kernel."""

    initrd: Path


def guest_folder(target: TargetName, version: str, instrument: str = "counter") -> Path:
    """The folder of a target's archive and catalog; may not exist yet."""
    return inventory.build_folder() / f"{target.kernel}-{target.board}-{version}-{instrument}"


def build_guest(
    target: TargetName,
    version: str,
    origin: str,
    kernel: Path,
    disturbance: Path | None,
    modules: Sequence[Path],
    *,
    extra_bench: Sequence[Path] = (),
    given: GivenProgram | None = None,
) -> GuestImage:
    """Builds and packs the suite for the target's board, unless up to date, the program that the
    board names, and the one that is given.

    `version` and `origin` name the kernel that boots it, `kernel` is its file, `disturbance` (None:
    there is none for it) and `modules` are its modules. Raises the errors of `build_image`.
    """
    tier = _guest_tier(target)
    if tier.program is not None and extra_bench:
        raise UsageError(f"{target} is not an image of the suite", remedy="Leave --bench out")
    machine = target._replace(board=inventory.board(target.board).arch)
    image = build_image(machine, "counter", extra_bench=extra_bench)
    programs = guest_programs(machine.board, _EVERY)
    sources = guest_sources(_EVERY)
    given_files = (kernel, *((disturbance,) if disturbance is not None else ()), *modules)
    binaries = [file.resolve() for file in given_files]
    digests = {file: sha256_of(file) for file in binaries}
    folder = guest_folder(target, version)
    if extra_bench:  # like the image's own folder: next to the stock one
        folder = folder.with_name(f"{folder.name}-{image.folder.name.rpartition('-')[2]}")
    if given is not None:
        folder = folder.with_name(f"{folder.name}-{given.digest[:16]}")
    libraries: list[Path] = []
    suite_parts: list[PartEntry] = []
    with locked(folder):
        compiler = require_compiler(machine.board)
        suite = folder / "suite"
        _strip(compiler, image.elf.path, suite)
        entries = _entries({"suite": suite, **programs}, disturbance, modules)
        if tier.program is not None:
            image, suite_parts = _program_image(target, tier.program, folder), image.entry.parts
            libraries = shared_libraries(image.elf.path) if is_dynamic(image.elf.path) else []
            if given is not None:
                libraries = sorted({*libraries, *given.libraries()})
                entries |= given.entries()
            entries |= _program_entries(image.elf.path, compiler, folder, libraries)
        copy = private_copy(_written(folder / "initrd", archive(entries)), folder)
    entry = msgspec.structs.replace(
        image.entry,
        kernel_source=origin,
        parts=[
            *parts(binaries, [Tree("kernel", file.parent) for file in binaries]),
            *parts(sources, [Tree("guest", inventory.root() / _SOURCES)]),
            *parts(libraries, [Tree("libraries", file.parent) for file in libraries]),
            *(parts(given.sources, [Tree("program", given.root)]) if given is not None else ()),
            *image.entry.parts,
            *(part for part in suite_parts if part not in image.entry.parts),
        ],
    )
    others = digests | {copy: sha256_of(copy)}
    return GuestImage(image.elf, folder, entry, copy, others=others)


def _entries(
    programs: Mapping[str, Path], disturbance: Path | None, modules: Sequence[Path]
) -> dict[str, Entry]:
    """The files that every guest has."""
    planted = {"disturbance.ko": disturbance} if disturbance is not None else {}
    return {
        "dev": None,
        "dev/console": Node(5, 1),  # the kernel opens it for the output of init
        "proc": None,
        "sys": None,
        "tmp": None,
        **{name: File(file.read_bytes()) for name, file in planted.items()},
        **{name: File(file.read_bytes(), 0o755) for name, file in programs.items()},
        **module_entries(modules),
    }


def _written(initrd: Path, packed: bytes) -> Path:
    """The archive on the disk, untouched if it has these bytes."""
    if not initrd.is_file() or initrd.read_bytes() != packed:
        initrd.unlink(missing_ok=True)  # a new file, as linkers write: see private_copy
        initrd.write_bytes(packed)
    return initrd


def _module_parameters() -> dict[str, str]:
    """The parameters of each module that a guest may load."""
    lines = (inventory.root() / _SOURCES / "modules").read_text().splitlines()
    pairs = (line.partition(" ") for line in lines if not line.startswith("#"))
    return {name: parameters for name, _, parameters in pairs}


def module_entries(files: Sequence[Path]) -> dict[str, Entry]:
    """Modules, each with its parameters if it takes some."""
    parameters = _module_parameters()
    entries: dict[str, Entry] = {"modules": None} if files else {}
    for file in files:
        entries[f"modules/{file.name}"] = File(file.read_bytes())
        if parameters[file.stem]:
            text = parameters[file.stem].encode()
            entries[f"modules/{file.stem}.parameters"] = File(text)
    return entries


def _guest_tier(target: TargetName) -> GuestTier:
    tier = inventory.board(target.board).tier.guest
    assert tier is not None  # a target of this tier
    return tier


def _program_image(target: TargetName, program: GuestProgram, folder: Path) -> Image:
    """The program that the guest runs instead of the suite."""
    elf, entry = build_program(program.crate, cross(inventory.board(target.board), target.tier))
    return Image(Elf(private_copy(elf.path, folder)), folder, entry)


def _program_entries(
    program: Path, compiler: Path, folder: Path, libraries: Sequence[Path]
) -> dict[str, Entry]:
    """The program, and its libraries under their own paths."""
    stripped = folder / "program"
    _strip(compiler, program, stripped)
    entries: dict[str, Entry] = {"program": File(stripped.read_bytes(), 0o755)}
    return entries | at_their_paths(libraries)


def at_their_paths(files: Sequence[Path]) -> dict[str, Entry]:
    """Executable files under their own absolute paths, with the folders above."""
    folders = {parent for file in files for parent in file.parents if parent.name}
    entries: dict[str, Entry] = {f"{place}".lstrip("/"): None for place in sorted(folders)}
    return entries | {f"{file}".lstrip("/"): File(file.read_bytes(), 0o755) for file in files}


def plan_archive(plan: str) -> bytes:
    """The second archive of a guest: its plan."""
    entries: dict[str, Entry] = {"plan": File(plan.encode())}
    return archive(entries)


def _sources(name: str) -> list[Path]:
    return [inventory.root() / _SOURCES / f"{part}.c" for part in _PROGRAMS[name]]


def guest_programs(board: str, names: Sequence[str]) -> dict[str, Path]:
    """Programs of kernels/linux/guest for a board, compiled if their sources have changed."""
    folder = inventory.build_folder() / f"guest-{board}"
    return {name: _program(board, folder, name) for name in names}


def guest_sources(names: Sequence[str]) -> list[Path]:
    """The sources of the same programs."""
    return [file for name in names for file in _sources(name)]


def _program(board: str, folder: Path, name: str) -> Path:
    """Compiles another program of the guest, if its sources have changed."""
    sources = _sources(name)
    program, made_of = folder / name, folder / f"{name}.sha256"
    compiler = require_compiler(board)
    read = [*sources, *sorted((inventory.root() / _SOURCES).glob("*.h"))]
    digests = [sha256_of(file) for file in read]
    key = [digests, _FLAGS, build_key.tools([compiler]), build_key.variables(os.environ)]
    wanted = json.dumps(key)
    with locked(folder):
        known = made_of.read_text() if made_of.is_file() else ""
        if known == f"{wanted}\n{sha256_of(program)}":
            return program
        new = folder / f"{name}.new"
        _run([str(compiler), *_FLAGS, *map(str, sources), "-o", str(new)], board, name)
        new.replace(program)  # others may read it
        made_of.write_text(f"{wanted}\n{sha256_of(program)}")
    return program


def _strip(compiler: Path, source: Path, to: Path) -> None:
    """The suite without symbols, which only enlarge the archive."""
    tool = f"{compiler}".removesuffix("gcc") + "strip"
    if shutil.which(tool) is None:
        to.write_bytes(source.read_bytes())
        return
    subprocess.run([tool, "--strip-all", "-o", str(to), str(source)], check=True)


def _run(command: list[str], board: str, what: str) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise BuildFailed(
            f"{board}: {what} of {_SOURCES} does not compile",
            remedy="See the compiler's messages above",
            detail=answer.stderr.strip(),
        )
