# SPDX-License-Identifier: Apache-2.0
"""kernel.toml: a kernel port, the boards it runs on, and where the kernel's source comes from."""

from __future__ import annotations

from typing import Literal

import msgspec

from kadenz.config.model import FileModel


class VersionMark(FileModel, kw_only=True, frozen=True):
    """Where to find the version in a source tree of the kernel."""

    file: str  # relative to the root of the tree
    pattern: str  # regular expression; group 1 is the version


class KernelSource(FileModel, kw_only=True, frozen=True):
    """A kernel that is built into the image. This repository contains no kernel sources."""

    crate: str  # name of the package with the kernel on crates.io
    version: str  # exact version; kernels/<name>/source/Cargo.toml pins the same
    path: str  # the kernel's folder inside the crate
    # Possible folders of the kernel in a tree given with --kernel-source; "." is the tree itself.
    roots: tuple[str, ...] = (".",)
    files: tuple[str, ...] = ()  # required files, relative to the root; checked before compiling
    version_mark: VersionMark | None = None


class GuestKernels(FileModel, kw_only=True, frozen=True):
    """Kernels that boot in an emulated machine, from the cache of `make guest-kernels`."""

    flavour: Literal["rt", "plain"]
    # Available versions by board; the first one is the default.
    versions: dict[str, tuple[str, ...]]


class Kernel(FileModel, kw_only=True, frozen=True):
    """A kernel port: kernels/<name>/kernel.toml."""

    title: str  # "FreeRTOS"
    # The folder of kernels/ with the port of this kernel and its `lacks`; empty: its own.
    port: str = ""
    guest: GuestKernels | None = None
    boards: list[str]  # folders under boards/
    source: KernelSource | None = None  # None: the kernel is already running (Linux)
    lacks: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # name of mechanism.h -> one sentence: why this kernel lacks it

    def __post_init__(self) -> None:
        """The build reads `[lacks]` line by line and compiles it in: suite/lacks.cmake."""
        for name, sentence in self.lacks.items():
            if not sentence or set('"\\\n') & {*name, *sentence}:
                raise ValueError(
                    f"[lacks] {name}: one sentence on one line, without quotes and backslashes"
                )
