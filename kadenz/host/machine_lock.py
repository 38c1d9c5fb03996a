# SPDX-License-Identifier: Apache-2.0
"""Allows one measurement at a time on this Linux, for all users and checkouts.

The lock is flock(2) on one file for all users: the kernel releases it when its process ends, even
if killed. The file's content only serves the message.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from kadenz.errors import TargetFailed

_PLACES = (Path("/run/lock"), Path("/tmp"))
_NAME = "kadenz-measures-this-linux"
_POLL_S = 0.2


class Holder(msgspec.Struct):
    """Who measures."""

    pid: int
    user: str
    command: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} of {self.user} since {self.since}: {self.command}"


@contextmanager
def alone_on_this_linux(
    *, wait: bool, waiting: Callable[[str], None], stopped: Callable[[], bool]
) -> Iterator[None]:
    """Holds the lock. If another process holds it, calls `waiting` once with a description of it.

    Raises TargetFailed if it must not `wait`, or if `stopped` while waiting.
    """
    file = _open()
    try:
        told = False
        while not _locked(file):
            words = f"this Linux is being measured by {_holder(file)}"
            if not wait or stopped():
                raise TargetFailed(words, remedy="Wait until it ends, or end it")
            if not told:
                waiting(words)
                told = True
            time.sleep(_POLL_S)
        _sign(file)
        yield
    finally:
        os.close(file)


def _open() -> int:
    folder = next((place for place in _PLACES if os.access(place, os.W_OK)), _PLACES[-1])
    path = folder / _NAME
    try:
        # Without O_CREAT: fs.protected_regular denies that for another user's file.
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(PermissionError):  # another user has just created it
            os.fchmod(file, 0o666)
        return file
    except OSError as error:
        raise TargetFailed(
            f"{path}: {error.strerror}",
            remedy="This file prevents simultaneous measurements; make it writable for every user",
        ) from None


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(file: int) -> None:
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}"
    text = msgspec.json.encode(Holder(os.getpid(), _user(), command, since))
    with contextlib.suppress(OSError):  # disk full: the lock works without a description
        os.ftruncate(file, 0)
        os.pwrite(file, text, 0)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _holder(file: int) -> str:
    try:
        return str(msgspec.json.decode(os.pread(file, 1 << 16, 0), type=Holder))
    except (msgspec.DecodeError, UnicodeDecodeError, OSError):
        return "another kadenz"
