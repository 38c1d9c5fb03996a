# SPDX-License-Identifier: Apache-2.0
"""A process and those that it started, from proc(5)."""

from __future__ import annotations

from kadenz.machine_files import MachineFiles


def family_of(pid: int, files: MachineFiles | None = None) -> list[int]:
    """The process, its children, and theirs, as of now; one whose parent has ended is not among
    them."""
    files = files or MachineFiles()
    children: dict[int, list[int]] = {}
    for path in files.glob("/proc/[0-9]*/stat"):
        number = int(path.split("/")[2])
        children.setdefault(int(_fields(files, number)[1]), []).append(number)
    family = [pid]
    for member in family:
        family += children.get(member, [])
    return family


def is_alive(pid: int, files: MachineFiles | None = None) -> bool:
    """Whether a process is there and has not ended."""
    return _fields(files or MachineFiles(), pid)[0] not in "XZ"


def _fields(files: MachineFiles, pid: int) -> list[str]:
    """State and parent; those of a dead one if it is gone."""
    return files.text(f"/proc/{pid}/stat").rpartition(")")[2].split()[:2] or ["X", "0"]
