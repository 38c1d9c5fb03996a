# SPDX-License-Identifier: Apache-2.0
"""Runs in Python, for notebooks and scripts (docs/reference/python.md).

import kadenz
run = kadenz.Run("latest")
run["itc/queue"][0].values
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kadenz.analysis.named_point import NamedPoint
from kadenz.analysis.units import unit_of
from kadenz.config.lab_file import output_folder
from kadenz.config.manifest import LaneEntry, Manifest, RecordEntry
from kadenz.config.params import Value
from kadenz.errors import ToolMissing, UsageError
from kadenz.store import read_run
from kadenz.store.names import named

if TYPE_CHECKING:
    from kadenz.store import Run as Stored


class Record(NamedPoint):
    """One benchmark point of a run."""

    def __init__(self, run: Stored, entry: RecordEntry) -> None:
        self._run = run
        self.entry = entry

    @property
    def status(self) -> str:
        """ "ok", "invalid", "n/a" or "failed"; `entry.reason` says why."""
        return self.entry.status

    @property
    def unit(self) -> str:
        """The unit of `values`: "µs", "instructions", …"""
        return unit_of(self.entry.unit, self._run.manifest.clock).label

    @property
    def lanes(self) -> list[str]:
        """The names of its series of samples."""
        return [lane.name for lane in self.entry.series]

    @property
    def values(self) -> NDArray[np.float64]:
        """The samples of all lanes in `unit`, without the cold ones: what statistics use. 1-d.

        StoreError if a file of samples is damaged.
        """
        every = [self.in_unit(lane)[self.entry.cold :] for lane in self.lanes]
        return np.concatenate(every) if every else np.empty(0)

    def in_unit(self, lane: str | int = 0) -> NDArray[np.float64]:
        """All samples of a lane in `unit`, cold ones first. 1-d."""
        scale = unit_of(self.entry.unit, self._run.manifest.clock).scale
        return np.asarray(self.ticks(lane), dtype=np.float64) * scale

    def ticks(self, lane: str | int = 0) -> NDArray[Any]:
        """All samples of a lane as measured, cold ones first: 1-d, read only, from the disk."""
        return self._run.samples(self.entry, self._lane(lane))

    def companion(self, kind: str, lane: str | int = 0) -> NDArray[Any]:
        """One value for each sample of a lane: "cycle", "cpu", … UsageError if there is none."""
        found = self.entry.companions(self._lane(lane))
        if kind not in found:
            raise UsageError(
                f"{self!r} has no companion `{kind}`",
                remedy=f"It has {', '.join(found) or 'none'}",
            )
        return self._run.samples(self.entry, found[kind])

    def _lane(self, lane: str | int) -> LaneEntry:
        for number, entry in enumerate(self.entry.series):
            if lane in (number, entry.name):
                return entry
        raise UsageError(f"{self!r} has no lane {lane!r}", remedy=f"It has {self.lanes}")

    def __repr__(self) -> str:
        words = [self.bench, *(f"{name}={value}" for name, value in self.params.items())]
        return f"<Record {' '.join(words)}: {self.status}>"


class Run:
    """One run folder, by its path or by the name of its run.

    UsageError if there is no such run, or if several have this name; StoreError if it is damaged.
    """

    def __init__(self, run: str | Path) -> None:
        found = (
            [Path(run)] if Path(run).exists() else named(output_folder(), str(run), warnings.warn)
        )
        if len(found) > 1:
            raise UsageError(
                f"{run}: the name of {len(found)} runs",
                remedy="kadenz.runs(name) gives all of them",
            )
        self._run = read_run(found[0] if found else run)
        self.all = [Record(self._run, entry) for entry in self._run.manifest.records]

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._run.path

    @property
    def manifest(self) -> Manifest:
        """run.json as objects."""
        return self._run.manifest

    @property
    def benchmarks(self) -> list[str]:
        """The names of its benchmarks, in the order of the run."""
        return list(dict.fromkeys(record.bench for record in self.all))

    def __getitem__(self, bench: str) -> list[Record]:
        """The records of a benchmark. KeyError if the run has none."""
        found = self.records(bench)
        if not found:
            raise KeyError(bench)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.benchmarks)

    def records(self, bench: str = "", **params: Value) -> list[Record]:
        """The records of a benchmark (of all, without a name) with these parameters."""
        return [
            record
            for record in self.all
            if bench in ("", record.bench) and params.items() <= record.params.items()
        ]

    def columns(self, bench: str = "") -> dict[str, NDArray[Any]]:
        """One entry for each sample, by column: record, bench, lane, index, cold, value, unit.

        A column for each parameter follows; None where a benchmark has no such parameter.
        """
        wanted = [(record, lane) for record in self.records(bench) for lane in record.lanes]
        counts = [record.in_unit(lane).size for record, lane in wanted]
        names = dict.fromkeys(name for record, _ in wanted for name in record.params)

        def each(values: list[Any], dtype: Any = object) -> NDArray[Any]:
            return np.repeat(np.array(values, dtype=dtype), counts)

        def joined(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
            return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)

        index = joined([np.arange(count) for count in counts], np.int64)
        return {
            "record": each([record.entry.id for record, _ in wanted], np.int64),
            "bench": each([record.bench for record, _ in wanted]),
            "lane": each([lane for _, lane in wanted]),
            "index": index,
            "cold": index < each([record.entry.cold for record, _ in wanted], np.int64),
            "value": joined([record.in_unit(lane) for record, lane in wanted], np.float64),
            "unit": each([record.unit for record, _ in wanted]),
            **{name: each([record.params.get(name) for record, _ in wanted]) for name in names},
        }

    def to_pandas(self, bench: str = "") -> Any:
        """`columns` as a DataFrame. ToolMissing without pandas."""
        try:
            import pandas as pd  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise ToolMissing("pandas is not installed", remedy="pip install pandas") from None
        return pd.DataFrame(self.columns(bench))

    def __repr__(self) -> str:
        made = self.manifest
        return f"<Run {made.id}: {made.target.name}, {len(self.all)} records>"


def runs(name: str = "latest", folder: str | Path | None = None) -> list[Run]:
    """The runs of that name in `folder`; default: those of the latest call of `kadenz run`."""
    return [Run(path) for path in named(Path(folder or output_folder()), name, warnings.warn)]
