# SPDX-License-Identifier: Apache-2.0
"""Reads an archive whole: damaged objects, and objects that belong to no run."""

from __future__ import annotations

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
    orphans: list[str] = field(default_factory=list)  # objects of an adding that did not end
    unsealed: list[str] = field(default_factory=list)  # runs whose figures have no digest


def check(place: Place, progress: Callable[[int, int], None]) -> Findings:
    """Restores every run to a temporary folder, and compares each object with its digest.

    `progress` gets the number of checked runs and of all.
    """
    found = Findings()
    every = place.objects(f"{RUNS}/*/*.parquet")
    ids = {Path(one).stem for one in every}
    for number, one in enumerate(every):
        progress(number, len(every))
        id = Path(one).stem
        with tempfile.TemporaryDirectory() as scratch:
            try:
                folder = restore(place, id, Path(scratch))
                _compare(place, one, folder)
            except StoreError as error:
                found.damaged[id] = error.message
            else:
                found.runs += 1
                if seal.intact(place.read(one)) is None:
                    found.unsealed.append(id)
    progress(len(every), len(every))
    others = [*place.objects(f"{SAMPLES}/*/*/*/*.parquet"), *place.objects(f"{FILES}/*/*.zip")]
    found.orphans = [one for one in others if Path(one).stem not in ids]
    return found


def _compare(place: Place, one: str, folder: Path) -> None:
    """StoreError if the rows of a run are not those of the restored run."""
    rows = place.table(one)
    if rows["digest"][0].as_py() != digest_of(read_run(folder)):
        raise place.damaged(one)


def mend(place: Place, found: Findings) -> int:
    """Removes orphans, and all objects of damaged runs, which can then be added again."""
    gone = [*found.orphans]
    for id in found.damaged:
        gone += [
            *place.objects(f"{RUNS}/*/{id}.parquet"),  # first: from now on it is not visible
            *place.objects(f"{SAMPLES}/*/*/*/{id}.parquet"),
            *place.objects(f"{FILES}/*/{id}.zip"),
        ]
    for one in gone:
        place.remove(one)
    return len(gone)
