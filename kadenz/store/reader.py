# SPDX-License-Identifier: Apache-2.0
"""Reads a run folder: the manifest, and samples mapped on demand."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import KILLED, LaneEntry, Manifest, RecordEntry
from kadenz.errors import NothingThere, StoreError
from kadenz.regular_files import NotRegular, open_regular
from kadenz.store.layout import MANIFEST, PARTIAL_SUFFIX, lane_file
from kadenz.store.manifest_file import read_manifest
from kadenz.store.npy import HEADER_BYTES, header
from kadenz.store.running import is_held

MEND = "`kadenz runs --mend` completes it"


@dataclass(frozen=True)
class Run:
    """One run: its folder, manifest and samples."""

    path: Path
    manifest: Manifest
    _lanes: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False, compare=False)

    def samples(self, record: RecordEntry, lane: LaneEntry | int = 0) -> NDArray[Any]:
        """Values of a lane: 1-d, read only, mapped from the disk, in ticks or `record.unit`.

        A number selects a lane of samples; for a companion pass its own entry. Empty if nothing
        was taken. StoreError if the file is missing, or if its type, length or SHA-256 differs from
        the manifest.
        """
        entry = record.series[lane] if isinstance(lane, int) else lane
        if not entry.file:
            return np.empty(0, dtype=entry.dtype)
        if entry.file not in self._lanes:
            self._lanes[entry.file] = _map(self.path, entry)
        return self._lanes[entry.file]

    def record(self, id: int) -> RecordEntry:
        """The record with this number. StoreError if there is none."""
        for entry in self.manifest.records:
            if entry.id == id:
                return entry
        raise StoreError(f"{self.path}: no record {id}", remedy="See `kadenz show` for its records")


def read_run(path: Path | str) -> Run:
    """The run in the folder `path` (or with the run.json `path`).

    Nothing is written: the folder of a lab at work or of a killed one (`….partial`) is read in its
    current state; `store.salvage` completes the latter. Only files are read, and no link in the
    folder is followed. NothingThere without such a folder; StoreError if it is not a run,
    damaged, or written by a newer kadenz.
    """
    folder = Path(path)
    if folder.name == MANIFEST:
        folder = folder.parent
    bare = folder.with_name(folder.name.removesuffix(PARTIAL_SUFFIX))
    folder = next((f for f in (folder, bare, _partial(bare)) if f.exists()), folder)
    if not folder.exists():
        raise NothingThere(
            f"{path}: no such folder",
            remedy="Name a run, or its folder: `kadenz runs` lists them",
        )
    manifest = read_manifest(folder)
    if folder.name.endswith(PARTIAL_SUFFIX):
        if not folder.exists():  # its lab has just ended
            return read_run(bare)
        recount(folder, manifest)
        if manifest.partial_reason == KILLED and not is_held(folder):
            manifest.partial_reason = f"{KILLED}; {MEND}"
    return Run(folder, manifest)


def _partial(folder: Path) -> Path:
    return folder.with_name(folder.name + PARTIAL_SUFFIX)


def recount(folder: Path, manifest: Manifest) -> None:
    """Counts the values on the disk of the current or last record."""
    for record, lane in unfinished(manifest):
        name = lane_file(record.id, record.bench, lane.name)
        with (
            contextlib.suppress(FileNotFoundError, NotRegular),
            open_regular(folder / name, inside=folder) as file,
        ):
            size = os.fstat(file.fileno()).st_size
            lane.file, lane.sha256 = name, ""
            lane.account(max(0, size - HEADER_BYTES) // np.dtype(lane.dtype).itemsize, lane.missed)


def unfinished(manifest: Manifest) -> list[tuple[RecordEntry, LaneEntry]]:
    """Lanes whose file was still growing when the manifest was written."""
    every = ((record, lane) for record in manifest.records for lane in record.lanes)
    return [(record, lane) for record, lane in every if not lane.sha256]


def _map(folder: Path, entry: LaneEntry) -> NDArray[Any]:
    path = folder / entry.file
    dtype = np.dtype(entry.dtype)
    try:
        with open_regular(path, inside=folder) as file:
            _check(path, file, entry, growing=folder.name.endswith(PARTIAL_SUFFIX))
            if entry.taken == 0:
                return np.empty(0, dtype=dtype)
            shape = (entry.taken,)
            values = np.memmap(file, dtype=dtype, mode="r", offset=HEADER_BYTES, shape=shape)
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    if dtype.kind == "f" and not np.isfinite(values).all():
        raise _damaged(path, "a value is not a finite number")
    return values


def _check(path: Path, file: BufferedReader, entry: LaneEntry, *, growing: bool) -> None:
    """StoreError if the file differs from the manifest in any byte."""
    size = max(0, os.fstat(file.fileno()).st_size - HEADER_BYTES)  # killed before its header
    wanted = entry.taken * np.dtype(entry.dtype).itemsize
    if size < wanted or (size > wanted and not growing):
        raise _damaged(path, f"{size:,} bytes of samples, the manifest says {wanted:,}")
    # While a file grows, its header does not include the last values yet.
    if not growing and file.read(HEADER_BYTES) != header(entry.dtype, entry.taken):
        raise _damaged(path, f"its header does not match {entry.taken:,} {entry.dtype} values")
    file.seek(0)
    if entry.sha256 and hashlib.file_digest(file, "sha256").hexdigest() != entry.sha256:
        raise _damaged(path, "its bytes differ from those measured (SHA-256)")


def _damaged(file: Path, what: str) -> StoreError:
    return StoreError(
        f"{file}: damaged: {what}",
        remedy="Copy the folder again from its origin, or repeat the measurement",
    )
