# SPDX-License-Identifier: Apache-2.0
"""The sources of an image: digests of the files that the compiler read, by part.

A version string does not change with the code; these digests do. The lists come from the build
itself (the compiler's dependency files and the linker's inputs): an edited header counts, a file
that was not compiled does not.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.manifest import PartEntry
from kadenz.errors import BuildFailed

SUITE, PORT, OTHER = "suite", "port", "tool chain"
# Folders of the checkout and their parts; the longest match decides.
PARTS = {
    "suite": SUITE,
    "kernels/conformance": SUITE,
    "kernels": PORT,
    "boards": "board",
    "arch": "arch",
    "instruments": "instrument",
}


@dataclass(frozen=True)
class Tree:
    """A folder outside the checkout that is a part of the image."""

    part: str  # "kernel"
    folder: Path


class Homes:
    """The folders of an image's sources, and the part of the image that each holds."""

    def __init__(self, trees: Sequence[Tree], folders: Mapping[str, str]) -> None:
        self._root = inventory.root()
        homes = [(tree.folder.resolve(), tree.part) for tree in trees]
        homes += [(place / f, part) for place in inventory.places() for f, part in folders.items()]
        self._homes = sorted(homes, key=lambda home: -len(home[0].parts))

    def place(self, file: Path) -> tuple[str, str]:
        """The part of an absolute `file`, and its name there; OTHER with the whole path."""
        for home, part in self._homes:
            if file.is_relative_to(home):
                # Files of kadenz by relative path: a clone elsewhere has the same digest.
                base = self._root if home.is_relative_to(self._root) else home
                return part, str(file.relative_to(base))
        return OTHER, str(file)


def parts(
    files: Iterable[Path], trees: Sequence[Tree], build: Path | None = None
) -> list[PartEntry]:
    """The parts of `files` (absolute, read by the compiler), in a stable order.

    `build` is the build folder: files that the build generated there are the port's, if they are
    in none of `trees`. Their names begin there, and a file of the tool chain counts by its last
    name: equal files give equal digests wherever folders and compilers are.
    """
    homes = Homes(trees, PARTS)
    build_folder = build.resolve() if build is not None else None
    files_of: dict[str, list[tuple[str, Path]]] = {}
    for file in sorted(set(files)):
        part, name = homes.place(file)
        if build_folder is not None and file.is_relative_to(build_folder):
            part, name = PORT if part == OTHER else part, str(file.relative_to(build_folder))
        elif part == OTHER:
            name = file.name
        files_of.setdefault(part, []).append((name, file))
    order = [*dict.fromkeys([*(tree.part for tree in trees), *PARTS.values()]), OTHER]
    versions: dict[Path, str] = {}
    return [_part(part, files_of[part], versions) for part in order if part in files_of]


def _part(part: str, files: Sequence[tuple[str, Path]], versions: dict[Path, str]) -> PartEntry:
    total = hashlib.sha256()
    for name, file in sorted(files):
        total.update(f"{name}\0{sha256_of(file)}\n".encode())
    return PartEntry(
        part=part,
        files=len(files),
        sha256=total.hexdigest(),
        version=_version((file for _, file in files), versions) if part != OTHER else "",
    )


def _version(files: Iterable[Path], versions: dict[Path, str]) -> str:
    """The version of the first folder that has one: a build's own folder has none."""
    first = {file.parent: file for file in reversed(list(files))}
    candidates = (describe(file, versions) for file in reversed(first.values()))
    return next((version for version in candidates if version), "")


