# SPDX-License-Identifier: Apache-2.0
"""A run folder back from the disk: the manifest, and samples mapped when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import SCHEMA_VERSION, LaneEntry, Manifest, RecordEntry
from kadenz.errors import StoreError, UsageError
from kadenz.store.layout import MANIFEST, PARTIAL_SUFFIX
from kadenz.store.npy import HEADER_BYTES, read_header


class _Version(msgspec.Struct):
    """The only key that every version of the manifest has."""

    schema_version: int


@dataclass(frozen=True)
class Run:
    """One run: its folder, its manifest, its samples."""

    path: Path
    manifest: Manifest
    _lanes: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False, compare=False)

    def samples(self, record: RecordEntry, lane: LaneEntry | int = 0) -> NDArray[Any]:
        """Values of a lane: 1-d, read only, mapped from the disk, in ticks or `record.unit`.

        A number counts the lanes of samples; a companion is asked for by its own entry.
        Empty where nothing was taken. StoreError when the file is missing, of another type or of
        another length than the manifest says.
        """
        entry = record.series[lane] if isinstance(lane, int) else lane
        if not entry.file:
            return np.empty(0, dtype=entry.dtype)
        if entry.file not in self._lanes:
            self._lanes[entry.file] = _map(self.path, entry)
        return self._lanes[entry.file]

    def record(self, id: int) -> RecordEntry:
        """The record with this number. StoreError when the run has none."""
        for entry in self.manifest.records:
            if entry.id == id:
                return entry
        raise StoreError(f"{self.path}: no record {id}", remedy="See `kadenz show` for its records")


def read_run(path: Path | str) -> Run:
    """The run in the folder `path` (or whose run.json `path` is).

    A folder that a killed process left (`….partial`) is read as far as it was measured. Raises
    UsageError: there is no such folder; StoreError: no run, damaged, or written by a newer kadenz.
    """
    folder = Path(path)
    if folder.name == MANIFEST:
        folder = folder.parent
    if not folder.exists() and folder.with_name(folder.name + PARTIAL_SUFFIX).exists():
        folder = folder.with_name(folder.name + PARTIAL_SUFFIX)
    if not folder.exists():
        raise UsageError(
            f"{path}: no such folder", remedy="Name the folder that `kadenz run` printed"
        )
    manifest = _read_manifest(folder)
    if folder.name.endswith(PARTIAL_SUFFIX):
        _recover(folder, manifest)
    return Run(folder, manifest)


def _read_manifest(folder: Path) -> Manifest:
    file = folder / MANIFEST
    try:
        text = file.read_bytes()
    except OSError as error:
        raise StoreError(
            f"{folder}: not a run folder: {MANIFEST}: {error.strerror}",
            remedy="Name the folder that `kadenz run` printed",
        ) from None
    try:
        version = msgspec.json.decode(text, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{file}: written by a newer kadenz (schema {version}, this one reads up to "
                f"{SCHEMA_VERSION})",
                remedy="Update kadenz",
            )
        return msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"{file}: damaged: {error}",
            remedy="The samples beside it are intact .npy files and can be read with numpy",
        ) from None


def _map(folder: Path, entry: LaneEntry) -> NDArray[Any]:
    file = folder / entry.file
    remedy = "The folder is damaged: copy it again from where it was measured"
    shape: tuple[int, ...] = (entry.taken,)
    dtype = np.dtype(entry.dtype)
    try:
        if not folder.name.endswith(
            PARTIAL_SUFFIX
        ):  # there the header may not know the last values yet
            dtype, shape = read_header(file)
        if dtype.str != entry.dtype or shape != (entry.taken,):
            raise StoreError(
                f"{file}: {shape} values of {dtype.str}, the manifest says ({entry.taken},) of "
                f"{entry.dtype}",
                remedy=remedy,
            )
        if entry.taken == 0:
            return np.empty(0, dtype=dtype)
        return np.memmap(file, dtype=dtype, mode="r", offset=HEADER_BYTES, shape=shape)
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror or error}", remedy=remedy) from None
    except ValueError as error:
        raise StoreError(f"{file}: not a sample file: {error}", remedy=remedy) from None


def _recover(folder: Path, manifest: Manifest) -> None:
    """Counts again what the killed process had written of the record it was measuring."""
    manifest.partial = True
    manifest.partial_reason = manifest.partial_reason or "the lab was killed while measuring"
    for record in manifest.records:
        for lane in record.lanes:
            file = folder / lane.file
            if not lane.file or not file.is_file():
                continue
            size = max(0, file.stat().st_size - HEADER_BYTES)
            on_disk = size // np.dtype(lane.dtype).itemsize
            if on_disk != lane.taken:
                lane.account(on_disk, lane.missed)
