# SPDX-License-Identifier: Apache-2.0
"""A kernel from its pinned package on crates.io."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from kadenz.config.kernel import KernelSource
from kadenz.errors import BuildFailed, ToolMissing


def crate_folder(pin: Path, source: KernelSource) -> Path:
    """The unpacked crate's kernel folder; the network is only needed the first time.

    `pin` is the Cargo.toml that pins it. Raises ToolMissing (cargo), BuildFailed.
    """
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
        remedy="Run `kadenz setup`, or give the kernel's tree with --kernel-source DIR",
    )
