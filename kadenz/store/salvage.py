# SPDX-License-Identifier: Apache-2.0
"""Completes run folders left by a killed lab, with the samples measured until then.

A measurement of this Linux completes the folders of its user's killed labs, `kadenz runs --mend`
those in the folders that it gets. Each step can be repeated, so that a completion that is killed
itself neither loses nor duplicates samples.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import Manifest
from kadenz.store.layout import PARTIAL_SUFFIX, RESERVE, SAMPLES, lane_file
from kadenz.store.manifest_file import read_manifest, write_manifest
from kadenz.store.npy import HEADER_BYTES, GrowingNpy
from kadenz.store.reader import unfinished
from kadenz.store.running import Running, storage_of
from kadenz.store.storage_file import held_values, left_alone, orphans, was_measured


def complete(folder: Path) -> Path:
    """Completes a `….partial` folder without a writer; returns it under its final name.

    Only the caller's own folder is written, by its descriptor, and no link in it is followed.
    BlockingIOError while its lab lives or another process completes it, OSError if it may not or
    cannot be written, StoreError if its manifest cannot be read.
    """
    with _by_descriptor(folder) as whole:
        running = Running(whole)
        try:
            manifest = read_manifest(whole)
            (whole / RESERVE).unlink(missing_ok=True)
            storage = running.storage
            if storage is not None and not storage.exists():
                storage = None  # the machine was restarted
            with _by_descriptor(whole / SAMPLES) as samples:
                _complete(samples, manifest, storage)
            write_manifest(whole, manifest, sync=True)
            if storage is not None:
                storage.unlink(missing_ok=True)
            final = folder.with_name(folder.name.removesuffix(PARTIAL_SUFFIX))
            folder.rename(final)
            running.end(final)
            return final
        finally:
            running.close()


@contextlib.contextmanager
def _by_descriptor(folder: Path) -> Iterator[Path]:
    """A folder of the caller's by its descriptor: nobody can put another into its place."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def complete_orphans() -> None:
    """Completes the runs of this user's killed labs on this Linux, and frees their memory."""
    for storage, folder in orphans():
        with contextlib.suppress(Exception):  # the folder may be damaged or deleted
            if storage_of(folder) == storage:
                complete(folder)
        if storage_of(folder) != storage:
            storage.unlink(missing_ok=True)


def _complete(samples: Path, manifest: Manifest, storage: Path | None) -> None:
    with contextlib.ExitStack() as stack:
        if storage is not None and not stack.enter_context(left_alone(storage)):
            raise BlockingIOError(errno.EAGAIN, "its target lives")
        for record, lane in unfinished(manifest):
            index, name = record.lanes.index(lane), lane_file(record.id, record.bench, lane.name)
            path = samples / Path(name).name
            there = os.path.lexists(path)
            have = (path.lstat().st_size - HEADER_BYTES) // 4 if there else 0
            values: NDArray[Any] = np.empty(0, dtype=lane.dtype)
            if storage is not None and was_measured(record):
                values = held_values(storage, record, index, max(0, have))
            if there or values.size:
                file = GrowingNpy(path, lane.dtype, left_behind=True)
                file.append(values)
                lane.file, lane.sha256 = name, file.close()
                lane.account(file.count, lane.missed)
