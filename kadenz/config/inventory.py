# SPDX-License-Identifier: Apache-2.0
"""Finds the checkout, and the boards, kernels, campaigns and tunings in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from kadenz.config.board import Board
from kadenz.config.campaign import Campaign
from kadenz.config.kernel import Kernel
from kadenz.config.toml import did_you_mean, read_toml
from kadenz.config.tuning import Tuning, problem
from kadenz.errors import ConfigError, UsageError

# Files that identify a checkout.
_MARK = Path("suite/include/kadenz/kernel.h")
# Folders that are templates for new parts.
_NO_PARTS = {"template", "conformance"}


def root() -> Path:
    """The checkout: $KADENZ_ROOT, else that of the installation, else one above this folder."""
    named = os.environ.get("KADENZ_ROOT")
    if named:
        if not (Path(named) / _MARK).is_file():
            raise ConfigError(
                f"KADENZ_ROOT={named}: not a kadenz checkout",
                remedy="Unset it, or name the folder that holds suite/",
            )
        return Path(named).resolve()
    here = Path(__file__).resolve().parents[2]
    for folder in (here, Path.cwd(), *Path.cwd().parents):
        if (folder / _MARK).is_file():
            return folder
    raise ConfigError(
        "no kadenz checkout found: the suite's source is needed to build targets",
        remedy="Run inside the checkout, or set KADENZ_ROOT to it",
    )


def boards() -> dict[str, Board]:
    """Every board by its folder's name."""
    return {n: read_toml(f, Board) for n, f in _parts("boards", "board.toml")}


def kernels() -> dict[str, Kernel]:
    """Every kernel by its folder's name."""
    return {n: kernel(n) for n, _ in _parts("kernels", "kernel.toml")}


def board(name: str) -> Board:
    """One board. Raises UsageError with the nearest name if there is none."""
    return read_toml(_part("boards", "board.toml", name, "board"), Board)


def kernel(name: str) -> Kernel:
    """One kernel. Raises UsageError with the nearest name if there is none.

    A kernel also lacks everything that its port lacks.
    """
    own = read_toml(_part("kernels", "kernel.toml", name, "kernel"), Kernel)
    if not own.port:
        return own
    port = read_toml(_part("kernels", "kernel.toml", own.port, "kernel"), Kernel)
    return msgspec.structs.replace(own, lacks={**port.lacks, **own.lacks})


def kernel_folder(name: str) -> Path:
    """The folder of a kernel's kernel.toml. Raises UsageError as `kernel` does."""
    return _part("kernels", "kernel.toml", name, "kernel").parent


def toolchain(board: str, arch: str) -> Path | None:
    """CMake's tool chain file of a board or else its arch; None: this machine's compiler."""
    for folder in (root() / "boards" / board, root() / "arch" / arch):
        if (folder / "toolchain.cmake").is_file():
            return folder / "toolchain.cmake"
    return None


def compiler(board: str, arch: str) -> str:
    """The C compiler named in this file: "riscv64-unknown-elf-gcc"."""
    file = toolchain(board, arch)
    found = re.search(r"set\(CMAKE_C_COMPILER\s+(\S+?)\s*\)", file.read_text() if file else "")
    return found.group(1) if found else "gcc"


def campaign_files() -> dict[str, Path]:
    """Campaign files of the checkout by name, without the suffix."""
    return {f.stem: f for f in sorted((root() / "campaigns").glob("*.toml"))}


def read_campaign(file: Path) -> Campaign:
    """One campaign file, checked against the known boards and kernels."""
    campaign = read_toml(file, Campaign)
    known = list(kernels())
    for index, benchmark in enumerate(campaign.benchmark):
        for name in benchmark.kernels:
            if name not in known:
                raise ConfigError(
                    f"{file}: `benchmark[{index}].kernels`: no kernel `{name}`",
                    remedy=did_you_mean(name, known),
                )
    return campaign


def tuning_files() -> dict[str, Path]:
    """Tuning profiles by name: those of the checkout, replaced by a user's of the same name."""
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "kadenz" / "tunings"
    files = [*sorted((root() / "tunings").glob("*.toml")), *sorted(own.glob("*.toml"))]
    return {file.stem: file for file in files}


def read_tuning(name: str) -> tuple[Tuning, Path]:
    """A profile by name or path, merged with the profile it is based on; and its file.

    Raises UsageError for an unknown name, ConfigError for a wrong file or circular profiles.
    """
    files = tuning_files()
    file = Path(name) if name.endswith(".toml") else files.get(name)
    if file is None:
        raise UsageError(f"no tuning profile `{name}`", remedy=did_you_mean(name, list(files)))
    tuning = _tuning(file)
    below, seen = tuning.based_on, [file]
    while below:
        base = files.get(below)
        if base is None or base in seen:
            what = "is based on itself" if base in seen else f"`based_on`: no profile `{below}`"
            raise ConfigError(f"{file}: {what}", remedy=did_you_mean(below, list(files)))
        seen.append(base)
        layer = _tuning(base)
        tuning, below = tuning.over(layer), layer.based_on
    return tuning, file


def _tuning(file: Path) -> Tuning:
    tuning = read_toml(file, Tuning)
    wrong = problem(tuning)
    if wrong:
        raise ConfigError(f"{file}: {wrong}", remedy="See docs/how-to/tune-a-machine.md")
    return tuning


def _parts(folder: str, file: str) -> Iterable[tuple[str, Path]]:
    for path in sorted((root() / folder).glob(f"*/{file}")):
        if path.parent.name not in _NO_PARTS:
            yield path.parent.name, path


def _part(folder: str, file: str, name: str, word: str) -> Path:
    found = dict(_parts(folder, file))
    if name not in found:
        raise UsageError(f"no {word} `{name}`", remedy=did_you_mean(name, list(found)))
    return found[name]
