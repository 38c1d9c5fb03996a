# SPDX-License-Identifier: Apache-2.0
"""One single change of the machine: how its value is read, written and compared.

A change is data, so that a journal can hold it and another process can restore it. Values are text
throughout, as the kernel shows them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from kadenz.config.processors import parse_cpus
from kadenz.tuning.machine import Machine, parse_mask

Kind = Literal[
    "text",  # a file that holds the value
    "cpus",  # the same, a list of processors: "0-2,6"
    "mask",  # the same, as a mask: "47"
    "choice",  # a file that shows every choice, the one that holds in brackets
    "policy",  # scheduling policy and priority of a thread: "fifo:50"
    "affinity",  # where a thread may run
    "group",  # a control group (cpuset, version 1) of our own: "" or "cpus;memory nodes"
    "move",  # the control group a process is in
    "group-cpus",  # processors of a control group that was there before
    "controller",  # cpuset in cgroup.subtree_control (version 2): "+cpuset" or "-cpuset"
]

# How long a control group may stay busy while it is removed, and the pause between two attempts.
_EMPTY_S = 2.0
_EMPTY_RETRY_S = 0.02


class ThreadMask(msgspec.Struct, frozen=True):
    """Where a thread might run before its process was confined."""

    tid: int
    start: int
    cpus: str


class Change(msgspec.Struct, kw_only=True, frozen=True):
    """From `was` to `value`, for the profile's `key`. `path` or `tid`, `start`, `name`: of what."""

    key: str
    kind: Kind
    was: str
    value: str
    path: str = ""
    tid: int = 0
    start: int = 0
    name: str = ""
    threads: list[ThreadMask] = []
    # Of an interrupt: where it really arrived, one of `was`. Of a group: the list that means the
    # same as an empty `was`.
    inside: str = ""

    @property
    def what(self) -> str:
        """The thing that changes, in words."""
        if self.tid:
            kind = {"policy": "priority of", "affinity": "processors of", "move": "group of"}
            return f"{kind[self.kind]} {self.name} ({self.tid})"
        return f"{self.path} ({self.name})" if self.name else self.path

    @property
    def identity(self) -> tuple[str, str, int, int]:
        """Two changes with the same identity concern the same value."""
        kind = self.kind if self.tid or self.kind in ("group", "controller") else "file"
        return (kind, self.path, self.tid, self.start)


class Gone(Exception):
    """The thread, interrupt or group is no longer there."""


def current(machine: Machine, change: Change) -> str:
    """The value as it is now. Raises Gone."""
    return _DRIVERS[change.kind].read(machine, change)


def perform(machine: Machine, change: Change, value: str) -> None:
    """Give it a value: `change.value`, or `change.was` to take it back. Raises OSError or Gone."""
    _DRIVERS[change.kind].write(machine, change, value)


def same(change: Change, one: str, other: str) -> bool:
    """Whether two values mean the same: kernels write lists and masks in their own way."""
    if one == other:
        return True
    try:
        if change.kind == "group-cpus":
            return parse_cpus(one or change.inside) == parse_cpus(other or change.inside)
        if change.kind in ("cpus", "affinity"):
            return bool(one and other) and parse_cpus(one) == parse_cpus(other)
        if change.kind == "mask":
            return parse_mask(one) == parse_mask(other)
    except ValueError:
        return False
    return False


def between(change: Change, now: str) -> bool:
    """Whether a value is one that taking the change back passes through."""
    return change.kind == "cpus" and bool(change.inside) and same(change, now, change.inside)


def ours_alone(change: Change) -> bool:
    """Whether nobody else can have set it: then any state of it is taken back."""
    return change.kind == "group"


# ---- files ---------------------------------------------------------------------------------------
def _read_text(machine: Machine, change: Change) -> str:
    text = machine.read(change.path)
    if text is None:
        raise Gone
    return text


def _read_choice(machine: Machine, change: Change) -> str:
    text = _read_text(machine, change)
    found = re.search(r"\[([^\]]*)\]", text)
    return found.group(1) if found else text


def _write_text(machine: Machine, change: Change, value: str) -> None:
    if not machine.exists(change.path):
        raise Gone
    machine.write(change.path, value)


# ---- threads -------------------------------------------------------------------------------------
def _alive(machine: Machine, change: Change) -> None:
    task = machine.task(change.tid)
    if task is None or task.start != change.start:
        raise Gone


def _of_thread(call: Callable[[], str]) -> str:
    try:
        return call()
    except ProcessLookupError:
        raise Gone from None


def _read_policy(machine: Machine, change: Change) -> str:
    _alive(machine, change)
    return _of_thread(lambda: machine.policy(change.tid))


def _write_policy(machine: Machine, change: Change, value: str) -> None:
    _alive(machine, change)
    machine.set_policy(change.tid, value)


def _read_affinity(machine: Machine, change: Change) -> str:
    _alive(machine, change)
    return _of_thread(lambda: machine.affinity(change.tid))


def _write_affinity(machine: Machine, change: Change, value: str) -> None:
    _alive(machine, change)
    machine.set_affinity(change.tid, value)


# ---- control groups ------------------------------------------------------------------------------
def _read_group(machine: Machine, change: Change) -> str:
    if not machine.exists(change.path):
        return ""
    parts = [machine.read(f"{change.path}/cpuset.{name}") or "" for name in ("cpus", "mems")]
    return ";".join(parts)


