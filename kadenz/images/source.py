# SPDX-License-Identifier: Apache-2.0
"""Finds a kernel's source: its crate on crates.io, or a user's tree."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.kernel import Kernel, KernelSource
from kadenz.errors import BuildFailed, ToolMissing, UsageError


@dataclass(frozen=True)
class Source:
    """A kernel's source on this machine."""

    folder: Path  # the root of the kernel's tree
    title: str  # for the manifest: "freertos-next 0.12.0 (crates.io)" or "tree DIR, V10.2.0"


def kernel_source(name: str, kernel: Kernel, tree: Path | None) -> Source | None:
    """The source of kernel `name`: `tree` if given, else its pinned crate; None without either.

    Raises UsageError (a tree for a kernel that has no source, or an incomplete tree), ToolMissing
    (cargo), BuildFailed (the crate cannot be fetched).
    """
    if kernel.source is None:
        if tree is not None:
            raise UsageError(
                f"--kernel-source {tree}: {kernel.title} is not built with the image",
                remedy="Omit the option for this target",
            )
        return None
    if tree is not None:
        return _tree(kernel.title, kernel.source, tree)
    folder = _crate(inventory.root() / "kernels" / name / "source" / "Cargo.toml", kernel.source)
    missing = _missing(folder, kernel.source)
    if missing:
        raise BuildFailed(
            f"{kernel.source.crate} {kernel.source.version}: {missing} is not in {folder}",
            remedy="The download is damaged: remove that folder and retry",
        )
    return Source(folder, f"{kernel.source.crate} {kernel.source.version} (crates.io)")


def _tree(title: str, source: KernelSource, tree: Path) -> Source:
    if not tree.is_dir():
        raise UsageError(
            f"--kernel-source {tree}: no such folder", remedy=f"Pass a source tree of {title}"
        )
    roots = [(tree / root).resolve() for root in source.roots]
    lacking = {root: _missing(root, source) for root in roots}
    for root, missing in lacking.items():
        if not missing:
            return Source(root, f"tree {tree}, {_version(root, source)}")
    # The root that contains most of the kernel is the intended one.
    best = min(roots, key=lambda r: sum(not (r / f).is_file() for f in source.files))
    raise UsageError(
        f"--kernel-source {tree}: incomplete tree of {title}: {best / lacking[best]} is missing",
        remedy=f"Pass the folder that contains {', '.join(source.files[:3])} …",
    )


def _missing(root: Path, source: KernelSource) -> str:
    """The first required file that `root` lacks, or ""."""
    return next((f for f in source.files if not (root / f).is_file()), "")


def _version(root: Path, source: KernelSource) -> str:
    mark = source.version_mark
    if mark is None or not (root / mark.file).is_file():
        return "version unknown"
    found = re.search(mark.pattern, (root / mark.file).read_text(errors="replace"))
    return found.group(1) if found else "version unknown"


def _crate(pin: Path, source: KernelSource) -> Path:
    """The unpacked crate's kernel folder; the network is only needed the first time."""
    try:
        return _locate(pin, source, offline=True)
    except subprocess.CalledProcessError:
        pass
    except FileNotFoundError:
        raise _no_cargo(source) from None
    try:
        subprocess.run(
            ["cargo", "fetch", "--quiet", "--locked", "--manifest-path", str(pin)],
            check=True,
            capture_output=True,
            text=True,
        )
        return _locate(pin, source, offline=True)
    except subprocess.CalledProcessError as error:
        raise BuildFailed(
            f"{source.crate} {source.version} could not be fetched from crates.io",
            remedy="Check the network, or give the kernel's tree with --kernel-source DIR",
            detail=str(error.stderr).strip(),
        ) from None


def _locate(pin: Path, source: KernelSource, *, offline: bool) -> Path:
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    if offline:
        command.append("--offline")
    answer = subprocess.run(
        [*command, "--manifest-path", str(pin)], check=True, capture_output=True, text=True
    )
    for package in json.loads(answer.stdout)["packages"]:
        if (package["name"], package["version"]) == (source.crate, source.version):
            return Path(package["manifest_path"]).parent / source.path
    raise BuildFailed(
        f"{pin}: does not pin {source.crate} {source.version}, as kernel.toml requires",
        remedy="Use the same version in both files",
    )


def _no_cargo(source: KernelSource) -> ToolMissing:
    return ToolMissing(
        f"cargo is not installed (fetches {source.crate} from crates.io)",
        remedy="Run `make setup`, or give the kernel's tree with --kernel-source DIR",
    )
