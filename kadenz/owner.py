# SPDX-License-Identifier: Apache-2.0
"""Which process made a folder that others may see: by its PID name space, PID and start time."""

from __future__ import annotations

import os
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
