# SPDX-License-Identifier: Apache-2.0
"""Whose a file or folder is: its user, and the process that made it.

A process is known by its PID name space, its PID and its start. A file that is being written has a
hidden name with this mark, so that nobody else writes it, and so that the next writer in its folder
removes it if its process was killed.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import uuid
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

NEW = "new"  # the kind of a file or folder that is being written
_NOBODY = 65534  # user and group without rights on every Linux: /proc/sys/kernel/overflowuid
_UNFINISHED = re.compile(r"\.kadenz-([0-9a-f]{8}-[0-9]+-[0-9a-f]+)-[0-9a-f]{8}\.(.+)")


def name_space() -> str:
    """Identifies this machine and PID name space, as eight hexadecimal digits.

    Other containers or hosts may share the folder.
    """
    space = Path("/proc/self/ns/pid").stat().st_ino
    return f"{zlib.crc32(f'{os.uname().nodename} {space}'.encode()):08x}"


def started(pid: int) -> str:
    """Start time of a process in ticks since boot, in hexadecimal digits; "" if there is none.

    Distinguishes processes with a reused PID.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return f"{int(stat.rpartition(')')[2].split()[19]):x}"


def own_users() -> set[int]:
    """The users that are the caller: its own, and with sudo the one who called it."""
    user, by_sudo = os.geteuid(), os.environ.get("SUDO_UID", "")
    return {user, int(by_sudo)} if user == 0 and by_sudo.isdecimal() else {user}


def user_without_rights() -> tuple[int, int] | None:
    """User and group for a program that root starts and that needs no rights: those of the caller
    of sudo, else nobody's. None if the caller is not root."""
    if os.geteuid() != 0:
        return None
    user, group = (os.environ.get(name, "") for name in ("SUDO_UID", "SUDO_GID"))
    by_sudo = user.isdecimal() and group.isdecimal() and int(user) != 0
    return (int(user), int(group)) if by_sudo else (_NOBODY, _NOBODY)


def foreign(path: Path) -> int | None:
    """The user who owns `path`, or the link there, and is not the caller; None: it is the caller's.

    Raises OSError.
    """
    owners = [path.lstat().st_uid, path.stat().st_uid]
    return next((owner for owner in owners if owner not in own_users()), None)


def user_name(user: int) -> str:
    """The name of a user, or "user 1001" if this machine knows none."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def mark() -> str:
    """Identifies this process among all that share a folder."""
    return f"{name_space()}-{os.getpid()}-{started(os.getpid())}"


def has_ended(mark: str) -> bool:
    """Whether the process of a mark is over; False if it is one of another machine or container."""
    space, pid, begun = mark.split("-")
    return space == name_space() and started(int(pid)) != begun


def unfinished_name(kind: str = NEW) -> str:
    """A name for a file or folder that this process is writing; no other has it."""
    return f".kadenz-{mark()}-{uuid.uuid4().hex[:8]}.{kind}"


def left_in(folder: Path, kind: str) -> Iterator[Path]:
    """What processes that are over left in a folder under such names."""
    for path in folder.glob(".kadenz-*"):
        match = _UNFINISHED.fullmatch(path.name)
        if match and match[2] == kind and has_ended(match[1]):
            yield path


def remove_left(folder: Path) -> None:
    """Removes what killed writers left in a folder."""
    for path in left_in(folder, NEW):
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.unlink()
