# SPDX-License-Identifier: Apache-2.0
"""Whose a folder is: its user, and the process that made it (PID name space, PID, start time)."""

from __future__ import annotations

import os
import pwd
import zlib
from pathlib import Path


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
