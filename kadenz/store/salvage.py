# SPDX-License-Identifier: Apache-2.0
"""Completes run folders left by a killed lab, with the samples measured until then.

The next reader of such a folder completes it (`store.reader`). Each step can be repeated, so that a
completion that is killed itself neither loses nor duplicates samples.
"""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import LaneEntry, Manifest, RecordEntry
from kadenz.store.layout import PARTIAL_SUFFIX, RESERVE, lane_file
from kadenz.store.manifest_file import read_manifest, write_manifest
from kadenz.store.npy import HEADER_BYTES, GrowingNpy
from kadenz.store.running import Running, storage_of
from kadenz.store.storage_file import held_values, left_alone, orphans, was_measured


def complete(folder: Path) -> Path:
    """Completes a `….partial` folder without a writer; returns the folder under its current name.

    It is not changed while its lab lives, or if it is not writable: `recount` then gives its
    contents. StoreError if its manifest cannot be read.
    """
    try:
        running = Running(folder)
    except OSError:
        return folder  # its lab lives, another process completes it, or it is not writable
    try:
        manifest = read_manifest(folder)
        (folder / RESERVE).unlink(missing_ok=True)
        storage = running.storage
        if storage is not None and not storage.exists():
            storage = None  # the machine was restarted
        _complete(folder, manifest, storage)
        write_manifest(folder, manifest, sync=True)
        if storage is not None:
            storage.unlink(missing_ok=True)
        final = folder.with_name(folder.name.removesuffix(PARTIAL_SUFFIX))
        folder.rename(final)
        running.end(final)
        return final
    except OSError:
        return folder  # e.g. a full disk: the next reader retries
    finally:
        running.close()


def complete_orphans() -> None:
    """Completes the runs of this user's killed labs on this Linux, and frees their memory."""
    for storage, folder in orphans():
        with contextlib.suppress(Exception):  # the folder may be damaged or deleted
            if storage_of(folder) == storage:
                complete(folder)
        if storage_of(folder) != storage:
            storage.unlink(missing_ok=True)


def recount(folder: Path, manifest: Manifest) -> None:
    """Counts the values on the disk of the current or last record."""
    for record, index, lane in _unfinished(manifest):
        file = folder / _name(record, index)
        if file.is_file():
            on_disk = max(0, file.stat().st_size - HEADER_BYTES) // np.dtype(lane.dtype).itemsize
            _enter(record, index, on_disk, "")


def _complete(folder: Path, manifest: Manifest, storage: Path | None) -> None:
    with contextlib.ExitStack() as stack:
        if storage is not None and not stack.enter_context(left_alone(storage)):
            raise BlockingIOError(errno.EAGAIN, "its target lives")
        for record, index, lane in _unfinished(manifest):
            path = folder / _name(record, index)
            have = (path.stat().st_size - HEADER_BYTES) // 4 if path.exists() else 0
            values: NDArray[Any] = np.empty(0, dtype=lane.dtype)
            if storage is not None and was_measured(record):
                values = held_values(storage, record, index, max(0, have))
            if path.exists() or values.size:
                file = GrowingNpy(path, lane.dtype, left_behind=True)
                file.append(values)
                digest = file.close()
                _enter(record, index, file.count, digest)


def _unfinished(manifest: Manifest) -> list[tuple[RecordEntry, int, LaneEntry]]:
    """Lanes whose file was still growing when the manifest was written."""
    return [
        (record, index, lane)
        for record in manifest.records
        for index, lane in enumerate(record.lanes)
        if not lane.sha256
    ]


def _name(record: RecordEntry, index: int) -> str:
    return lane_file(record.id, record.bench, record.lanes[index].name)


def _enter(record: RecordEntry, index: int, count: int, digest: str) -> None:
    lane = record.lanes[index]
    lane.file, lane.sha256 = _name(record, index), digest
    lane.account(count, lane.missed)
