# SPDX-License-Identifier: Apache-2.0
"""A program of the workspace fieldbus/, compiled by cargo."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.manifest import BuildEntry
from kadenz.elf import Elf
from kadenz.errors import BuildFailed, ToolMissing
from kadenz.images.cross import Cross
from kadenz.images.provenance import Tree, parts, read_by_cargo


def build_program(crate: str, cross: Cross | None = None) -> tuple[Elf, BuildEntry]:
    """The release build of a crate's program, for this machine or for another instruction set.

    Raises BuildFailed, ToolMissing.
    """
    workspace = inventory.root() / "fieldbus"
    folder = inventory.cargo_folder()
    # The workspace selects the features of the dependencies: all programs share one compilation.
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--workspace", "--bin", crate]
    command += ["--target-dir", str(folder), *(cross.arguments() if cross else ())]
    try:
        answer = subprocess.run(
            command,
            cwd=workspace,  # where cargo finds its settings
            env=cross.variables(os.environ) if cross else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        version = subprocess.run(
            ["rustc", "--version"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise ToolMissing(
            f"cargo is not installed (compiles {crate})", remedy="Run `kadenz setup`"
        ) from None
    if answer.returncode:
        raise BuildFailed(
            f"{crate} does not compile",
            remedy="See the compiler's messages above",
            detail="\n".join(answer.stdout.rstrip().splitlines()[-60:]),
        )
    elf = Elf(folder / (cross.target if cross else "") / "release" / crate)
    read = read_by_cargo(elf.path)
    versions = [version.stdout.strip(), *([cross.version()] if cross else ())]
    entry = BuildEntry(
        compiler="rustc",
        compiler_version=", ".join(versions),
        flags=" ".join(["--release", *(cross.arguments() if cross else ())]),
        elf_sha256=elf.sha256,
        text_bytes=elf.sizes.text,
        data_bytes=elf.sizes.data,
        bss_bytes=elf.sizes.bss,
        kernel_source="",
        parts=[
            *parts(
                {*(cross.sources(read) if cross else read), workspace / "Cargo.lock"},
                [*_crates(workspace), Tree("fieldbus", workspace)],
            ),
            *(cross.parts() if cross else ()),
        ],
    )
    return elf, entry


def _crates(workspace: Path) -> list[Tree]:
    """The crates of the workspace, each a part; Cargo.lock pins their dependencies."""
    return [Tree(file.parent.name, file.parent) for file in sorted(workspace.glob("*/Cargo.toml"))]
