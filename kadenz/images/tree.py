# SPDX-License-Identifier: Apache-2.0
"""A kernel from a folder on this machine: its sources, or a CMake project that builds it."""

from __future__ import annotations

import re
from pathlib import Path

from kadenz.config.kernel import KernelSource
from kadenz.errors import UsageError


def tree_root(title: str, source: KernelSource, tree: Path, place: str) -> Path:
    """The root of the kernel in `tree`, which is checked before anything is compiled.

    `place` says where the user named it. Raises UsageError for a folder that is not this kernel.
    """
    _require_folder(title, tree, place)
    roots = [(tree / root).resolve() for root in source.roots]
    lacking = {root: missing_file(root, source) for root in roots}
    for root, missing in lacking.items():
        if not missing:
            return root
    # The root that contains most of the kernel is the intended one.
    best = min(roots, key=lambda r: sum(not (r / f).is_file() for f in source.files))
    version = f", of {title} {source.since} or later" if source.since else ""
    raise UsageError(
        f"{place}: incomplete tree of {title}: {best / lacking[best]} is missing",
        remedy=f"Pass the folder that contains {', '.join(source.files[:3])} …{version}",
    )


def cmake_root(title: str, source: KernelSource, folder: Path, place: str) -> Path:
    """The folder of a CMake project. Whether it has the target shows when CMake reads it."""
    _require_folder(title, folder, place)
    if not (folder / "CMakeLists.txt").is_file():
        raise UsageError(
            f"{place}: {folder / 'CMakeLists.txt'} is missing",
            remedy=f"Pass a folder whose CMakeLists.txt builds {title} as the target "
            f"`{source.target}`",
        )
    return folder.resolve()


def missing_file(root: Path, source: KernelSource) -> str:
    """The first required file that `root` lacks, or ""."""
    return next((f for f in source.files if _file(root, f) is None), "")


def version_in(root: Path, source: KernelSource) -> str:
    """The version that the tree states, or ""."""
    mark = source.version_mark
    file = _file(root, mark.file) if mark is not None else None
    if mark is None or file is None:
        return ""
    match = re.search(mark.pattern, file.read_text(errors="replace"))
    return ".".join(match.groups()) if match else ""


def runs_several_cores(root: Path, source: KernelSource) -> bool:
    """Whether the tree has the code for boards with several cores; true if none is asked for."""
    mark = source.several_cores
    file = _file(root, mark.file) if mark is not None else None
    return mark is None or (file is not None and mark.text in file.read_text(errors="replace"))


def _file(root: Path, pattern: str) -> Path | None:
    """The first file of that name; `*` stands for a folder whose name does not matter."""
    return next((file for file in sorted(root.glob(pattern)) if file.is_file()), None)


def _require_folder(title: str, folder: Path, place: str) -> None:
    if not folder.is_dir():
        raise UsageError(f"{place}: no such folder", remedy=f"Pass a source tree of {title}")
