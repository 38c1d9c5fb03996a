# SPDX-License-Identifier: Apache-2.0
"""Allows one measurement at a time on this Linux, for all users and checkouts; and no order of a
farm's worker beside one.

The locks are flock(2) on files for all users: the kernel releases them when their process ends,
even if killed. The content of a file only serves the message.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from kadenz.errors import TargetFailed
from kadenz.json_text import read_json

_PLACES = (Path("/run/lock"), Path("/tmp"))
_NAME = "kadenz-measures-this-linux"
# Orders share the room, a measurement has it alone. Who enters passes the door: a measurement keeps
# it, so that it waits for the orders in the room and for no later one.
_DOOR = "kadenz-enters-this-linux"
_ROOM = "kadenz-executes-on-this-linux"
_POLL_S = 0.2


class Holder(msgspec.Struct):
    """The process that measures on this machine, as the lock file names it."""

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
    with _held(_NAME, fcntl.LOCK_EX, _measured, wait, waiting, stopped):
        yield


@contextmanager
def without_orders(
    *, waiting: Callable[[str], None], stopped: Callable[[], bool]
) -> Iterator[None]:
    """Waits until no worker of a farm executes an order on this Linux, and keeps it so.

    Calls `waiting` with a description. Raises TargetFailed if `stopped` while waiting.
    """
    with (
        _held(_DOOR, fcntl.LOCK_EX, _measured, True, waiting, stopped),
        _held(_ROOM, fcntl.LOCK_EX, _executes, True, waiting, stopped),
    ):
        yield


@contextmanager
def order_on_this_linux(waiting: Callable[[str], None]) -> Iterator[None]:
    """Holds this Linux for one order, beside others and never beside a measurement of it.

    Calls `waiting` with a description if it is being measured.
    """
    with ExitStack() as stack:
        with _held(_DOOR, fcntl.LOCK_SH, _measured, True, waiting, _never):
            room = _held(_ROOM, fcntl.LOCK_SH, _measured, True, waiting, _never)
            stack.enter_context(room)
        yield


@contextmanager
def _held(
    name: str,
    kind: int,
    held_by: Callable[[int], str],
    wait: bool,
    waiting: Callable[[str], None],
    stopped: Callable[[], bool],
) -> Iterator[None]:
    """A lock of one kind on the file `name`; `held_by` describes who has it."""
    file = _open(name)
    try:
        told = False
        while not _locked(file, kind):
            holder = held_by(file)
            if not wait or stopped():
                raise TargetFailed(holder, remedy="Wait until it ends, or end it")
            if not told:
                waiting(holder)
                told = True
            time.sleep(_POLL_S)
        if kind == fcntl.LOCK_EX:
            _sign(file)
        yield
        if kind == fcntl.LOCK_EX:
            os.ftruncate(file, 0)
    finally:
        os.close(file)


def _measured(file: int) -> str:
    return f"this Linux is being measured by {_holder(file)}"


def _executes(file: int) -> str:
    return "a worker of a farm executes orders on this Linux"


def _never() -> bool:
    return False


def _open(name: str) -> int:
    folder = next((place for place in _PLACES if os.access(place, os.W_OK)), _PLACES[-1])
    path = folder / name
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


def _locked(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
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
        return str(read_json(os.pread(file, 1 << 16, 0), Holder))
    except (msgspec.DecodeError, OSError):
        return "another kadenz"
