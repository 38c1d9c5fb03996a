# SPDX-License-Identifier: Apache-2.0
"""Processes that another one started, and their threads, from /proc."""

from __future__ import annotations

import contextlib
from pathlib import Path


def children(pid: int) -> list[int]:
    """The children of all threads of a process. A thread may end meanwhile: it has none."""
    pids: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pids += map(int, (task / "children").read_text().split())
    return pids


def thread_status(pid: int, name: str, key: str) -> list[str]:
    """A field of proc(5)'s status of each thread of a process that has this name."""
    fields = []
    for task in Path(f"/proc/{pid}/task").glob("*/status"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            lines = dict(line.split(":\t", 1) for line in task.read_text().splitlines())
            if lines["Name"] == name:
                fields.append(lines[key].strip())
    return fields


def slept(pid: int, name: str) -> int:
    """How often each thread of a process with this name has slept at least; 0 without one."""
    return min(map(int, thread_status(pid, name, "voluntary_ctxt_switches")), default=0)
