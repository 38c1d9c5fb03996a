# SPDX-License-Identifier: Apache-2.0
"""A file that a build wrote, under a second name. Executions start it, and no later build changes
it.

The second name has the file's digest, and is locked until this process ends; the first build after
that removes it. It is a hard link, which keeps the capabilities that the user gave the program:
linkers write a new file instead of changing one. `Image.require_unchanged` would see another one.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from pathlib import Path
from typing import IO

from kadenz.images.provenance import sha256_of

_DIGITS = 16
_MAP = ".map"  # the linker's, which readers of a program expect beside it
_held: dict[Path, IO[bytes]] = {}  # the kernel gives up their locks when this process ends


def private_copy(file: Path, folder: Path) -> Path:
    """The second name of `file` in the build folder `folder`, whose lock the caller holds.

    Those of other contents that no process holds are removed.
    """
    digest = sha256_of(file)
    copy = folder / f"{file.stem}-{digest[:_DIGITS]}{file.suffix}"
    if sha256_of(copy) != digest:
        _link(file, copy)
        _held.pop(copy, None)
    if file.with_suffix(_MAP).is_file():
        _link(file.with_suffix(_MAP), copy.with_suffix(_MAP))
    if copy not in _held:
        _held[copy] = copy.open("rb")
        fcntl.flock(_held[copy], fcntl.LOCK_SH)
    for other in folder.glob(f"{file.stem}-{'[0-9a-f]' * _DIGITS}{file.suffix}"):
        if other not in _held and not _is_held_elsewhere(other):
            other.unlink()
            other.with_suffix(_MAP).unlink(missing_ok=True)
    return copy


def is_private_copy(file: Path) -> bool:
    """Whether `file` is such a second name, or its map."""
    return re.search(rf"-[0-9a-f]{{{_DIGITS}}}$", file.stem) is not None


def _link(file: Path, name: Path) -> None:
    """Gives `file` the name `name`; copies it where the file system has no links."""
    part = name.with_name(f".{name.name}")  # one at a time: under the folder's lock
    part.unlink(missing_ok=True)
    try:
        os.link(file, part)
    except OSError:
        shutil.copy2(file, part)
    part.replace(name)
    part.unlink(missing_ok=True)  # rename(2) leaves it if both are the same file


def _is_held_elsewhere(copy: Path) -> bool:
    with copy.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
