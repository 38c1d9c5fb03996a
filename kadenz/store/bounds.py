# SPDX-License-Identifier: Apache-2.0
"""Writes and reads the bounds of a run folder: bounds.json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from kadenz.config.bounds import LaneBound, RunBounds
from kadenz.errors import StoreError
from kadenz.json_text import read_json
from kadenz.regular_files import read_regular
from kadenz.store.layout import BOUNDS
from kadenz.store.reader import Run


class _Version(msgspec.Struct):
    """The only key common to all versions."""

    version: int


def write_bounds(folder: Path, bounds: RunBounds) -> None:
    """Stores the bounds of a run, whole or not at all. StoreError if that fails."""
    text = msgspec.json.format(msgspec.json.encode(bounds), indent=1)
    fresh = folder / f".{BOUNDS}"
    try:
        fresh.unlink(missing_ok=True)  # of a killed writer; a link there is not followed
        with fresh.open("xb") as file:
            file.write(text + b"\n")
        fresh.replace(folder / BOUNDS)
    except OSError as error:
        raise StoreError(
            f"{folder / BOUNDS}: cannot be written: {error.strerror}",
            remedy="Free some space, then measure again",
        ) from None


def read_bounds(run: Run) -> RunBounds | None:
    """The bounds of a run; None if `kadenz bound` did not measure it.

    StoreError for a file that is damaged, or of another version.
    """
    file = run.path / BOUNDS
    try:
        text = read_regular(file, inside=run.path)
        version = read_json(text, _Version).version
        bounds = read_json(text, RunBounds) if version == RunBounds.VERSION else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(file, error.strerror or str(error)) from None
    except msgspec.DecodeError as error:
        raise _damaged(file, str(error)) from None
    if bounds is None:
        raise StoreError(
            f"{file}: bounds of version {version}; this kadenz reads version {RunBounds.VERSION}",
            remedy="Repeat `kadenz bound` with this kadenz",
        )
    for what in _contradictions(bounds, run):
        raise _damaged(file, what)
    return bounds


def _contradictions(bounds: RunBounds, run: Run) -> Iterator[str]:
    """Records and sums that the run or the file does not have."""
    benches = {record.id: record.bench for record in run.manifest.records}
    names = [service.bench for service in bounds.services]
    if len({*names}) != len(names):
        yield "a service twice"
    if bounds.unit != run.manifest.clock.unit:
        yield f"its unit is {bounds.unit}, the run's {run.manifest.clock.unit}"
    for service in bounds.services:
        if {benches.get(record) for record in service.records} != {service.bench}:
            yield f"{service.bench} has other records in run.json"
        for end in (service.handler, service.task):
            yield from (f"{service.bench}: {what}" for what in _of_lane(end))


def _of_lane(end: LaneBound) -> Iterator[str]:
    if (end.bound is None) != bool(end.why_not):
        yield "neither a bound nor a reason, or both"
    if end.bound is not None and end.bound != sum(end.parts.values()):
        yield "the parts are not the bound"


def _damaged(file: Path, what: str) -> StoreError:
    return StoreError(
        f"{file}: no bounds of this run: {what}",
        remedy="Copy the folder again from its origin, or repeat `kadenz bound`",
    )
