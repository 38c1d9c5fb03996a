# SPDX-License-Identifier: Apache-2.0
"""Leftovers of a load on this machine, and a disk for it to work on."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from kadenz.load.counters import device_of


def on_a_disk(folder: Path) -> Path:
    """The folder itself, or one in the checkout if temporary files are in memory."""
    if device_of(folder)[1] not in ("tmpfs", "ramfs"):
        return folder
    other = Path(__file__).parents[2] / "build" / "tests" / f"{folder.name}-{os.getpid()}"
    other.mkdir(parents=True, exist_ok=True)
    return other


def left_behind(scratch: Path, owner: int | None = None) -> list[str]:
    """Processes that work below `scratch`, files there, control groups of the owner's loads."""
    mine = f"-{owner or os.getpid()}-"
    remains = [f"process {pid}" for pid in working_in(scratch)]
    # os.walk skips files that vanish during the walk; they were not left behind.
    for folder, folders, files in os.walk(scratch):
        remains += [f"{folder}/{n}" for n in folders + files if n.startswith(".kadenz-load-")]
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        remains += [
            f"{folder}/{name}" for name in names if name.startswith("kadenz-load-") and mine in name
        ]
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return remains + [f"mount {line}" for line in mounts if str(scratch) in line]


def working_in(scratch: Path) -> list[int]:
    """Processes whose working directory is a load's scratch folder, even a removed one."""
    pids = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            where = str(link.readlink())
        except OSError:
            continue
        if where.startswith(f"{scratch}/") and "/.kadenz-load-" in where:
            pids.append(int(link.parent.name))
    return pids


def names_in(scratch: Path) -> set[str]:
    """Names of those processes, except those that end meanwhile."""
    names = set()
    for pid in working_in(scratch):
        with suppress(OSError):
            names.add(Path(f"/proc/{pid}/comm").read_text().strip())
    return names
