# SPDX-License-Identifier: Apache-2.0
"""Keeps user tasks off processors by cpuset, in either version of control groups.

Existing groups are narrowed; processes outside of any group move to a group of kadenz. The top
group keeps all processors: measured programs start there.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from kadenz.config.processors import parse_cpus, show_cpus
from kadenz.tuning.change import Change, Gone, ThreadMask, current, group_of
from kadenz.tuning.machine import Machine

OUR_GROUP = "kadenz-housekeeping"


@dataclass(frozen=True)
class Hierarchy:
    """The mount point and version of the cpuset controller."""

    version: int
    mount: str


def find(machine: Machine) -> Hierarchy | None:
    """The hierarchy with the cpuset controller, None if it is not mounted."""
    for line in (machine.read("/proc/self/mounts") or "").splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        mount, kind, options = fields[1], fields[2], fields[3].split(",")
        if kind == "cgroup" and "cpuset" in options:
            return Hierarchy(1, mount)
        offered = (machine.read(f"{mount}/cgroup.controllers") or "").split()
        if kind == "cgroup2" and "cpuset" in offered:
            return Hierarchy(2, mount)
    return None


def confine(
    machine: Machine, key: str, realtime: frozenset[int], housekeeping: frozenset[int]
) -> tuple[list[Change], str]:
    """The changes that keep user tasks off `realtime`, or no changes and the reason."""
    hierarchy = find(machine)
    if hierarchy is None:
        return [], "no cpuset controller is mounted (cgroup version 1 or 2)"
    changes: list[Change] = []
    if hierarchy.version == 2:
        control = f"{hierarchy.mount}/cgroup.subtree_control"
        was = "+cpuset" if "cpuset" in (machine.read(control) or "").split() else "-cpuset"
        changes.append(Change(key=key, kind="controller", path=control, was=was, value="+cpuset"))
    # In version 1 a group is limited to the processors of its parent: narrow the deepest first.
    depths = ("*/*/*/*", "*/*/*", "*/*", "*") if hierarchy.version == 1 else ("*",)
    for depth in depths:
        for folder in machine.glob(f"{hierarchy.mount}/{depth}/"):
            if folder.rpartition("/")[2] != OUR_GROUP and machine.exists(f"{folder}/cgroup.procs"):
                changes += _narrow(machine, key, hierarchy, folder, realtime, housekeeping)
    ours = f"{hierarchy.mount}/{OUR_GROUP}"
    cpus = show_cpus(housekeeping)
    nodes = machine.read(f"{hierarchy.mount}/cpuset.mems") or "" if hierarchy.version == 1 else ""
    group = Change(key=key, kind="group", path=ours, was="", value=f"{cpus};{nodes}")
    changes.append(msgspec.structs.replace(group, was=current(machine, group)))
    for task in machine.tasks():
        if task.kernel:
            continue
        try:
            at = group_of(machine, task.tid)
        except Gone:
            continue
        if at == "/":
            changes.append(
                Change(
                    key=key,
                    kind="move",
                    path=hierarchy.mount,
                    tid=task.tid,
                    start=task.start,
                    name=task.name,
                    was=at,
                    value=f"/{OUR_GROUP}",
                    threads=_masks(machine, [task.tid], machine.online()),
                )
            )
    return changes, ""


def _narrow(
    machine: Machine,
    key: str,
    hierarchy: Hierarchy,
    folder: str,
    realtime: frozenset[int],
    housekeeping: frozenset[int],
) -> list[Change]:
    path = f"{folder}/cpuset.cpus"
    was = machine.read(path) or ""
    if hierarchy.version == 1 and not was:
        return []  # a group without processors has no tasks
    cpus = show_cpus(parse_cpus(was) - realtime or housekeeping)
    pids = [int(word) for word in (machine.read(f"{folder}/cgroup.procs") or "").split()]
    return [
        Change(
            key=key,
            kind="group-cpus",
            path=path,
            was=was,
            value=cpus,
            inside=show_cpus(machine.online()),
            threads=_masks(machine, pids, parse_cpus(was) or machine.online()),
        )
    ]


def _masks(machine: Machine, pids: list[int], group: frozenset[int]) -> list[ThreadMask]:
    """Threads with an affinity below that of their group, which the kernel may forget."""
    masks = []
    for tid in (tid for pid in pids for tid in machine.threads(pid)):
        task = machine.task(tid)
        try:
            cpus = machine.affinity(tid)
        except OSError:
            continue
        if task is not None and parse_cpus(cpus) != group:
            masks.append(ThreadMask(tid=tid, start=task.start, cpus=cpus))
    return masks
