# SPDX-License-Identifier: Apache-2.0
"""Samples that a program on this Linux still holds, in a file that outlives it.

The program maps the file as its storage for samples (boards/linux/storage.c). The file is on a
tmpfs: its pages are never write-protected again, so no sample pays for a page fault. On a disk file
system each write-back protects the pages, and the next store to one faults.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import CUT_OFF, RecordEntry
from kadenz.store.layout import PLACES, STORAGE_PREFIX

# Precedes the samples and names their run folder. A multiple of every page size.
HEAD_BYTES = 1 << 16
BLANK = 0xFFFFFFFF  # KDZ_STORAGE_BLANK: no sample stored since the record was opened
LOOK = 1 << 16  # values of a lane read at once during a record
_SHARE = 0.9  # of the free space
_WAIT_S = 5.0  # for a target that dies with its lab


class NoRoom(Exception):
    """There is no file in memory for a target's samples; the message says why."""


class Held:
    """The file for one execution of a host target."""

    def __init__(self, folder: Path, bytes_needed: int) -> None:
        """Creates a file for the samples of the run in `folder`. Raises NoRoom."""
        place = _place()
        size = min(_quarter_of_memory(), int(_free(place) * _SHARE))
        if size < bytes_needed:
            raise NoRoom(
                f"{place} has room for {size / 1e6:,.0f} MB of samples, but a record of this plan "
                f"may need {bytes_needed / 1e6:,.0f} MB"
            )
        try:
            self.descriptor, name = tempfile.mkstemp(prefix=STORAGE_PREFIX, dir=place)
        except OSError as error:
            raise NoRoom(f"{place}: {error.strerror}") from None
        self.path = Path(name)
        try:
            # The target shares the open file and its lock: no lock means that both ended.
            fcntl.flock(self.descriptor, fcntl.LOCK_EX)
            os.pwrite(self.descriptor, str(folder.resolve()).encode(), 0)
            os.ftruncate(self.descriptor, HEAD_BYTES + size)
        except OSError as error:
            self.remove()
            raise NoRoom(f"{place}: {error.strerror}") from None

    def remove(self) -> None:
        """Frees the memory; its samples are in the run folder."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Leaves the file to the next reader of its run folder."""
        os.close(self.descriptor)


def held_values(storage: Path, record: RecordEntry, lane: int, have: int) -> NDArray[Any]:
    """The values of lane number `lane` in the storage after the `have` values that arrived.

    1-d, a copy, empty if there are none; values that arrived are not repeated. Raises OSError.
    """
    planned = record.lanes[lane].planned
    with storage.open("rb") as file:
        capacity = (os.fstat(file.fileno()).st_size - HEAD_BYTES) // 4
        share = capacity // len(record.lanes)  # kdz_record_open divides it equally
        begin = HEAD_BYTES + 4 * lane * share
        first = 0
        if planned > share > 0:
            # Emptied each time it was full. During a drain, old and new values look alike.
            if have % share:
                return np.empty(0, dtype="<u4")
            first = have
        count = min(planned - first, share)
        if count <= 0:
            return np.empty(0, dtype="<u4")
        values = np.memmap(file, dtype="<u4", mode="r", offset=begin, shape=(count,))
    blank = np.flatnonzero(values == BLANK)
    if planned > share and not blank.size:
        return np.empty(0, dtype="<u4")  # full, and perhaps sent already
    end = int(blank[0]) if blank.size else count
    return np.array(values[max(0, have - first) : end])


def next_values(storage: Path, record: RecordEntry, lane: int, seen: int) -> NDArray[Any]:
    """The values of a lane after the first `seen`, while the target still measures.

    1-d, at most LOOK values, empty if there is nothing new or if the storage is emptied within the
    record. They are read from the file, which does not disturb the target. Raises OSError.
    """
    with storage.open("rb", buffering=0) as file:
        share = (os.fstat(file.fileno()).st_size - HEAD_BYTES) // 4 // len(record.lanes)
        planned = record.lanes[lane].planned
        if planned > share:
            return np.empty(0, dtype="<u4")
        count = min(planned - seen, LOOK)
        begin = HEAD_BYTES + 4 * (lane * share + seen)
        values = np.frombuffer(os.pread(file.fileno(), 4 * max(0, count), begin), dtype="<u4")
    blank = np.flatnonzero(values == BLANK)
    return values[: int(blank[0]) if blank.size else values.size]


def was_measured(record: RecordEntry) -> bool:
    """Whether the storage belongs to this record: it began and did not end."""
    return record.status == "failed" and record.reason == CUT_OFF


@contextmanager
def left_alone(storage: Path) -> Iterator[bool]:
    """Whether `storage` has no writer any more; waits for a target that dies with its lab."""
    try:
        descriptor = os.open(storage, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        yield _locked(descriptor, _WAIT_S)
    finally:
        os.close(descriptor)


def orphans() -> Iterator[tuple[Path, Path]]:
    """This user's storages without a writer, each with its run folder."""
    for place in PLACES:
        for storage in Path(place).glob(f"{STORAGE_PREFIX}*"):
            try:
                with storage.open("rb") as file:
                    mine = os.fstat(file.fileno()).st_uid == os.getuid()
                    left = mine and _locked(file.fileno(), 0)
                    folder = file.read(HEAD_BYTES).rstrip(b"\0").decode(errors="replace")
            except OSError:
                continue  # it has just ended, or belongs to another user
            if left:
                yield storage, Path(folder)


def _locked(descriptor: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.02)


def _place() -> str:
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    mounted = {fields[1] for fields in mounts if fields[2] == "tmpfs"}
    for place in PLACES:
        if place in mounted and os.access(place, os.W_OK):
            return place
    raise NoRoom(f"{PLACES[0]} is not a writable tmpfs")


def _free(place: str) -> int:
    state = os.statvfs(place)
    # A tmpfs without a limit reports no blocks.
    return state.f_bavail * state.f_frsize if state.f_blocks else _quarter_of_memory() * 4


def _quarter_of_memory() -> int:
    """The size of the storage without a file: address space, used only as far as needed."""
    return os.sysconf("SC_PHYS_PAGES") // 4 * os.sysconf("SC_PAGE_SIZE")
