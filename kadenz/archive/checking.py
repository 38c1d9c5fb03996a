# SPDX-License-Identifier: Apache-2.0
"""Reads an archive whole: damaged objects, and objects that belong to no run."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.archive import seal
from kadenz.archive.objects import (
    EVERY_RUN,
    EVERY_SAMPLES,
    EVERY_TEXTS,
    is_object,
    run_object,
    run_of,
)
from kadenz.archive.place import Place
from kadenz.archive.restore import manifest_of, objects_of, restore_into
from kadenz.archive.rows import digest_of
from kadenz.archive.tables import lane_table, texts_of
from kadenz.config.manifest import Manifest
from kadenz.errors import NewerRun, StoreError
from kadenz.store import read_run


@dataclass
class Findings:
    """Findings of a check."""

    runs: int = 0  # intact
    damaged: dict[str, str] = field(default_factory=dict)  # run -> what is wrong with it
    newer: list[str] = field(default_factory=list)  # runs that only a newer kadenz can check
    orphans: list[str] = field(default_factory=list)  # of an adding that did not end: a day old
    recent: list[str] = field(default_factory=list)  # the same, or a run is just being added
    foreign: dict[str, str] = field(default_factory=dict)  # what is no object -> why
    unsealed: list[str] = field(default_factory=list)  # runs whose figures have no digest


def check(place: Place, progress: Callable[[int, int], None]) -> Findings:
    """Restores every run to a temporary folder, and compares each object with its digest.

    `progress` gets the number of checked runs and of all.
    """
    findings = Findings()
    every, findings.foreign = place.sorted_out(EVERY_RUN)
    objects: set[str] = set()  # of intact runs
    for number, object_name in enumerate(every):
        progress(number, len(every))
        month, id = run_of(object_name)
        try:
            objects |= objects_of(_checked(place, object_name), month)
        except NewerRun:
            findings.newer.append(id)
        except StoreError as error:
            findings.damaged[id] = error.message
        else:
            findings.runs += 1
            if seal.intact(place.read(object_name)) is None:
                findings.unsealed.append(id)
    progress(len(every), len(every))
    _look_for_the_rest(place, findings, objects)
    return findings


def _checked(place: Place, object_name: str) -> Manifest:
    """The manifest of a run whose samples and rows are those that were added; else StoreError."""
    month, id = run_of(object_name)
    rows = lane_table(place, object_name)
    with tempfile.TemporaryDirectory() as scratch:
        manifest = restore_into(place, month, id, Path(scratch))
        digest = digest_of(read_run(scratch))
    lanes = [
        (record.id, lane)
        for record in manifest.records
        for lane in [series.name for series in record.series] or [""]
    ]
    names = [texts_of(rows[column]) for column in ("run", "digest", "lane")]
    stored = zip(rows["record"].to_pylist(), *names, strict=True)
    if [*stored] != [(record, id, digest, lane) for record, lane in lanes]:
        raise place.damaged(object_name, f"its rows are not those of the run {id}")
    return manifest


def _look_for_the_rest(place: Place, findings: Findings, objects: set[str]) -> None:
    """Enters objects that are not of a run, fragments of objects, and what is none."""
    parts: list[str] = []
    for pattern in (EVERY_SAMPLES, EVERY_TEXTS):
        there, foreign = place.sorted_out(pattern)
        parts += there
        findings.foreign |= foreign
    lost = [part for part in parts if part not in objects and not _has_run(place, part)]
    for object_name in [*lost, *place.fragments()]:
        (findings.orphans if place.is_old(object_name) else findings.recent).append(object_name)


def _has_run(place: Place, part: str) -> bool:
    """Whether the run of such a part is in the archive now, and names it if it can be read."""
    month, id = run_of(part)
    if not place.exists(run_object(month, id)):
        return False
    try:
        return part in objects_of(manifest_of(place, month, id), month)
    except StoreError:
        return True


def mend(place: Place, findings: Findings) -> int:
    """Removes orphans, and all objects of damaged runs, which can then be added again.

    A part stays if its run was added meanwhile, and an orphan also if it was written again. Returns
    the number of removed objects.
    """
    count = 0

    def remove(object_name: str) -> None:
        nonlocal count
        place.remove(object_name)
        count += 1

    for object_name in findings.orphans:
        if place.is_old(object_name) and not (
            is_object(object_name) and _has_run(place, object_name)
        ):
            remove(object_name)
    for id in findings.damaged:
        rows = [row for row in _named(place, EVERY_RUN, id) if _is_damaged(place, row)]
        for object_name in rows:
            remove(object_name)  # first: from now on it is not visible
        patterns = (EVERY_SAMPLES, EVERY_TEXTS) if rows else ()
        for object_name in (part for pattern in patterns for part in _named(place, pattern, id)):
            if not _has_run(place, object_name):
                remove(object_name)
    return count


def _named(place: Place, pattern: str, id: str) -> list[str]:
    """The objects of a run among those that match."""
    return place.sorted_out(pattern.replace("/*.", f"/{glob.escape(id)}."))[0]


def _is_damaged(place: Place, object_name: str) -> bool:
    try:
        _checked(place, object_name)
    except NewerRun:
        return False
    except StoreError:
        return True
    return False
