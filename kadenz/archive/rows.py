# SPDX-License-Identifier: Apache-2.0
"""A run as rows: one row for each lane, and one for each sample.

The row of a lane holds the distribution of its warm samples as well, as values with their counts:
exact percentiles over any number of runs then need no sample.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.analysis.differences import configuration
from kadenz.analysis.structures.windows import windows_of
from kadenz.analysis.systems import system_conditions
from kadenz.analysis.units import unit_of
from kadenz.archive.place import need_pyarrow
from kadenz.archive.statistics import QUANTILES
from kadenz.config.manifest import LaneEntry, Manifest, RecordEntry
from kadenz.store import Run

# Column -> Arrow type, in the order of the table `records` (docs/reference/archive.md).
COLUMNS = {
    "run": "string",
    "digest": "string",
    "name": "string",
    "label": "string",
    "commit": "string",
    "created": "timestamp[us]",
    "added": "timestamp[us]",
    "target": "string",
    "kernel": "string",
    "kernel_version": "string",
    "board": "string",
    "tier": "string",
    "instrument": "string",
    "arch": "string",
    "campaign": "string",
    "quick": "bool",
    "partial": "bool",
    "conditions": "string",
    "configuration": "string",
    "host": "string",
    "virtual": "string",
    "kadenz": "string",
    "compiler": "string",
    "image": "string",
    "record": "int32",
    "bench": "string",
    "params": "string",
    "lane": "string",
    "status": "string",
    "reason": "string",
    "class": "string",
    "unit": "string",
    "scale": "double",
    "cold": "int64",
    "planned": "int64",
    "taken": "int64",
    "missed": "int64",
    "not_measured": "int64",
    "overrun": "int64",
    "n": "int64",
    "min": "double",
    **dict.fromkeys(QUANTILES, "double"),
    "max": "double",
    "mean": "double",
    "sd": "double",
}
LISTS = {"values": "double", "counts": "int64"}  # the distribution of a lane
ROWS = 200_000  # lanes of a run that an archive takes
SAMPLES = 250_000_000  # of one benchmark of a run that an archive takes


def month_of(manifest: Manifest) -> str:
    """ "2026-11": the month in which the run began, UTC."""
    return manifest.created[:7]


def conditions_text(manifest: Manifest) -> str:
    """The conditions that change the system, as the column of that name holds them: JSON with
    sorted keys."""
    return json.dumps(system_conditions(manifest), sort_keys=True, ensure_ascii=False)


def params_text(params: dict[str, Any]) -> str:
    """The parameters of a point as the column of that name holds them: JSON with sorted keys."""
    return json.dumps(params, sort_keys=True, ensure_ascii=False)


def host_text(manifest: Manifest) -> str:
    """The machine that measured or emulated, as the column `host` holds it."""
    return f"{manifest.host.cpu} × {manifest.host.cpus}"


def commit_of(manifest: Manifest) -> str:
    """The version of the measured kernel's tree, else that of kadenz; "" if neither is known."""
    parts = manifest.build.parts if manifest.build else []
    kernel_versions = [part.version for part in parts if part.part == "kernel" and part.version]
    return kernel_versions[0] if kernel_versions else manifest.kadenz_describe


def digest_of(run: Run) -> str:
    """SHA-256 of run.json, which names the digest of every sample file."""
    return hashlib.sha256((run.path / "run.json").read_bytes()).hexdigest()


def lane_rows(run: Run, *, label: str, commit: str, added: str) -> Any:
    """The Arrow table of one run: a row per lane; a record without lanes has one row."""
    pa = need_pyarrow()
    head = _head(run, label=label, commit=commit, added=added)
    rows = []
    for record in run.manifest.records:
        # A record without a lane is a fact, too: n/a, and why.
        lanes: list[LaneEntry | None] = [*record.series] or [None]
        rows += [head | _figures(run, record, lane) for lane in lanes]
    return pa.Table.from_pylist(rows, schema=schema_of_rows())