def _write_group(machine: Machine, change: Change, value: str) -> None:
    if value:
        machine.make_folder(change.path)
        for name, text in zip(("cpus", "mems"), value.split(";"), strict=True):
            machine.write(f"{change.path}/cpuset.{name}", text)
        return
    if not machine.exists(change.path):
        return
    _empty_and_remove(machine, change.path)


def _empty_and_remove(machine: Machine, path: str) -> None:
    """Moves the processes of a group to the group above and removes it.

    Processes inside keep starting others while they are moved, and a dying process holds the group
    a moment longer: EBUSY is retried for up to `_EMPTY_S` seconds.
    """
    above = path.rpartition("/")[0]
    until = time.monotonic() + _EMPTY_S
    while True:
        for pid in (machine.read(f"{path}/cgroup.procs") or "").split():
            with contextlib.suppress(ProcessLookupError):
                machine.write(f"{above}/cgroup.procs", pid)
        try:
            machine.remove_folder(path)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                raise
            time.sleep(_EMPTY_RETRY_S)
        else:
            return


def group_of(machine: Machine, pid: int) -> str:
    """Path of a process's cpuset below its mount, "/" at the top. Raises Gone."""
    text = machine.read(f"/proc/{pid}/cgroup")
    if text is None:
        raise Gone
    unified = "/"
    for line in text.splitlines():
        number, controllers, path = line.split(":", 2)
        if "cpuset" in controllers.split(","):
            return path
        if number == "0":
            unified = path
    return unified


def _read_move(machine: Machine, change: Change) -> str:
    _alive(machine, change)
    return group_of(machine, change.tid)


def _write_move(machine: Machine, change: Change, value: str) -> None:
    _alive(machine, change)
    machine.write(f"{change.path}{value.rstrip('/')}/cgroup.procs", str(change.tid))
    if value == change.was:
        give_back_masks(machine, change)


def _write_group_cpus(machine: Machine, change: Change, value: str) -> None:
    try:
        _write_text(machine, change, value)
    except OSError as error:
        # A group with programs cannot be emptied again: every processor means the same.
        if value or error.errno != errno.ENOSPC or not change.inside:
            raise
        _write_text(machine, change, change.inside)
    if value == change.was:
        give_back_masks(machine, change)


def give_back_masks(machine: Machine, change: Change) -> None:
    """Kernels before 6.2 forget a thread's own affinity when its cpuset changes.

    Forgotten means: it may run now wherever its group may. Any other value is somebody's own and
    stays.
    """
    everywhere = machine.online()
    group = parse_cpus(change.was) if change.kind == "group-cpus" and change.was else everywhere
    for thread in change.threads:
        task = machine.task(thread.tid)
        if task is not None and task.start == thread.start:
            with contextlib.suppress(OSError):
                if parse_cpus(machine.affinity(thread.tid)) == group:
                    machine.set_affinity(thread.tid, thread.cpus)


def _read_controller(machine: Machine, change: Change) -> str:
    return "+cpuset" if "cpuset" in _read_text(machine, change).split() else "-cpuset"


@dataclass(frozen=True)
class _Driver:
    read: Callable[[Machine, Change], str]
    write: Callable[[Machine, Change, str], None]


_DRIVERS: dict[Kind, _Driver] = {
    "text": _Driver(_read_text, _write_text),
    "cpus": _Driver(_read_text, _write_text),
    "mask": _Driver(_read_text, _write_text),
    "choice": _Driver(_read_choice, _write_text),
    "policy": _Driver(_read_policy, _write_policy),
    "affinity": _Driver(_read_affinity, _write_affinity),
    "group": _Driver(_read_group, _write_group),
    "move": _Driver(_read_move, _write_move),
    "group-cpus": _Driver(_read_text, _write_group_cpus),
    "controller": _Driver(_read_controller, _write_text),
}


def why(error: OSError, change: Change) -> str:
    """An error of a single change, in words that say what stands behind it."""
    words = os.strerror(error.errno) if error.errno else str(error)
    hints = {
        errno.EPERM: "no right to change it (a container, or not root)",
        errno.EACCES: "no right to change it (not root)",
        errno.EIO: "the kernel manages it itself",
        errno.EINVAL: "the kernel refuses this value",
        errno.EBUSY: "somebody uses it",
        errno.EROFS: "read-only here: a container shows it without the right to change it",
    }
    hint = hints.get(error.errno or 0, "")
    # A managed interrupt stays where the kernel put it (core-api/irq: IRQD_AFFINITY_MANAGED).
    if change.path.startswith("/proc/irq/") and error.errno == errno.EPERM and os.geteuid() == 0:
        hint = "the kernel manages this interrupt itself"
    if change.path.endswith("/sched_rt_runtime_us") and error.errno == errno.EINVAL:
        hint = "a control group has a larger budget (cpu.rt_runtime_us), or a deadline thread"
    if "/fair_server/" in change.path and error.errno == errno.EINVAL:
        hint = "it may not be above the period beside it"
    if "/fair_server/" in change.path and error.errno == errno.EBUSY:
        hint = "deadline threads leave no room for it"
    return f"{words}: {hint}" if hint else words
