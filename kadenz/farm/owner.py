# SPDX-License-Identifier: Apache-2.0
"""Who holds a place, in words that another kadenz can judge.

labgrid keeps a place until its owner releases it; nothing expires. The owner is `host/user`. kadenz
adds the process, so that the places of a killed kadenz differ from those of a person.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

_MARK = re.compile(
    r"(?P<host>[^/]+)/(?P<user>.+)\.kadenz-(?P<pid>\d+)-(?P<start>\d+)-(?P<machine>\w+)-"
    r"(?P<space>\d+)-(?P<boot>\w+)"
)
_DIGITS = 8  # of the identifiers of machine and boot


@dataclass(frozen=True)
class Owner:
    """A kadenz at work. `host/user` is its name for labgrid."""

    host: str
    user: str  # with the process

    def __str__(self) -> str:
        return f"{self.host}/{self.user}"


def this_process(pid: int | None = None) -> Owner:
    """The owner that this process is, or that process `pid` of this user and machine is."""
    number = os.getpid() if pid is None else pid
    start = _started(number)
    user = f"{_user()}.kadenz-{number}-{start}-{_machine()}-{_space()}-{_boot()}"
    return Owner(socket.gethostname(), user)


def is_dead(owner: str) -> bool:
    """Whether `owner` is a kadenz of this user on this machine whose process has ended.

    False for everybody else, and where it cannot be known: a person, another user, another machine,
    or another container of this one.
    """
    match = _MARK.fullmatch(owner)
    if match is None:
        return False
    mine = (socket.gethostname(), _user(), _machine())
    if (match["host"], match["user"], match["machine"]) != mine:
        return False
    if match["boot"] != _boot():
        return bool(_machine().strip("0"))  # restarted, if this machine has an identity
    if match["space"] != _space():
        return False
    return _started(int(match["pid"])) != int(match["start"])


def _started(pid: int) -> int:
    """When a process started, in ticks since the boot: /proc/PID/stat, field 22; 0: no process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _machine() -> str:
    return _identifier("/etc/machine-id")


def _boot() -> str:
    return _identifier("/proc/sys/kernel/random/boot_id")


def _space() -> str:
    """The name space of process numbers: another container has another."""
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def _identifier(file: str) -> str:
    try:
        text = Path(file).read_text().strip()
    except OSError:
        text = ""
    return re.sub(r"\W", "", text)[:_DIGITS] or "0" * _DIGITS
