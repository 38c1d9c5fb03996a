# SPDX-License-Identifier: Apache-2.0
"""From an archive back to a run folder, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kadenz.archive.objects import EVERY_RUN, files_object, run_of, samples_object
from kadenz.archive.place import Place
from kadenz.archive.rows import month_of
from kadenz.archive.tables import sample_pieces
from kadenz.archive.texts import BadTexts, unpack
from kadenz.config.manifest import LaneEntry, Manifest
from kadenz.errors import StoreError, UsageError
from kadenz.owner import remove_left, unfinished_name
from kadenz.store import read_run
from kadenz.store.manifest_file import read_manifest
from kadenz.store.npy import header

Lane = tuple[int, str]  # number of its record, and its name


def restore(place: Place, id: str, parent: Path) -> Path:
    """Writes the run `id` to a new folder in `parent`, and returns it.

    UsageError if the archive has no such run or the folder exists; StoreError if an object is
    damaged: the digest of each sample file is checked, and nothing is left behind.
    """
    runs, _ = place.sorted_out(EVERY_RUN)
    months = [month for month, run_id in map(run_of, runs) if run_id == id]
    if not months:
        raise UsageError(
            f"{place.text}: no run {id}",
            remedy="kadenz archive query 'SELECT run, target, created FROM runs'",
        )
    folder = parent / id
    if folder.exists():
        raise UsageError(f"{folder}: exists already", remedy="Name another folder: --output DIR")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        remove_left(parent)
        fresh = parent / unfinished_name()
        fresh.mkdir()
        try:
            restore_into(place, months[0], id, fresh)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be written: {error.strerror}", remedy="Name another folder"
        ) from None
    return folder


def restore_into(place: Place, month: str, id: str, folder: Path) -> Manifest:
    """Writes the run `id` of a month into an empty folder, and reads all of it.

    StoreError if an object is damaged, NewerRun if a newer kadenz wrote it. Raises OSError.
    """
    manifest = _texts(place, month, id, folder)
    for part, lanes in _parts(manifest, month):
        _samples(place, part, lanes, folder)
    try:
        run = read_run(folder)
        for record in run.manifest.records:
            for lane in record.lanes:
                run.samples(record, lane)
    except StoreError as error:
        raise _of_object(place, files_object(month, id), folder, error) from None
    return manifest


def manifest_of(place: Place, month: str, id: str) -> Manifest:
    """The run.json of a run. StoreError if it is damaged, NewerRun if a newer kadenz wrote it."""
    with TemporaryDirectory() as scratch:
        return _texts(place, month, id, Path(scratch))


def objects_of(manifest: Manifest, month: str) -> set[str]:
    """The objects of a run besides the one below runs/."""
    return {files_object(month, manifest.id), *(part for part, _ in _parts(manifest, month))}


def _texts(place: Place, month: str, id: str, folder: Path) -> Manifest:
    """Unpacks every file of a run except its samples. Raises StoreError if damaged."""
    relative = files_object(month, id)
    try:
        unpack(place.sealed(relative), folder)
        manifest = read_manifest(folder)
    except BadTexts as error:
        raise place.damaged(relative, str(error)) from None
    except StoreError as error:
        raise _of_object(place, relative, folder, error) from None
    if (manifest.id, month_of(manifest)) != (id, month):
        raise place.damaged(relative, f"it holds the run {manifest.id} of {month_of(manifest)}")
    return manifest


def _of_object(place: Place, relative: str, folder: Path, error: StoreError) -> StoreError:
    """The error of a file in `folder` as one of the object that it comes from."""
    error.message = error.message.replace(str(folder), place.url(relative))
    return error


def _parts(manifest: Manifest, month: str) -> Iterator[tuple[str, dict[Lane, LaneEntry]]]:
    """The object of each benchmark with samples, and its lanes."""
    for bench in dict.fromkeys(record.bench for record in manifest.records):
        lanes = {
            (record.id, lane.name): lane
            for record in manifest.records
            if record.bench == bench
            for lane in record.lanes
            if lane.file
        }
        if lanes:
            yield samples_object(manifest.target.name, bench, month, manifest.id), lanes


def _samples(place: Place, relative: str, lanes: dict[Lane, LaneEntry], folder: Path) -> None:
    """Writes the sample files of a benchmark, piece by piece."""
    count = sum(lane.taken for lane in lanes.values())
    for lane in lanes.values():
        file = folder / lane.file
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(header(lane.dtype, lane.taken))
    before: dict[Lane, None] = {}  # each once: its samples are together
    for piece in sample_pieces(place, relative, count):
        try:
            for key, rows in _by_lane(piece, before):
                with (folder / lanes[key].file).open("ab") as out:
                    out.write(_as_measured(rows, lanes[key].dtype))
        except KeyError as error:
            raise place.damaged(
                relative, f"samples of {error}, which run.json does not name"
            ) from None
        except (ValueError, IndexError) as error:
            raise place.damaged(relative, str(error)) from None


def _by_lane(piece: Any, before: dict[Lane, None]) -> Iterator[tuple[Lane, Any]]:
    """The rows of each lane in an Arrow batch; `before`: the lanes so far. Raises ValueError."""
    names = piece.column("lane")
    codes = names.indices.to_numpy(zero_copy_only=False)
    records = piece.column("record").to_numpy(zero_copy_only=False)
    changes = np.flatnonzero((np.diff(codes) != 0) | (np.diff(records) != 0)) + 1
    for number, (begin, end) in enumerate(pairwise([0, *changes.tolist(), len(piece)])):
        key = int(records[begin]), str(names.dictionary[int(codes[begin])])
        if key in before and (number or key != next(reversed(before))):
            raise ValueError(f"samples of {key} in two places")
        before[key] = None
        yield key, piece.slice(begin, end - begin)


def _as_measured(rows: Any, dtype: str) -> bytes:
    """The samples of these rows in the type of their lane. ValueError if it does not hold them."""
    whole = np.dtype(dtype).kind in "iu"
    column = rows.column("ticks" if whole else "real")
    if column.null_count:
        raise ValueError("a sample without a value")
    stored = column.to_numpy(zero_copy_only=False)
    values = stored.astype(dtype)
    if whole and not np.array_equal(values.astype(np.int64), stored):
        raise ValueError(f"a sample beyond the type {dtype}")
    return bytes(values.tobytes())
