# SPDX-License-Identifier: Apache-2.0
"""Reads a run folder: the manifest, and samples mapped on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import LaneEntry, Manifest, RecordEntry
from kadenz.errors import StoreError, UsageError
from kadenz.store.layout import MANIFEST, PARTIAL_SUFFIX
from kadenz.store.manifest_file import read_manifest
from kadenz.store.npy import HEADER_BYTES, header, sha256_of
from kadenz.store.salvage import complete, recount


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

    A folder left by a killed lab (`….partial`) is completed first; the folder of a lab at work is
    read in its current state. UsageError if there is no such folder; StoreError if it is not a run,
    damaged, or written by a newer kadenz.
    """
    folder = Path(path)
    if folder.name == MANIFEST:
        folder = folder.parent
    bare = folder.with_name(folder.name.removesuffix(PARTIAL_SUFFIX))
    folder = next((f for f in (folder, bare, _partial(bare)) if f.exists()), folder)
    if not folder.exists():
        raise UsageError(
            f"{path}: no such folder",
            remedy="Name a run, or its folder: `kadenz runs` lists them",
        )
    if folder.name.endswith(PARTIAL_SUFFIX):
        folder = complete(folder)
        if not folder.exists():  # its lab has just ended
            folder = bare
    manifest = read_manifest(folder)
    if folder.name.endswith(PARTIAL_SUFFIX):
        recount(folder, manifest)
    return Run(folder, manifest)


def _partial(folder: Path) -> Path:
    return folder.with_name(folder.name + PARTIAL_SUFFIX)


def _map(folder: Path, entry: LaneEntry) -> NDArray[Any]:
    file = folder / entry.file
    dtype = np.dtype(entry.dtype)
    try:
        _check(file, entry, growing=folder.name.endswith(PARTIAL_SUFFIX))
        if entry.taken == 0:
            return np.empty(0, dtype=dtype)
        return np.memmap(file, dtype=dtype, mode="r", offset=HEADER_BYTES, shape=(entry.taken,))
    except OSError as error:
        raise _damaged(file, error.strerror or str(error)) from None


def _check(file: Path, entry: LaneEntry, *, growing: bool) -> None:
    """StoreError if the file differs from the manifest in any byte. OSError if there is no file."""
    size = file.stat().st_size - HEADER_BYTES
    wanted = entry.taken * np.dtype(entry.dtype).itemsize
    if size < wanted or (size > wanted and not growing):
        raise _damaged(file, f"{max(0, size):,} bytes of samples, the manifest says {wanted:,}")
    with file.open("rb") as content:
        # While a file grows, its header does not include the last values yet.
        if not growing and content.read(HEADER_BYTES) != header(entry.dtype, entry.taken):
            raise _damaged(file, f"its header does not match {entry.taken:,} {entry.dtype} values")
    if entry.sha256 and sha256_of(file) != entry.sha256:
        raise _damaged(file, "its bytes differ from those measured (SHA-256)")


def _damaged(file: Path, what: str) -> StoreError:
    return StoreError(
        f"{file}: damaged: {what}",
        remedy="Copy the folder again from its origin, or repeat the measurement",
    )
