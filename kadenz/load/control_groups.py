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
    groups = _own_groups(root, process)
    candidates = []
    for point, kind, options in _mounts(root, process):
        if kind == "cgroup" and "memory" in options:
            folder = point / groups.get("memory", "/").lstrip("/")
            candidates.append((folder, "memory.limit_in_bytes"))
        elif kind == "cgroup2":
            folder = point / groups.get("", "/").lstrip("/")
            for above in (folder, *folder.parents):
                if not above.is_relative_to(point):
                    break
                if "memory" in _text(above / "cgroup.subtree_control").split():
                    candidates.append((above, "memory.max"))
    return [
        {"folder": str(folder / name), "limit_file": file, "limit": str(limit_bytes)}
        for folder, file in candidates
        if folder.is_dir()
    ]


def _own_groups(root: Path, process: str) -> dict[str, str]:
    """Control groups of this process by controller; "" is version 2."""
    groups = {}
    for line in _text(root / f"proc/{process}/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _mounts(root: Path, process: str) -> list[tuple[Path, str, list[str]]]:
    """Control group file systems: mount point, "cgroup" or "cgroup2", options."""
    mounts = []
    for line in _text(root / f"proc/{process}/mountinfo").splitlines():
        fields = line.split()
        after = fields.index("-")
        kind = fields[after + 1]
        if kind in ("cgroup", "cgroup2"):
            point = root / fields[4].lstrip("/")
            mounts.append((point, kind, fields[after + 3].split(",")))
    return mounts


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
