# SPDX-License-Identifier: Apache-2.0
"""Runs a process that ends, as by kill -9, at its Nth file system call."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable

from kadenz.store.layout import PLACES, STORAGE_PREFIX
from kadenz.store.storage_file import HEAD_BYTES

# The calls of kadenz.store that change a file or its name.
_CALLS = ("open", "write", "pwrite", "ftruncate", "fsync", "close")
_PATH_CALLS = ("replace", "rename", "unlink", "mkdir", "open")
ENDED = 0  # the exit code of a process that completed
KILLED = 9


def ends_at(number: int, work: Callable[[], object]) -> bool:
    """Runs `work` in a fork that ends before its `number`th call (from 1); whether it got there."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            _end_before(number)
            work()
            code = ENDED
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (ENDED, KILLED), "the work itself failed"
    return code == KILLED


def free_storage_below(parent: pathlib.Path) -> None:
    """Removes the storage in memory of runs below `parent`, which the next run would free."""
    for place in PLACES:
        for file in pathlib.Path(place).glob(f"{STORAGE_PREFIX}*"):
            with contextlib.suppress(OSError), file.open("rb") as head:
                if head.read(HEAD_BYTES).startswith(bytes(parent)):
                    file.unlink()


def _end_before(number: int) -> None:
    """Also in mid-write: of every third write only the first bytes are written."""
    count = 0

    def counted(real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            nonlocal count
            count += 1
            if count == number:
                if real is write and number % 3 == 0:
                    write(arguments[0], bytes(arguments[1])[:7])  # type: ignore[arg-type, call-overload]
                os._exit(KILLED)
            return real(*arguments, **named)

        return call

    write = os.write
    for name in _CALLS:
        setattr(os, name, counted(getattr(os, name)))
    for name in _PATH_CALLS:
        setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
