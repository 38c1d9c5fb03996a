# SPDX-License-Identifier: Apache-2.0
"""Reads an archive whole: damaged objects, and objects that belong to no run."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.archive import seal
from kadenz.archive.place import FILES, RUNS, SAMPLES, Place
from kadenz.archive.restore import restore
from kadenz.archive.rows import digest_of
from kadenz.errors import StoreError
from kadenz.store import read_run


@dataclass
class Findings:
    """Findings of a check."""

    runs: int = 0  # intact
    damaged: dict[str, str] = field(default_factory=dict)  # run -> what is wrong with it
    orphans: list[str] = field(default_factory=list)  # of an adding that did not end: a day old
    recent: list[str] = field(default_factory=list)  # the same, or a run is just being added
    unsealed: list[str] = field(default_factory=list)  # runs whose figures have no digest


def check(place: Place, progress: Callable[[int, int], None]) -> Findings:
    """Restores every run to a temporary folder, and compares each object with its digest.

    `progress` gets the number of checked runs and of all.
    """
    found = Findings()
    every = place.objects(f"{RUNS}/*/*.parquet")
    for number, one in enumerate(every):
        progress(number, len(every))
        id = Path(one).stem
        if fault := _fault(place, one):
            found.damaged[id] = fault
            continue
        found.runs += 1
        if seal.intact(place.read(one)) is None:
            found.unsealed.append(id)
    progress(len(every), len(every))
    for one in _left(place):
        (found.orphans if place.is_old(one) else found.recent).append(one)
    return found


def _fault(place: Place, one: str) -> str:
    """The problem of a run; empty if its samples and its rows are those that were added."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            folder = restore(place, Path(one).stem, Path(scratch))
            if place.table(one)["digest"][0].as_py() != digest_of(read_run(folder)):
                raise place.damaged(one)
        except StoreError as error:
            return error.message
    return ""


def _left(place: Place) -> list[str]:
    """Objects without a run, and fragments of objects."""
    parts = [*place.objects(f"{SAMPLES}/*/*/*/*.parquet"), *place.objects(f"{FILES}/*/*.zip")]
    # Looked for after the parts: a run that was added meanwhile has lost none.
    ids = {Path(one).stem for one in place.objects(f"{RUNS}/*/*.parquet")}
    return [*(one for one in parts if Path(one).stem not in ids), *place.fragments()]


def _has_run(place: Place, part: str) -> bool:
    """Whether the run of such a part is in the archive now."""
    month, id = Path(part).parent.name, Path(part).stem
    return place.exists(f"{RUNS}/{month}/{id}.parquet")


def mend(place: Place, found: Findings) -> int:
    """Removes orphans, and all objects of damaged runs, which can then be added again.

    A part stays if its run was added meanwhile, and an orphan also if it was written again. Returns
    the number of removed objects.
    """
    count = 0

    def remove(one: str) -> None:
        nonlocal count
        place.remove(one)
        count += 1

    for one in found.orphans:
        if place.is_old(one) and not _has_run(place, one):
            remove(one)
    for id in found.damaged:
        name = glob.escape(id)
        rows = [one for one in place.objects(f"{RUNS}/*/{name}.parquet") if _fault(place, one)]
        for one in rows:
            remove(one)  # first: from now on it is not visible
        parts = [f"{SAMPLES}/*/*/*/{name}.parquet", f"{FILES}/*/{name}.zip"] if rows else []
        for one in (one for pattern in parts for one in place.objects(pattern)):
            if not _has_run(place, one):
                remove(one)
    return count
