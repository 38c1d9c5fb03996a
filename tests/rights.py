# SPDX-License-Identifier: Apache-2.0
"""The rights of running processes, as the kernel shows them (proc(5), status)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

NOBODY = 65534
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="gives up rights of root: run as root")
IPC_LOCK, SYS_NICE, SYS_RESOURCE = 14, 23, 24  # capabilities(7)

# Starts a program without some capabilities, and without a way to regain them, as a container does.
WITHOUT = """
import ctypes, os, sys
for number in sys.argv[1].split():
    ctypes.CDLL(None).prctl(24, int(number), 0, 0, 0)
os.execv(sys.argv[2], sys.argv[2:])
"""

# A user who is not root and has capabilities, as by `setcap` or pam_cap(8).
USER = 1234
_HELD = "-all,+net_raw,+dac_override,+dac_read_search"
AS_USER = ["setpriv", f"--reuid={USER}", "--clear-groups"]
AS_USER += [f"--inh-caps={_HELD}", f"--ambient-caps={_HELD}"]


def rights_of(pids: Iterable[int]) -> set[str]:
    """What each thread of the processes may do; one text where all may do the same."""
    rights = set()
    for pid in pids:
        for status in Path("/proc").glob(f"{pid}/task/*/status"):
            with suppress(OSError):  # it has ended
                rights.add(_rights(status.read_text()))
    return rights


def without(user: int, *kept: int) -> str:
    """Every id is that of `user`, no capability but these is held, and none can be gained."""
    held = sum(1 << number for number in kept)
    sets = {"CapInh": 0, "CapPrm": held, "CapEff": held, "CapAmb": 0}
    return _text({user}, sets, "1")


def _rights(status: str) -> str:
    lines = dict(line.split(":", 1) for line in status.splitlines())
    sets = {name: int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    return _text(set(map(int, lines["Uid"].split())), sets, lines["NoNewPrivs"].strip())


def _text(users: set[int], sets: dict[str, int], no_new_privileges: str) -> str:
    held = " ".join(f"{name}={value:x}" for name, value in sets.items())
    return f"user {sorted(users)} {held} NoNewPrivs={no_new_privileges}"
