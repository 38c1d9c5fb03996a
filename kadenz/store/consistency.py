# SPDX-License-Identifier: Apache-2.0
"""Relations inside a run.json, checked once when it is read. `config.manifest` has the ranges.

Every figure relies on them: a record's samples are its own, and a complete run has all its records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from kadenz.config.manifest import ClockEntry, EventEntry, LaneEntry, Manifest, RecordEntry
from kadenz.store.layout import lane_file

_FOLDER = re.compile(r"[^/.][^/]*")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.+")
NAME_BYTES = 200  # of a file system's 255: suffixes of folders, objects and new files have room


def is_name(text: str) -> bool:
    """Whether `text` can name a run, hence its folder and its objects in an archive.

    It is one part of a path, not hidden, of at most NAME_BYTES, and without control characters.
    """
    return bool(_FOLDER.fullmatch(text)) and text.isprintable() and len(text.encode()) <= NAME_BYTES


def contradictions(manifest: Manifest) -> Iterator[str]:
    """Each contradiction with its place: "$.records[2].id: 10, as in $.records[0]"."""
    if not is_name(manifest.id):
        yield f"$.id: {manifest.id[:NAME_BYTES]!r} is not the name of a folder"
    if not _is_moment(manifest.created):
        yield f"$.created: `{manifest.created}` is not a time with its zone"
    yield from _repeated(
        "$.conditions", "kind", (condition.kind for condition in manifest.conditions)
    )
    yield from _of_clock(manifest.clock)
    for number, event in enumerate(manifest.events):
        yield from _of_event(f"$.events[{number}]", event)
    yield from _repeated("$.records", "id", (record.id for record in manifest.records))
    for number, record in enumerate(manifest.records):
        yield from _of_record(f"$.records[{number}]", record)
    lacking = missing_records(manifest)
    if lacking and not manifest.partial:
        yield f"$.records: {lacking}, and the run is not partial"


def missing_records(manifest: Manifest) -> str:
    """ "2 of 9 planned records are missing: 12, 15"; "" if none is, or the plan is not stated."""
    there = {record.id for record in manifest.records}
    lacking = [id for id in manifest.planned if id not in there]
    if not lacking:
        return ""
    first = ", ".join(map(str, lacking[:5])) + (", …" if len(lacking) > 5 else "")
    return f"{len(lacking)} of {len(manifest.planned)} planned records are missing: {first}"


def _is_moment(text: str) -> bool:
    """Whether it has its date as kadenz writes it, whose month is a folder of an archive."""
    try:
        moment = datetime.fromisoformat(text)
        return bool(_MOMENT.fullmatch(text) and moment.tzinfo and moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return False


def _repeated(where: str, key: str, values: Iterable[object]) -> Iterator[str]:
    first: dict[object, int] = {}
    for number, value in enumerate(values):
        if value in first:
            yield f"{where}[{number}].{key}: {value}, as in {where}[{first[value]}]"
        first.setdefault(value, number)


def _of_clock(clock: ClockEntry) -> Iterator[str]:
    for key, measured in (("resolution", clock.resolution), ("read_cost", clock.read_cost)):
        if measured and not measured.min <= measured.median <= measured.max:
            yield f"$.clock.{key}: not in order: {measured.min}, {measured.median}, {measured.max}"
    rate = clock.rate
    if rate and not rate.low <= rate.hz <= rate.high:
        yield f"$.clock.rate: {rate.hz} Hz is outside its interval, {rate.low} to {rate.high}"
    for name, (least, most) in (clock.model.parameters if clock.model else {}).items():
        if least > most:
            yield f"$.clock.model.parameters.{name}: from {least} to {most}"


def _of_event(where: str, event: EventEntry) -> Iterator[str]:
    numbers = event.kind.count("{}")
    if not len(event.least) == len(event.greatest) == numbers:
        yield f"{where}: {numbers} numbers in `{event.kind}`, other counts of least and greatest"
    if event.first_cycle > event.last_cycle:
        yield f"{where}: from cycle {event.first_cycle} to {event.last_cycle}"


def _of_record(where: str, record: RecordEntry) -> Iterator[str]:
    if record.proof.failed > record.proof.checked:
        yield f"{where}.proof: {record.proof.failed} of {record.proof.checked} checks failed"
    if record.drains != sorted(set(record.drains)):
        yield f"{where}.drains: not in order"
    yield from _repeated(f"{where}.lanes", "name", (lane.name for lane in record.lanes))
    for number, lane in enumerate(record.lanes):
        yield from _of_lane(f"{where}.lanes[{number}]", record, lane)


def _of_lane(where: str, record: RecordEntry, lane: LaneEntry) -> Iterator[str]:
    expected = lane_file(record.id, record.bench, lane.name)
    if lane.file not in ("", expected):
        yield f"{where}.file: `{lane.file}`; the samples of this lane are in {expected}"
    if lane.taken and not lane.file:
        yield f"{where}: {lane.taken} samples taken, and no file"
    if record.status == "ok" and lane.overrun > lane.taken:
        yield f"{where}: overrun {lane.overrun} of {lane.taken} taken"
    if not lane.companion_of:
        return
    if lane.companion_of not in {series.name for series in record.series}:
        yield f"{where}.companion_of: `{lane.companion_of}` names no series of this record"
    elif not lane.name.startswith(f"{lane.companion_of}:"):
        yield f"{where}.name: `{lane.name}`, a companion of `{lane.companion_of}`"
