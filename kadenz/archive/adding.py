# SPDX-License-Identifier: Apache-2.0
"""Puts a run into an archive: all of it, or nothing that a reader would see."""

from __future__ import annotations

import io
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kadenz.archive import seal
from kadenz.archive.objects import files_object, run_object, samples_object
from kadenz.archive.place import Place, need_pyarrow
from kadenz.archive.rows import digest_of, lane_rows, month_of, sample_tables
from kadenz.archive.tables import lane_table
from kadenz.archive.texts import BadTexts, manifest_in, packed
from kadenz.errors import StoreError, UsageError
from kadenz.store import Run, read_run
from kadenz.store.consistency import is_name
from kadenz.store.layout import MANIFEST
from kadenz.store.manifest_file import write_manifest
from kadenz.store.reader import MEND

ROW_GROUP = 1 << 20


@dataclass(frozen=True)
class Added:
    """The id of an added run, and the number of its samples."""

    run: str
    new: bool  # False: it was in the archive already
    samples: int
    note: str = ""  # something that a person should look at


def add(place: Place, run: Run, *, label: str = "", commit: str = "") -> Added:
    """Adds a run with its samples, texts and figures; `label` and `commit` are free words.

    A run that is in the archive already is left unchanged. StoreError if another run has its id, if
    a sample file is damaged, if it is still being measured, or if the store takes no more: nothing
    of the run is then visible, and adding it again completes it.
    """
    manifest = run.manifest
    if run.path.name != manifest.id and run.path.name.endswith(".partial"):
        raise StoreError(
            f"{run.path}: still being measured, or its lab was killed",
            remedy=f"Wait for its end; after a kill, {MEND}",
        )
    month = month_of(manifest)
    where = run_object(month, manifest.id)
    if place.exists(where):
        return _already(place, where, run)
    _claim(place, run)
    now = datetime.now(UTC)
    samples = 0
    parts = []
    for bench, table in sample_tables(run):
        samples += table.num_rows
        parts.append(samples_object(manifest.target.name, bench, month, manifest.id))
        place.write(parts[-1], _parquet(table))
    rows = lane_rows(run, label=label, commit=commit, added=now.isoformat())
    if not place.write(where, _parquet(rows), new=True):
        return _already(place, where, run)
    _complete(place, run, parts)
    ahead = datetime.fromisoformat(manifest.created) > now
    note = f"measured at {manifest.created}, which is later than now: was a clock set back?"
    return Added(manifest.id, True, samples, note if ahead else "")


def renamed(run: Run, id: str, parent: Path) -> Run:
    """A copy of the run in `parent`, with the id `id`. UsageError if no file can have that name."""
    if not is_name(id):
        raise UsageError(f"{id!r} is not an id", remedy="Use letters, digits and - _ . +")
    folder = parent / id
    shutil.copytree(run.path, folder, symlinks=True)  # `packed` refuses a link
    run.manifest.id = id
    write_manifest(folder, run.manifest, sync=False)
    return read_run(folder)


def _claim(place: Place, run: Run) -> None:
    """Writes the texts first: only the process that wrote run.json writes its samples."""
    month, id = month_of(run.manifest), run.manifest.id
    where = files_object(month, id)
    if place.write(where, packed(run), new=True):
        return
    kept = place.sealed(where)
    try:
        manifest = manifest_in(kept)
    except BadTexts as error:
        raise place.damaged(where, str(error)) from None
    if manifest != (run.path / MANIFEST).read_bytes():
        whole = place.exists(run_object(month, id))
        raise _another(place, run) if whole else _unfinished(place, run)
    place.write(where, kept)  # young again: a check takes old texts for those of a killed writer


def _complete(place: Place, run: Run, parts: list[str]) -> None:
    """Writes again what a check took for the objects of a killed writer; now it has a run."""
    texts = files_object(month_of(run.manifest), run.manifest.id)
    if not place.exists(texts):
        place.write(texts, packed(run), new=True)
    lost = {part for part in parts if not place.exists(part)}
    if not lost:
        return
    for part, (_, table) in zip(parts, sample_tables(run), strict=True):
        if part in lost:
            place.write(part, _parquet(table))


def _already(place: Place, where: str, run: Run) -> Added:
    """It is there: the same run, or another one under the same id."""
    kept = lane_table(place, where, ["digest"])
    if kept.num_rows and kept["digest"][0].as_py() != digest_of(run):
        raise _another(place, run)
    return Added(run.manifest.id, False, 0)


def _another(place: Place, run: Run) -> StoreError:
    return StoreError(
        f"{place.text}: holds another run with the id {run.manifest.id}",
        remedy="Add this one under an id of its own: `kadenz archive add --as ID`; `kadenz archive "
        "get` writes the other to a folder",
    )


def _unfinished(place: Place, run: Run) -> StoreError:
    return StoreError(
        f"{place.text}: another run with the id {run.manifest.id} is being added, or its adding "
        "was ended",
        remedy="If it was ended, `kadenz archive check --mend` removes the rest of it a day later. "
        "To add this one now, give it an id of its own: `kadenz archive add --as ID`",
    )


def _parquet(table: Any) -> bytes:
    need_pyarrow()
    import pyarrow.parquet as pq

    out = io.BytesIO()
    names = [name for name in ("ticks", "index", "record") if name in table.column_names]
    encoding = dict.fromkeys(names, "DELTA_BINARY_PACKED")
    dictionary = [name for name in table.column_names if name not in encoding]
    with pq.ParquetWriter(
        out,
        table.schema,
        compression="zstd",
        use_dictionary=dictionary,
        column_encoding=encoding or None,
    ) as writer:
        writer.write_table(table, row_group_size=ROW_GROUP)
        writer.add_key_value_metadata({seal.KEY: seal.BLANK})
    return seal.sealed(out.getvalue())
