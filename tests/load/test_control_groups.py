# SPDX-License-Identifier: Apache-2.0
"""Candidates for limiting memory: control groups version 1 and 2, at the top or delegated."""

from __future__ import annotations

from pathlib import Path

from kadenz.load.control_groups import memory_groups


def machine(root: Path, groups: str, mounts: str) -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    (root / "proc/self/mountinfo").write_text(mounts)


def folders(root: Path) -> list[tuple[str, str]]:
    groups = memory_groups("kadenz-load-1", 4096, root=root)
    assert all(group["limit"] == "4096" for group in groups)
    return [(group["folder"].removeprefix(str(root)), group["limit_file"]) for group in groups]


def test_version_1_limits_memory_below_the_own_group(tmp_path: Path) -> None:
    mounts = (
        "30 1 0:20 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "31 1 0:21 / /sys/fs/cgroup/memory rw shared:1 - cgroup cgroup rw,memory\n"
    )
    machine(tmp_path, "9:cpu:/\n4:memory:/user/one\n0::/\n", mounts)
    (tmp_path / "sys/fs/cgroup/memory/user/one").mkdir(parents=True)
    assert folders(tmp_path) == [
        ("/sys/fs/cgroup/memory/user/one/kadenz-load-1", "memory.limit_in_bytes")
    ]


def test_version_2_limits_memory_where_it_is_delegated(tmp_path: Path) -> None:
    machine(
        tmp_path,
        "0::/user.slice/session.scope\n",
        "30 1 0:20 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    )
    scope = tmp_path / "sys/fs/cgroup/user.slice/session.scope"
    scope.mkdir(parents=True)
    (scope / "cgroup.subtree_control").write_text("\n")  # it has its own processes
    (scope.parent / "cgroup.subtree_control").write_text("memory pids\n")
    (scope.parent.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert folders(tmp_path) == [
        ("/sys/fs/cgroup/user.slice/kadenz-load-1", "memory.max"),
        ("/sys/fs/cgroup/kadenz-load-1", "memory.max"),
    ]


def test_without_control_groups_the_load_limits_itself(tmp_path: Path) -> None:
    machine(tmp_path, "", "30 1 0:20 / / rw - ext4 /dev/vda rw\n")
    assert folders(tmp_path) == []
    assert memory_groups("kadenz-load-1", 1, root=tmp_path / "nothing") == []
