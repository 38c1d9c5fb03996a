# SPDX-License-Identifier: Apache-2.0
"""Digests of files. A file that has not changed is read once in a process."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from pathlib import Path
from typing import NamedTuple

ABSENT = "absent"
# A file changed so recently that a second change may leave the same times: clocks of file systems
# advance in steps of up to 10 ms, those of network file systems in seconds.
_RECENT_NS = 3_000_000_000
_known: dict[tuple[str, State], str] = {}
_lock = threading.Lock()


class State(NamedTuple):
    """A file as the kernel describes it. `changed_ns` is a time that nobody can set."""

    device: int
    inode: int
    bytes: int
    written_ns: int
    changed_ns: int


class FileChangedError(OSError):
    """A file changed while its digest was computed."""


def state_of(file: Path | int) -> State:
    """The state of a file. OSError if it is not a regular file."""
    status = os.stat(file)  # noqa: PTH116 (of a descriptor, too)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{file}: not a regular file")
    return State(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )


def digest_of(file: Path) -> tuple[str, State]:
    """SHA-256 of a file's bytes, and its state meanwhile. Raises OSError."""
    with file.open("rb", buffering=0) as stream:
        state = state_of(stream.fileno())
        key = str(file), state
        with _lock:
            known = _known.get(key)
        if known is not None:
            return known, state
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if state_of(stream.fileno()) != state:
            raise FileChangedError(f"{file} changed while it was read")
    # A clock that was set back gives a negative age.
    if time.time_ns() - max(state.written_ns, state.changed_ns) > _RECENT_NS:
        with _lock:
            _known[key] = digest
    return digest, state


def files_below(place: Path) -> list[Path]:
    """The regular files of a folder and of those below it, in the order of their names; a file is
    itself; none for a place that does not exist. Links are followed, circles left."""
    if place.is_file():
        return [place]
    files: list[Path] = []
    seen: set[tuple[int, int]] = set()
    for folder, folders, names in os.walk(place, followlinks=True):
        status = os.stat(folder)  # noqa: PTH116 (a string of os.walk)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        files += [file for file in (Path(folder) / name for name in names) if file.is_file()]
    return sorted(files)
