# SPDX-License-Identifier: Apache-2.0
"""kernel.toml: a kernel port, the boards it runs on, and where the kernel's source comes from."""

from __future__ import annotations

from typing import Literal

import msgspec

from kadenz.config.model import FileModel


class VersionMark(FileModel, kw_only=True, frozen=True):
    """Where a tree of the kernel names its version."""

    file: str  # relative to the root of the tree
    pattern: str  # regular expression; group 1 is the version


class KernelSource(FileModel, kw_only=True, frozen=True):
    """A kernel that is built with the image. No kernel's source is kept in this repository."""

    crate: str  # the package that carries the kernel, on crates.io
    version: str  # exactly this one; kernels/<name>/source/Cargo.toml pins it too
    path: str  # the kernel's folder inside the crate
    # Where a tree given with --kernel-source may keep the kernel, relative to it; "." is the tree.
    roots: tuple[str, ...] = (".",)
    files: tuple[
        str, ...
    ] = ()  # must be there, relative to the root: told before the compiler does
    version_mark: VersionMark | None = None


class GuestKernels(FileModel, kw_only=True, frozen=True):
    """Kernels that boot in an emulated machine; `make guest-kernels` puts them into the cache."""

    flavour: Literal["rt", "plain"]
    # By board: versions there are, the default first.
    versions: dict[str, tuple[str, ...]]


class Kernel(FileModel, kw_only=True, frozen=True):
    """A kernel port: kernels/<name>/kernel.toml."""

    title: str  # "FreeRTOS"
    # The folder of kernels/ whose code calls this kernel, with what it lacks; empty: its own.
    port: str = ""
    guest: GuestKernels | None = None
    boards: list[str]  # folders under boards/
    source: KernelSource | None = None  # None: the kernel is already there (Linux)
    lacks: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # name of mechanism.h -> why this kernel has no such thing, a sentence

    def __post_init__(self) -> None:
        """The build reads `[lacks]` line by line and puts it into C: suite/lacks.cmake."""
        for name, sentence in self.lacks.items():
            if not sentence or set('"\\\n') & {*name, *sentence}:
                raise ValueError(
                    f"[lacks] {name}: one sentence on one line, without quotes and backslashes"
                )
