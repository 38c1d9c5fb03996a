# SPDX-License-Identifier: Apache-2.0
"""A process and those that it started, from proc(5)."""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")


def family_of(pid: int) -> list[int]:
    """The process, its children, and theirs, as of now; one whose parent has ended is not among
    them."""
    children: dict[int, list[int]] = {}
    for folder in _PROC.glob("[0-9]*"):
        parent = int(_fields(int(folder.name))[1])
        children.setdefault(parent, []).append(int(folder.name))
    family = [pid]
    for member in family:
        family += children.get(member, [])
    return family


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    return _fields(pid)[0] not in "XZ"


def _fields(pid: int) -> tuple[str, str]:
    """State and parent; those of a dead one if it is gone."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return "X", "0"
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, parent
