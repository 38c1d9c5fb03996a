# SPDX-License-Identifier: Apache-2.0
"""A guest's initial RAM disk with init, the suite and the loads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kadenz import build_key
from kadenz.config import inventory
from kadenz.config.target_name import TargetName
from kadenz.errors import BuildFailed
from kadenz.images.cpio import Entry, File, Node, archive
from kadenz.images.image import Image, build_image, locked, require_compiler
from kadenz.images.private_copy import private_copy
from kadenz.images.provenance import Tree, parts, sha256_of

_SOURCES = Path("kernels/linux/guest")  # init.c, load.c
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
    disturbance: Path,
    *,
    extra_bench: Sequence[Path] = (),
) -> GuestImage:
    """Builds and packs the suite for the target's board, unless up to date.

    `version` and `origin` name the kernel that boots it, `kernel` is its file, `disturbance` its
    module. Raises the errors of `build_image`.
    """
    image = build_image(target, "counter", extra_bench=extra_bench)
    programs = {name: _program(target, image.folder, name) for name in ("init", "load")}
    sources = [inventory.root() / _SOURCES / f"{name}.c" for name in programs]
    binaries = [file.resolve() for file in (kernel, disturbance)]
    digests = {file: sha256_of(file) for file in binaries}
    entry = msgspec.structs.replace(
        image.entry,
        kernel_source=origin,
        parts=[
            *parts(binaries, [Tree("kernel", file.parent) for file in binaries]),
            *parts(sources, [Tree("guest", inventory.root() / _SOURCES)]),
            *image.entry.parts,
        ],
    )
    folder = guest_folder(target, version)
    if extra_bench:  # like the image's own folder: next to the stock one
        folder = folder.with_name(f"{folder.name}-{image.folder.name.rpartition('-')[2]}")
    with locked(folder):
        suite = folder / "suite"
        _strip(require_compiler(target.board), image.elf.path, suite)
        packed = archive(
            {
                "dev": None,
                "dev/console": Node(5, 1),  # the kernel opens it for the output of init
                "proc": None,
                "sys": None,
                "tmp": None,
                "init": File(programs["init"].read_bytes(), 0o755),
                "load": File(programs["load"].read_bytes(), 0o755),
                "suite": File(suite.read_bytes(), 0o755),
                "disturbance.ko": File(disturbance.read_bytes()),
            }
        )
        initrd = folder / "initrd"
        if not initrd.is_file() or initrd.read_bytes() != packed:
            initrd.unlink(missing_ok=True)  # a new file, as linkers write: see private_copy
            initrd.write_bytes(packed)
        copy = private_copy(initrd, folder)
    others = digests | {copy: sha256_of(copy)}
    return GuestImage(image.elf, folder, entry, copy, others=others)


def plan_archive(plan: str) -> bytes:
    """The second archive of a guest: its plan."""
    entries: dict[str, Entry] = {"plan": File(plan.encode())}
    return archive(entries)


def _program(target: TargetName, folder: Path, name: str) -> Path:
    """Compiles another program of the guest, if its source has changed."""
    source = inventory.root() / _SOURCES / f"{name}.c"
    program, made_of = folder / name, folder / f"{name}.sha256"
    compiler = require_compiler(target.board)
    key = [sha256_of(source), _FLAGS, build_key.tools([compiler]), build_key.variables(os.environ)]
    wanted = json.dumps(key)
    with locked(folder):
        known = made_of.read_text() if made_of.is_file() else ""
        if known == f"{wanted}\n{sha256_of(program)}":
            return program
        _run([str(compiler), *_FLAGS, str(source), "-o", str(program)], target, f"{name}.c")
        made_of.write_text(f"{wanted}\n{sha256_of(program)}")
    return program


def _strip(compiler: Path, source: Path, to: Path) -> None:
    """The suite without symbols, which only enlarge the archive."""
    tool = f"{compiler}".removesuffix("gcc") + "strip"
    if shutil.which(tool) is None:
        to.write_bytes(source.read_bytes())
        return
    subprocess.run([tool, "--strip-all", "-o", str(to), str(source)], check=True)


def _run(command: list[str], target: TargetName, what: str) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise BuildFailed(
            f"{target}: {_SOURCES}/{what} does not compile",
            remedy="See the compiler's messages above",
            detail=answer.stderr.strip(),
        )
