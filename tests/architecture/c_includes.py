# SPDX-License-Identifier: Apache-2.0
"""What the C parts include, and which preprocessor conditions shared code holds."""

from __future__ import annotations

import graphlib
import re
from dataclasses import dataclass
from pathlib import Path

PARTS = ("suite", "kernels", "boards", "arch", "instruments")
SUFFIXES = {".c", ".h", ".S"}
# Of the language, not of a system: what a freestanding C11 implementation has (4, paragraph 6).
FREESTANDING = {
    "stdatomic.h",
    "stdalign.h",
    "stdarg.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdnoreturn.h",
    "float.h",
    "iso646.h",
    "limits.h",
}
# Headers that one part writes for another: who includes them, who offers them.
OFFERED = {
    "kdz_stamp.h": ("suite/include", ("instruments", "arch", "boards")),
    "kdz_core_hz.h": ("arch", ("boards",)),
    "kdz_board_marks.h": ("instruments", ("boards",)),
    "counter_stamp.h": ("instruments", ("instruments",)),
    "model.h": ("instruments/scope", ("instruments",)),
    "stopwatch.h": ("instruments/calls", ("instruments",)),
}
_INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.MULTILINE)
_CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class Include:
    """One include of one file; `folder` is the part that holds the file."""

    file: str
    folder: str
    name: str


def folder_of(path: Path) -> str:
    """The part a file belongs to: suite/core, kernels/freertos, arch/riscv …"""
    return "/".join(path.parts[:2])


def includes(root: Path) -> list[Include]:
    """Every include below the C parts of a checkout."""
    directives = []
    for part in PARTS:
        for file in sorted((root / part).rglob("*")):
            if file.suffix in SUFFIXES:
                path = file.relative_to(root)
                directives += [
                    Include(str(path), folder_of(path), name)
                    for name in _INCLUDE.findall(file.read_text())
                ]
    return directives


def circles(root: Path, folder: str, offered: dict[str, str]) -> list[str]:
    """A circle of units of `folder`, each a file's stem, or nothing.

    `offered` names the unit behind a header outside the folder.
    """
    below: dict[str, set[str]] = {}
    files = [file for file in sorted((root / folder).iterdir()) if file.suffix in SUFFIXES]
    stems = {file.stem for file in files}
    for file in files:
        for name in _INCLUDE.findall(file.read_text()):
            unit = offered.get(name, Path(name).stem if "/" not in name else "")
            if unit in stems and unit != file.stem:
                below.setdefault(file.stem, set()).add(unit)
    try:
        graphlib.TopologicalSorter(below).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def owners(root: Path) -> dict[str, set[str]]:
    """Parts that hold a header of a name; those of suite/include are named "kadenz/…"."""
    parts: dict[str, set[str]] = {}
    for part in PARTS:
        for file in (root / part).rglob("*.h"):
            path = file.relative_to(root)
            if path.parts[:2] == ("suite", "include"):
                parts.setdefault("/".join(path.parts[2:]), set()).add("suite/include")
            else:
                parts.setdefault(path.name, set()).add(folder_of(path))
    return parts


def forbidden(root: Path) -> list[str]:
    """Includes that no arrow allows, as "file includes name"."""
    known = owners(root)
    return [
        f"{include.file} includes {include.name}"
        for include in includes(root)
        if not _allowed(include, known.get(include.name, set()))
    ]


def _allowed(include: Include, holders: set[str]) -> bool:
    kind = include.folder.partition("/")[0]
    if include.name in OFFERED:
        reader, writers = OFFERED[include.name]
        return include.folder.startswith(reader) or kind in writers
    if not holders:
        # Not ours. The suite and arch/ are for every system, and see the language only; the
        # suite's tests run on this machine, and their framework with them.
        free = include.folder in {"suite/core", "suite/bench", "suite/include"} or kind == "arch"
        return include.name in FREESTANDING if free else True
    if include.folder in holders or "suite/include" in holders:
        return True
    if include.folder == "suite/tests":
        return holders <= {"suite/core"}
    # A chip, a kernel's port to an instruction set and an architecture stand on arch/, which has
    # what equal cores share; nothing else is shared.
    standing = kind in {"boards", "kernels", "arch"}
    return standing and all(part.startswith("arch/") for part in holders)


def conditions(root: Path, folders: tuple[str, ...]) -> list[str]:
    """Preprocessor conditions in shared code other than include guards and limits of a build.

    A limit is `#ifndef KDZ_NAME`, followed by the `#define` of its default or by an `#error`.
    """
    lines = []
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            text = file.read_text()
            for match in _CONDITION.finditer(text):
                rest = text[match.end() :].lstrip("\n")
                name = re.fullmatch(r"\s*#\s*ifndef\s+((?:KDZ|KADENZ)_\w+)", match.group(0))
                if name is None or not re.match(
                    rf"\s*#\s*(define\s+{name.group(1)}\b|error)", rest
                ):
                    lines.append(f"{file.relative_to(root)}: {match.group(0).strip()}")
    return lines
