# SPDX-License-Identifier: Apache-2.0
"""From an archive back to a run folder, byte for byte."""

from __future__ import annotations

import glob
import io
import shutil
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np

from kadenz.archive.place import RUNS, SAMPLES, Place
from kadenz.config.manifest import LaneEntry, Manifest
from kadenz.errors import StoreError, UsageError
from kadenz.store import read_run
from kadenz.store.manifest_file import read_manifest
from kadenz.store.npy import header


def restore(place: Place, id: str, parent: Path) -> Path:
    """Writes the run `id` to a new folder in `parent`, and returns it.

    UsageError if the archive has no such run or the folder exists; StoreError if an object is
    damaged: the digest of each sample file is checked, and nothing is left behind.
    """
    month = _month(place, id)
    folder = parent / id
    fresh = parent / f".{id}.restoring"
    if folder.exists():
        raise UsageError(f"{folder}: exists already", remedy="Name another folder: --output DIR")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        _texts(place, place.files_object(month, id), fresh)
        made = read_manifest(fresh)
        for part in place.objects(f"{SAMPLES}/*/*/month={month}/{glob.escape(id)}.parquet"):
            _samples(place, part, made, fresh)
        _verify(place, fresh)
        fresh.rename(folder)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be written: {error.strerror}", remedy="Name another folder"
        ) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def manifest_of(place: Place, id: str) -> Manifest:
    """The run.json of the run `id`. UsageError if there is no such run, StoreError if damaged."""
    with tempfile.TemporaryDirectory() as folder:
        _texts(place, place.files_object(_month(place, id), id), Path(folder))
        return read_manifest(Path(folder))


def _month(place: Place, id: str) -> str:
    found = place.objects(f"{RUNS}/*/{glob.escape(id)}.parquet")
    if not found:
        raise UsageError(
            f"{place.text}: no run {id}",
            remedy="kadenz archive query 'SELECT run, target, created FROM runs'",
        )
    return found[0].split("/")[1].removeprefix("month=")


def _texts(place: Place, relative: str, folder: Path) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(place.sealed(relative))) as box:
            box.extractall(folder)  # names with .. or a leading slash are made harmless
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError):
        raise place.damaged(relative) from None


def _samples(place: Place, relative: str, made: Manifest, folder: Path) -> None:
    table = place.table(relative)
    record = table["record"].to_numpy()
    name = table["lane"].to_numpy(zero_copy_only=False)
    ticks, real = table["ticks"].combine_chunks(), table["real"].combine_chunks()
    for entry in made.records:
        for lane in entry.lanes:
            wanted = np.flatnonzero((record == entry.id) & (name == lane.name))
            if lane.file and wanted.size:
                source = real if np.dtype(lane.dtype).kind == "f" else ticks
                part = source.slice(int(wanted[0]), int(wanted.size))
                _write(folder, lane, part.to_numpy(zero_copy_only=False))


def _write(folder: Path, lane: LaneEntry, values: np.ndarray) -> None:  # type: ignore[type-arg]
    file = folder / lane.file
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as out:
        out.write(header(lane.dtype, values.size))
        out.write(values.astype(lane.dtype).tobytes())


def _verify(place: Place, folder: Path) -> None:
    """Reads every sample: the manifest has the digest of each file."""
    run = read_run(folder)
    for record in run.manifest.records:
        for lane in record.lanes:
            run.samples(record, lane)