def sha256_of(file: Path) -> str:
    """SHA-256 of a file, in hexadecimal; "" if it no longer exists."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def describe(file: Path, versions: dict[Path, str] | None = None) -> str:
    """`git describe --always --dirty` of the tree that tracks `file`; "" if none does.

    `versions` keeps those of whole trees, by their folders, for the files of one image: git looks
    at every file of a tree to say whether it is dirty.
    """
    tree = next((folder for folder in file.resolve().parents if (folder / ".git").exists()), None)
    # A tree that an enclosing repository ignores has no version of its own.
    if tree is None or not _git(file.parent, "ls-files", "--", file.name):
        return ""
    versions = {} if versions is None else versions
    if tree not in versions:
        versions[tree] = _git(tree, "describe", "--always", "--dirty")
    return versions[tree]


def _git(folder: Path, *arguments: str) -> str:
    try:
        answer = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


# ---- what a build read ---------------------------------------------------------------------------
def read_by_ninja(folder: Path, program: str) -> set[Path]:
    """The sources of the objects in a build folder, and the files that `program` links.

    Raises BuildFailed if ninja's records cannot be read.
    """
    places = _Places(folder)
    inputs = {places.of(line) for line in _ninja(folder, "inputs", program).splitlines()}
    inputs |= {places.of(name) for name in _loaded(folder, program)}
    linked = {file for file in inputs if file.is_file() and not _made_here(folder, file)}
    return linked.union(*_dependencies(folder).values())


def _loaded(folder: Path, program: str) -> list[str]:
    """The files that GNU ld read, from its map: ninja knows no library of the tool chain."""
    file = (folder / program).with_suffix(".map")
    text = file.read_text(errors="replace") if file.is_file() else ""
    return re.findall(r"^LOAD (\S.*)$", text, re.MULTILINE)


class _Places:
    """Files by the names that a build in `folder` has for them, without links.

    A folder is resolved once: an image is made of a thousand files in a few.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._folders: dict[str, Path] = {}
        self._known: dict[str, Path] = {}

    def of(self, name: str) -> Path:
        if name not in self._known:
            above, file = os.path.split(name)
            if above not in self._folders:
                self._folders[above] = (self._folder / above).resolve()
            place = self._folders[above] / file
            self._known[name] = place.resolve() if place.is_symlink() or file == ".." else place
        return self._known[name]


def _made_here(folder: Path, file: Path) -> bool:
    return file.is_relative_to(folder.resolve())


def _dependencies(folder: Path) -> dict[str, list[Path]]:
    """The sources of each object, as reported by the compiler."""
    sources: dict[str, list[Path]] = {}
    places = _Places(folder)
    output = ""
    for line in _ninja(folder, "deps").splitlines():
        if line.startswith("    "):
            sources[output].append(places.of(line.strip()))
        elif line:
            output = line.split(": #deps")[0]
            sources[output] = []
    return sources


def _ninja(folder: Path, *arguments: str) -> str:
    from kadenz.tools import require

    command = [str(require("ninja")), "-C", str(folder), "--quiet", "-t", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise BuildFailed(
            f"{folder}: ninja does not list the compiled files",
            remedy="Remove that folder and retry",
            detail=(answer.stdout + answer.stderr).strip(),
        )
    return answer.stdout


def read_by_cargo(program: Path) -> set[Path]:
    """The program's sources in the workspace, from cargo's dependency file."""
    text = program.with_name(f"{program.name}.d").read_text()
    names = re.split(r"(?<!\\) ", text.partition(": ")[2].strip())
    return {Path(name.replace("\\ ", " ")).resolve() for name in names if name}


# ---- an image is up to date by content, not by date ----------------------------------------------
@dataclass(frozen=True)
class Contents:
    """The digests of a build folder's sources, stored next to it."""

    folder: Path

    def forget_changed(self, program: Path) -> None:
        """Removes objects whose sources have changed in content.

        Unpacking an archive over a tree may bring files with dates before those of the objects.
        Ninja compares dates and would keep such objects.
        """
        changed = {Path(name) for name, digest in self._kept() if sha256_of(Path(name)) != digest}
        if not changed or not (self.folder / "build.ninja").is_file():
            return
        objects = _dependencies(self.folder)
        for object_name, read in objects.items():
            if not changed.isdisjoint(read):
                (self.folder / object_name).unlink(missing_ok=True)
        if not changed <= set().union(*objects.values()):  # sources of a crate
            for library in self.folder.glob("lib*.a"):
                library.unlink()
        program.unlink(missing_ok=True)  # of a linker script

    def files(self) -> set[Path]:
        """The files stored; none before the first build."""
        return {Path(name) for name, _ in self._kept()}

    def keep(self, files: Iterable[Path]) -> None:
        """Stores the digests of the compiled files."""
        lines = [f"{sha256_of(file)} {file}\n" for file in sorted(files)]
        (self.folder / _KEPT).write_text("".join(lines))

    def _kept(self) -> Iterator[tuple[str, str]]:
        file = self.folder / _KEPT
        for line in file.read_text().splitlines() if file.is_file() else ():
            digest, _, name = line.partition(" ")
            yield name, digest


_KEPT = "kadenz-sources.txt"
