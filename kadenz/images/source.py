# SPDX-License-Identifier: Apache-2.0
"""Finds a kernel's source: its crate on crates.io, a tree, or a folder that CMake builds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.kernel import Kernel, KernelSource
from kadenz.errors import BuildFailed, UsageError
from kadenz.images.crate import crate_folder
from kadenz.images.tree import cmake_root, missing_file, runs_several_cores, tree_root, version_in


@dataclass(frozen=True)
class Source:
    """A kernel's source on this machine."""

    folder: Path  # the root of the kernel's tree, or of the CMake project that builds it
    title: str  # for the manifest: "freertos-next 0.12.0 (crates.io)" or "tree DIR, V10.2.0"
    place: str = ""  # who named the folder, for errors: "--kernel-source DIR"
    target: str = ""  # the library that the CMake project builds; "": the port compiles the tree
    include: tuple[Path, ...] = ()
    cache: Mapping[str, str] = field(default_factory=dict)


def kernel_source(name: str, kernel: Kernel, tree: Path | None, *, cores: int = 1) -> Source | None:
    """The source of kernel `name`: `tree` if given, else the one that its kernel.toml names.

    `cores` are those of the board. None if the kernel is not built with the image. Raises
    UsageError (a tree for a kernel that has no source, no tree for one that needs it, a tree that
    is not that kernel or runs one core on a board with several, or a kernel whose own build makes
    the image), ToolMissing (cargo), BuildFailed (the crate cannot be fetched).
    """
    source = kernel.source
    if kernel.own_build:
        raise UsageError(kernel.builds_itself, remedy=kernel.take_the_suite(name))
    if source is None:
        if tree is not None:
            raise UsageError(
                f"--kernel-source {tree}: {kernel.title} is not built with the image",
                remedy="Omit the option for this target",
            )
        return None
    folder = inventory.kernel_folder(name)
    if tree is not None:
        tree_source = _of_folder(kernel, source, tree, f"--kernel-source {tree}")
        _require_cores(kernel, source, tree_source, cores)
        return tree_source
    if source.left_to_user:
        raise UsageError(kernel.needs_tree, remedy=kernel.name_the_tree(name))
    if source.crate is None:
        place = f"{folder / 'kernel.toml'}: [source] {source.folder}"
        return _of_folder(kernel, source, folder / source.folder, place)
    root = crate_folder(folder / "source" / "Cargo.toml", source)
    missing = missing_file(root, source)
    if missing:
        raise BuildFailed(
            f"{source.crate} {source.version}: {missing} is not in {root}",
            remedy="The download is damaged: remove that folder and retry",
        )
    return Source(root, f"{source.crate} {source.version} (crates.io)")


def _require_cores(kernel: Kernel, source: KernelSource, tree_source: Source, cores: int) -> None:
    """UsageError for a tree that runs one core on a board with several."""
    mark = source.several_cores
    if cores > 1 and mark is not None and not runs_several_cores(tree_source.folder, source):
        version = version_in(tree_source.folder, source)
        raise UsageError(
            f"--kernel-source {tree_source.folder}: {kernel.title}{version and ' '}{version} runs "
            f"one core, and the board has {cores}: {mark.text} is not in {mark.file}",
            remedy=f"Take {mark.since} or later, or a board with one core",
        )


def _of_folder(kernel: Kernel, source: KernelSource, folder: Path, place: str) -> Source:
    if source.cmake is None:
        root = tree_root(kernel.title, source, folder, place)
        return Source(root, f"tree {folder}, {version_in(root, source) or 'version unknown'}")
    root = cmake_root(kernel.title, source, folder, place)
    version = version_in(root, source)
    return Source(
        root,
        f"cmake {folder}, target {source.target}" + (f", {version}" if version else ""),
        place=place,
        target=source.target,
        include=tuple((root / include).resolve() for include in source.include),
        cache=source.cache,
    )