def schema_of_rows() -> Any:
    """The Arrow schema of the table of a run."""
    pa = need_pyarrow()
    columns = [(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()]
    lists = [(name, pa.list_(pa.type_for_alias(kind))) for name, kind in LISTS.items()]
    return pa.schema([*columns, *lists])


def sample_tables(run: Run) -> Iterator[tuple[str, Any]]:
    """By benchmark: the table of all its samples and companions, cold ones included.

    Columns: run, record, lane, index, cold, ticks (whole numbers) or real (others), each as it was
    measured.
    """
    pa = need_pyarrow()
    for bench in dict.fromkeys(record.bench for record in run.manifest.records):
        parts = [
            _lane_samples(run, record, lane)
            for record in run.manifest.records
            if record.bench == bench
            for lane in record.lanes
            if lane.file
        ]
        if parts:
            yield bench, pa.concat_tables(parts)


def _lane_samples(run: Run, record: RecordEntry, lane: LaneEntry) -> Any:
    pa = need_pyarrow()
    values = np.asarray(run.samples(record, lane))
    n = values.size
    whole = values.dtype.kind in "iu"
    index = np.arange(n, dtype=np.int64)

    def same(text: str) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([text]))

    return pa.table(
        {
            "run": same(run.manifest.id),
            "record": pa.array(np.full(n, record.id, np.int32)),
            "lane": same(lane.name),
            "index": pa.array(index),
            "cold": pa.array(index < record.cold),
            "ticks": pa.array(values.astype(np.int64)) if whole else pa.nulls(n, pa.int64()),
            "real": pa.nulls(n, pa.float64()) if whole else pa.array(values.astype(np.float64)),
        }
    ).unify_dictionaries()


def _head(run: Run, *, label: str, commit: str, added: str) -> dict[str, Any]:
    """The columns that all rows of a run share."""
    manifest = run.manifest
    target, build = manifest.target, manifest.build
    every = {f"{group}: {key}": text for (group, key), text in configuration(manifest).items()}
    return {
        "run": manifest.id,
        "digest": digest_of(run),
        "name": manifest.name,
        "label": label,
        "commit": commit or commit_of(manifest),
        "created": _moment(manifest.created),
        "added": _moment(added),
        "target": target.name,
        "kernel": target.kernel,
        "kernel_version": f"{target.kernel_name} {target.kernel_version}",
        "board": target.board,
        "tier": target.tier,
        "instrument": target.instrument,
        "arch": target.arch,
        "campaign": manifest.campaign.name,
        "quick": manifest.campaign.quick,
        "partial": manifest.partial,
        "conditions": conditions_text(manifest),
        "configuration": json.dumps(every, ensure_ascii=False),
        "host": host_text(manifest),
        "virtual": manifest.host.virtual,
        "kadenz": f"{manifest.kadenz_version} {manifest.kadenz_describe}".strip(),
        "compiler": build.compiler_version if build else "",
        "image": build.elf_sha256 if build else "",
    }


def _figures(run: Run, record: RecordEntry, lane: LaneEntry | None) -> dict[str, Any]:
    """The columns of one lane; figures are in `unit`, and absent where the record is not usable."""
    unit = unit_of(record.unit, run.manifest.clock)
    row: dict[str, Any] = {
        "record": record.id,
        "bench": record.bench,
        "params": params_text(record.params),
        "lane": lane.name if lane else "",
        "status": record.status,
        "reason": record.reason,
        "class": unit.clock_class,
        "unit": unit.label,
        "scale": unit.scale,
        "cold": record.cold,
    }
    if lane is None:
        return row
    row |= {name: getattr(lane, name) for name in ("planned", "taken", "missed", "not_measured")}
    row["overrun"] = lane.overrun
    warm = np.asarray(run.samples(record, lane))[record.cold :] if lane.file else np.empty(0)
    if lane.file and (counted := windows_of(run, record, lane)) is not None:
        warm, row["unit"] = counted[0] / counted[1], f"{unit.label} per operation"
    row["n"] = warm.size
    if record.status == "ok" and warm.size:
        row |= _distribution(warm, unit.scale)
    return row


def _distribution(warm: NDArray[Any], scale: float) -> dict[str, Any]:
    """Order statistics by nearest rank, mean, standard deviation, and values with their counts."""
    values, counts = np.unique(warm, return_counts=True)
    figures = values.astype(np.float64) * scale
    reached = np.cumsum(counts)
    n = int(reached[-1])
    mean = float((figures * counts).sum() / n)
    spread = float((((figures - mean) ** 2) * counts).sum())
    ranks = {name: int(np.ceil(share * n)) for name, share in QUANTILES.items()}
    return {
        "min": float(figures[0]),
        **{name: float(figures[np.searchsorted(reached, r)]) for name, r in ranks.items()},
        "max": float(figures[-1]),
        "mean": mean,
        "sd": (spread / (n - 1)) ** 0.5 if n > 1 else None,
        "values": figures,
        "counts": counts,
    }


def _moment(text: str) -> Any:
    """ISO 8601 in UTC as a time without a zone, which is how Parquet holds it."""
    from datetime import UTC, datetime

    return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
