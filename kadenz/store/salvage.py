# SPDX-License-Identifier: Apache-2.0
"""A run folder that a killed lab left, completed with what was measured until then.

Whoever reads such a folder completes it (`store.reader`). Each step can be taken again, so that a
completion which is killed itself loses nothing and doubles nothing.
"""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import LaneEntry, Manifest, RecordEntry
from kadenz.store.held import held_values, left_alone, orphans, was_measured
from kadenz.store.layout import PARTIAL_SUFFIX, RESERVE, lane_file
from kadenz.store.manifest_file import read_manifest, write_manifest
from kadenz.store.npy import HEADER_BYTES, GrowingNpy
from kadenz.store.running import Running, storage_of


def complete(folder: Path) -> Path:
    """Completes the `….partial` that nobody writes any more; the folder, under its name by then.

    It stays as it is while its lab lives, and where it cannot be written: `recount` then tells what
    it holds. Raises StoreError when its manifest cannot be read.
    """
    try:
        running = Running(folder)
    except OSError:
        return folder  # its lab lives, somebody else completes it, or it cannot be written
    try:
        manifest = read_manifest(folder)
        (folder / RESERVE).unlink(missing_ok=True)
        storage = running.storage
        if storage is not None and not storage.exists():
            storage = None  # the machine was started again
        _complete(folder, manifest, storage)
        write_manifest(folder, manifest, sync=True)
        if storage is not None:
            storage.unlink(missing_ok=True)
        final = folder.with_name(folder.name.removesuffix(PARTIAL_SUFFIX))
        folder.rename(final)
        running.end(final)
        return final
    except OSError:
        return folder  # a full disk, for one: tried again by whoever reads it next
    finally:
        running.close()


def complete_orphans() -> None:
    """Completes what killed labs of this user left on this Linux, and frees the memory it held."""
    for storage, folder in orphans():
        with contextlib.suppress(Exception):  # of a folder that is damaged, or was deleted
            if storage_of(folder) == storage:
                complete(folder)
        if storage_of(folder) != storage:
            storage.unlink(missing_ok=True)


def recount(folder: Path, manifest: Manifest) -> None:
    """Counts what is on the disk of the record that is or was being measured."""
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
    """Lanes whose file grew when the manifest was written."""
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
