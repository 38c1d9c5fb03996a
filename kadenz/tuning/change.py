# SPDX-License-Identifier: Apache-2.0
"""A single change of the machine: how to read, write and compare its value.

A change is data, so that a journal can store it and another process can restore it. All values are
text, as the kernel shows them.
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
    "text",  # a file with the value
    "cpus",  # a file with a list of processors: "0-2,6"
    "mask",  # a file with a mask of processors: "47"
    "choice",  # a file with all choices, the current one in brackets
    "policy",  # scheduling policy and priority of a thread: "fifo:50"
    "affinity",  # processors of a thread
    "group",  # kadenz's own control group (cpuset, version 1): "" or "cpus;memory nodes"
    "move",  # the control group of a process
    "group-cpus",  # processors of an existing control group
    "controller",  # cpuset in cgroup.subtree_control (version 2): "+cpuset" or "-cpuset"
]

# Timeout for removing a busy control group, and the pause between two attempts.
_EMPTY_S = 2.0
_EMPTY_RETRY_S = 0.02


class ThreadMask(msgspec.Struct, frozen=True):
    """The affinity of a thread before its process was confined."""

    tid: int
    start: int
    cpus: str


class Change(msgspec.Struct, kw_only=True, frozen=True):
    """From `was` to `value`, for the profile's `key`. `path`, or `tid`, `start` and `name`,
    identify the changed object."""

    key: str
    kind: Kind
    was: str
    value: str
    path: str = ""
    tid: int = 0
    start: int = 0
    name: str = ""
    threads: list[ThreadMask] = []
    # For an interrupt: the processor on which it arrived, one of `was`. For a group: the list
    # equivalent to an empty `was`.
    inside: str = ""

    @property
    def what(self) -> str:
        """Description of the changed object."""
        if self.tid:
            kind = {"policy": "priority of", "affinity": "processors of", "move": "group of"}
            return f"{kind[self.kind]} {self.name} ({self.tid})"
        return f"{self.path} ({self.name})" if self.name else self.path

    @property
    def identity(self) -> tuple[str, str, int, int]:
        """Changes with equal identity concern the same value."""
        kind = self.kind if self.tid or self.kind in ("group", "controller") else "file"
        return (kind, self.path, self.tid, self.start)


class Gone(Exception):
    """The thread, interrupt or group no longer exists."""


def current(machine: Machine, change: Change) -> str:
    """The current value. Raises Gone."""
    return _DRIVERS[change.kind].read(machine, change)


def perform(machine: Machine, change: Change, value: str) -> None:
    """Writes `change.value`, or `change.was` to restore. Raises OSError or Gone."""
    _DRIVERS[change.kind].write(machine, change, value)


def same(change: Change, value: str, other: str) -> bool:
    """True for equivalent values: kernels have their own notations of lists and masks."""
    if value == other:
        return True
    try:
        if change.kind == "group-cpus":
            return parse_cpus(value or change.inside) == parse_cpus(other or change.inside)
        if change.kind in ("cpus", "affinity"):
            return bool(value and other) and parse_cpus(value) == parse_cpus(other)
        if change.kind == "mask":
            return parse_mask(value) == parse_mask(other)
    except ValueError:
        return False
    return False


def between(change: Change, now: str) -> bool:
    """True for an intermediate value of restoring the change."""
    return change.kind == "cpus" and bool(change.inside) and same(change, now, change.inside)


def ours_alone(change: Change) -> bool:
    """True if others cannot have set the value; then it is restored from any state."""
    return change.kind == "group"


# ---- files ---------------------------------------------------------------------------------------
def _read_text(machine: Machine, change: Change) -> str:
    text = machine.read(change.path)
    if text is None:
        raise Gone
    return text


def _read_choice(machine: Machine, change: Change) -> str:
    text = _read_text(machine, change)
    match = re.search(r"\[([^\]]*)\]", text)
    return match.group(1) if match else text


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
    """Moves the processes of a group to its parent group and removes it.

    Processes may start others while they are moved, and a dying process keeps the group busy for a
    moment: EBUSY is retried for up to `_EMPTY_S` seconds.
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
        # The list of a group with programs cannot be cleared; all processors are equivalent.
        if value or error.errno != errno.ENOSPC or not change.inside:
            raise
        _write_text(machine, change, change.inside)
    if value == change.was:
        give_back_masks(machine, change)


def give_back_masks(machine: Machine, change: Change) -> None:
    """Kernels before 6.2 forget a thread's own affinity when its cpuset changes.

    A forgotten affinity equals the processors of the group. Any other value was set by others and
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
    """Text for an error of a single change, with its probable cause."""
    message = os.strerror(error.errno) if error.errno else str(error)
    hints = {
        errno.EPERM: "no right to change it (a container, or not root)",
        errno.EACCES: "no right to change it (not root)",
        errno.EIO: "the kernel manages it",
        errno.EINVAL: "the kernel refuses this value",
        errno.EBUSY: "it is in use",
        errno.EROFS: "read-only, as in a container",
    }
    hint = hints.get(error.errno or 0, "")
    # The kernel does not let others move a managed interrupt (IRQD_AFFINITY_MANAGED).
    if change.path.startswith("/proc/irq/") and error.errno == errno.EPERM and os.geteuid() == 0:
        hint = "the kernel manages this interrupt"
    if change.path.endswith("/sched_rt_runtime_us") and error.errno == errno.EINVAL:
        hint = "a control group has a larger budget (cpu.rt_runtime_us), or a deadline thread"
    if "/fair_server/" in change.path and error.errno == errno.EINVAL:
        hint = "it must not exceed its period"
    if "/fair_server/" in change.path and error.errno == errno.EBUSY:
        hint = "deadline threads leave no room for it"
    return f"{message}: {hint}" if hint else message
