# SPDX-License-Identifier: Apache-2.0
"""Candidates for a control group that limits memory: version 1 or 2, at the top or delegated.

The supervisor creates, tests and removes the group.
"""

from __future__ import annotations

from pathlib import Path

PREFIX = "kadenz-load-"


def memory_groups(
    name: str, limit_bytes: int, *, root: Path = Path("/"), process: str = "self"
) -> list[dict[str, str]]:
    """Candidates for `name` in the order to try: folder, file of the limit, and its text.

    Version 1: below this process's own group. Version 2: below the nearest writable ancestor that
    delegates `memory`; a group with its own processes cannot.
    """
    own = _own_groups(root, process)
    found = []
    for point, kind, options in _mounts(root, process):
        if kind == "cgroup" and "memory" in options:
            folder = point / own.get("memory", "/").lstrip("/")
            found.append((folder, "memory.limit_in_bytes"))
        elif kind == "cgroup2":
            folder = point / own.get("", "/").lstrip("/")
            for above in (folder, *folder.parents):
                if not above.is_relative_to(point):
                    break
                if "memory" in _text(above / "cgroup.subtree_control").split():
                    found.append((above, "memory.max"))
    return [
        {"folder": str(folder / name), "limit_file": file, "limit": str(limit_bytes)}
        for folder, file in found
        if folder.is_dir()
    ]


def _own_groups(root: Path, process: str) -> dict[str, str]:
    """Control groups of this process by controller; "" is version 2."""
    found = {}
    for line in _text(root / f"proc/{process}/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _mounts(root: Path, process: str) -> list[tuple[Path, str, list[str]]]:
    """Control group file systems: mount point, "cgroup" or "cgroup2", options."""
    found = []
    for line in _text(root / f"proc/{process}/mountinfo").splitlines():
        words = line.split()
        after = words.index("-")
        kind = words[after + 1]
        if kind in ("cgroup", "cgroup2"):
            point = root / words[4].lstrip("/")
            found.append((point, kind, words[after + 3].split(",")))
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
