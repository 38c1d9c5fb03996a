# SPDX-License-Identifier: Apache-2.0
"""Cargo's settings for a program of fieldbus/ that runs in a guest of another instruction set.

The program is static: Debian's libraries of another architecture are those of a compiler, and a
guest needs none of them then.
"""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kadenz import tools
from kadenz.config.board import Board
from kadenz.config.manifest import PartEntry
from kadenz.images.provenance import Tree, parts

_KDL = "liborocos-kdl.a"
_STATIC = "-Ctarget-feature=+crt-static"
_LIBRARIES = ("libc.a", "libm.a", "libstdc++.a", "libgcc.a", "libgcc_eh.a")  # of the compiler
_BETWEEN = "\x1f"  # cargo: flags in CARGO_ENCODED_RUSTFLAGS


@dataclass(frozen=True)
class Cross:
    """Another instruction set, by its own name and by Rust's."""

    isa: str  # "aarch64"
    target: str  # "aarch64-unknown-linux-gnu"

    @property
    def compiler(self) -> str:
        """The C++ compiler, which also links."""
        return f"{self.isa}-linux-gnu-g++"

    def arguments(self) -> list[str]:
        """Cargo's arguments that select the instruction set."""
        return ["--target", self.target]

    def variables(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment of cargo: `environ`, with the compilers and KDL of this instruction set.

        Raises ToolMissing if one of them is not here.
        """
        tools.require(self.compiler)
        tools.require_rust_target(self.target)
        name = self.target.replace("-", "_")
        flags = environ.get("CARGO_ENCODED_RUSTFLAGS", "").split(_BETWEEN)
        flags = [flag for flag in flags if flag] or environ.get("RUSTFLAGS", "").split()
        return {
            **environ,
            "CARGO_ENCODED_RUSTFLAGS": _BETWEEN.join([*flags, _STATIC]),
            f"CARGO_TARGET_{name.upper()}_LINKER": self.compiler,
            f"CXX_{name}": self.compiler,
            f"AR_{name}": self.compiler.replace("g++", "ar"),
            f"PKG_CONFIG_PATH_{name}": str(tools.kdl_dir(self.isa)),
            f"PKG_CONFIG_ALLOW_CROSS_{name}": "1",
            "OROCOS_KDL_STATIC": "1",
        }

    def version(self) -> str:
        """The first line of what the compiler says of itself."""
        return self._ask("--version").partition("\n")[0]

    def parts(self) -> list[PartEntry]:
        """KDL, and the libraries of the compiler: all of them are in the program."""
        kdl = tools.kdl_dir(self.isa)
        entries = parts([(kdl / _KDL).resolve()], [Tree("kdl", kdl)])
        version = (kdl / "origin").read_text().strip()
        files = [Path(self._ask(f"-print-file-name={name}")).resolve() for name in _LIBRARIES]
        return [
            *(msgspec.structs.replace(entry, version=version) for entry in entries),
            *parts(files, [Tree("libraries", file.parent) for file in files]),
        ]

    def sources(self, read: Iterable[Path]) -> set[Path]:
        """The files that cargo read, without those of `parts`."""
        return {*read} - {(tools.kdl_dir(self.isa) / _KDL).resolve()}

    def _ask(self, question: str) -> str:
        command = [str(tools.require(self.compiler)), question]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        return answer.stdout.strip()


def cross(board: Board, tier: str) -> Cross | None:
    """How a program of `tier` is compiled for a board; None: by this machine's own compilers."""
    guest = board.tier.guest
    program = guest.program if tier == "guest" and guest is not None else None
    if program is None or not program.target or board.arch == platform.machine():
        return None
    return Cross(board.arch, program.target)
