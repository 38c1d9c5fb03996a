# SPDX-License-Identifier: Apache-2.0
"""A program of the user's, and the ring that it drives, for a guest's initial RAM disk."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kadenz.elf import opened
from kadenz.errors import BuildFailed, UsageError
from kadenz.images.cpio import Entry, File
from kadenz.images.elf_facts import read_facts
from kadenz.images.program import build_program
from kadenz.images.provenance import sha256_of
from kadenz.images.shared_libraries import is_dynamic, shared_libraries

FOLDER = "given"  # in the RAM disk; fieldbus/kadenz-motion/src/given.rs
_RING = "ring.toml"
_EXECUTABLE = (
    "Name an executable of Linux by its path. Scripts, names that only a shell would find, and ~ "
    "are refused"
)
# ELF's name of a guest's instruction set.
_MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64", "riscv64": "EM_RISCV"}


@dataclass(frozen=True)
class GivenProgram:
    """An executable of this Linux with its arguments. `ring`: the file of the ring, or None for the
    board's own."""

    file: Path
    arguments: tuple[str, ...] = ()
    ring: Path | None = None

    def __str__(self) -> str:
        return shlex.join([self.file.name, *self.arguments])

    def check(self, isa: str) -> None:
        """Raises UsageError unless a guest of `isa` can start it and its ring is valid."""
        try:
            machine = read_facts(self.file).machine
        except UsageError as error:
            raise UsageError(f"--program {error.message}", remedy=_EXECUTABLE) from None
        if machine != _MACHINES.get(isa):
            raise UsageError(
                f"--program {self.file}: built for {machine}, and the guest is {isa}",
                remedy=f"Compile it for {isa}",
            )
        if not _begins(self.file):
            raise UsageError(
                f"--program {self.file}: an object or a library, not a program",
                remedy=_EXECUTABLE,
            )
        if any("\n" in word for word in self.arguments):
            raise UsageError(
                f"--program {self.file}: an argument has a line break",
                remedy="Put it in a file that the program has inside",
            )
        if self.ring is not None:
            _check_ring(self.ring)

    @property
    def sources(self) -> list[Path]:
        """The files of the user's."""
        files = [self.file, *([self.ring, *_described(self.ring)] if self.ring is not None else [])]
        return [file.resolve() for file in files]

    @property
    def root(self) -> Path:
        """The folder that has all of them."""
        return Path(os.path.commonpath([file.parent for file in self.sources]))

    @property
    def digest(self) -> str:
        """Of the files and the arguments."""
        known = [*(sha256_of(file) for file in self.sources), *self.arguments]
        return hashlib.sha256("\n".join(known).encode()).hexdigest()

    def libraries(self) -> list[Path]:
        """The shared libraries of the program. Raises UsageError for one that a guest lacks."""
        try:
            return shared_libraries(self.file) if is_dynamic(self.file) else []
        except BuildFailed as failure:
            raise UsageError(
                f"--program {failure.message}",
                remedy="Link it statically, or with an absolute rpath to libraries that are here",
            ) from None

    def entries(self) -> dict[str, Entry]:
        """The files of the RAM disk, without libraries."""
        command = [self.file.name, *self.arguments]
        entries: dict[str, Entry] = {
            FOLDER: None,
            f"{FOLDER}/program": File(self.file.read_bytes(), 0o755),
            f"{FOLDER}/arguments": File("".join(f"{part}\n" for part in command).encode()),
        }
        if self.ring is not None:
            entries[f"{FOLDER}/{_RING}"] = File(self.ring.read_bytes())
            for file in _described(self.ring):
                place = PurePosixPath(FOLDER, file.relative_to(self.ring.parent))
                folders = [parent for parent in place.parents if len(parent.parts) > 1]
                entries |= {str(folder): None for folder in reversed(folders)}
                entries[str(place)] = File(file.read_bytes())
        return entries


def _begins(file: Path) -> bool:
    """Whether a file has a first instruction; a library may have none."""
    with opened(file) as elf:
        return elf["e_type"] in ("ET_EXEC", "ET_DYN") and elf["e_entry"] != 0


def _check_ring(ring: Path) -> None:
    """Asks the segment itself. Its message has the place."""
    segment, _ = build_program("kadenz-segment")
    answer = subprocess.run(
        [str(segment.path), "check", str(ring)], capture_output=True, text=True, check=False
    )
    if answer.returncode:
        said = (
            (answer.stderr or answer.stdout)
            .strip()
            .removeprefix("error: ")
            .removeprefix(f"{ring}: ")
        )
        raise UsageError(
            f"--ring {ring}: {said.rstrip('.')}",
            remedy="The format is in docs/reference/segment.md",
        )
    for place in _named(ring):
        if place.is_absolute() or ".." in place.parts:
            raise UsageError(
                f"--ring {ring}: {place} is not inside the folder of the ring",
                remedy="Copy it beside the ring's file, and name it by its relative path",
            )


def _named(ring: Path) -> list[PurePosixPath]:
    """The ESI files of a valid ring, as it names them."""
    devices = tomllib.loads(ring.read_text()).get("device", [])
    return sorted({PurePosixPath(device["esi"]) for device in devices if "esi" in device})


def _described(ring: Path) -> Sequence[Path]:
    """The same, where they are here."""
    return [ring.parent / place for place in _named(ring)]
