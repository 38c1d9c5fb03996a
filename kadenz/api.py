# SPDX-License-Identifier: Apache-2.0
"""Runs in Python, for notebooks and scripts (docs/reference/python.md).

import kadenz
run = kadenz.Run("latest")
run["itc/queue"][0].figure("p99")
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kadenz.analysis import LaneResult, RecordResult, analyse_record
from kadenz.analysis.named_point import NamedPoint
from kadenz.analysis.parameters import columns_of
from kadenz.analysis.runs import refusal
from kadenz.analysis.units import Unit, unit_of
from kadenz.config.lab_file import output_folder
from kadenz.config.manifest import ClockClass, LaneEntry, Manifest, RecordEntry
from kadenz.config.params import Value
from kadenz.errors import NothingThere, ToolMissing, UsageError
from kadenz.stats.mean_interval import MeanInterval
from kadenz.stats.percentiles import Percentile
from kadenz.store import read_run
from kadenz.store.names import named

if TYPE_CHECKING:
    from kadenz.store import Run as Stored

Columns = dict[str, NDArray[Any]]


class UnknownName(UsageError, KeyError):
    """A benchmark, parameter, lane, companion or figure that is not there.

    The remedy names those that are.
    """


@dataclass(frozen=True)
class Figure:
    """A statistic of a lane's warm samples in `unit`, with its interval [low, high].

    The interval has `confidence`; all three are None for a statistic without one (least, largest,
    standard deviation), and where the samples are too few for one.
    """

    figure: str  # "median", "p99", …
    value: float
    low: float | None
    high: float | None
    confidence: float | None
    unit: str
    clock_class: ClockClass  # how far its clock may be trusted

    def __str__(self) -> str:
        interval = "" if self.low is None else f" [{self.low:g}, {self.high:g}]"
        return f"{self.value:g}{interval} {self.unit}"


class Record(NamedPoint):
    """One benchmark point of a run."""

    def __init__(self, run: Stored, entry: RecordEntry) -> None:
        self._run = run
        self.entry = entry

    @property
    def target(self) -> str:
        """Where it was measured: "freertos/stm32f4@emulated"."""
        return self._run.manifest.target.name

    @property
    def status(self) -> str:
        """ "ok", "invalid", "n/a" or "failed"; `entry.reason` says why."""
        return self.entry.status

    @property
    def unit(self) -> str:
        """The unit of `values`: "µs", "instructions", …"""
        return self._unit.label

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
        return np.asarray(self.ticks(lane), dtype=np.float64) * self._unit.scale

    def ticks(self, lane: str | int = 0) -> NDArray[Any]:
        """All samples of a lane as measured, cold ones first: 1-d, read only, from the disk."""
        return self._run.samples(self.entry, self._lane(lane))

    def companion(self, kind: str, lane: str | int = 0) -> NDArray[Any]:
        """One value for each sample of a lane: "cycle", "cpu", …"""
        beside = self.entry.companions(self._lane(lane))
        if kind not in beside:
            raise _unknown(self, "companion", kind, beside)
        return self._run.samples(self.entry, beside[kind])

    def figures(self, lane: str | int = 0) -> dict[str, Figure]:
        """The statistics of a lane by name: mean, sd, min, max, median, p90, p95, p99, …

        Those of tables and reports (docs/explanation/statistics.md); of edges, they describe the
        jitter. Records of batches and of windows also have per_execution, in their main lane: of an
        iteration less the empty loop, or of an operation. A percentile is among them from the
        number of samples that it needs. UsageError if the record gives no figures, with the reason.
        """
        return {figure.figure: figure for figure in self._figures(self._analysed(lane))}

    def figure(self, name: str, lane: str | int = 0) -> Figure:
        """One of `figures`. UnknownName if it is not there, with what it needs."""
        known = self.figures(lane)
        if name not in known:
            percentile = self._analysed(lane).percentile(name)
            if percentile is None:
                raise _unknown(self, "figure", name, known)
            raise UnknownName(
                f"{self!r} has no figure `{name}`: {percentile.reason}",
                remedy="Measure more samples",
            )
        return known[name]

    @property
    def gives_figures(self) -> bool:
        """Whether `figures` has any: not for a record that is n/a, failed or invalid."""
        return not refusal(self.entry) and bool(self.lanes)

    @property
    def _unit(self) -> Unit:
        return unit_of(self.entry.unit, self._run.manifest.clock)

    @cached_property
    def _result(self) -> RecordResult:
        return analyse_record(self._run, self.entry)

    def _analysed(self, lane: str | int) -> LaneResult:
        if not self._result.usable:
            raise UsageError(f"{self!r} gives no figures: {self._result.reason}")
        entry = self._lane(lane)
        return next(result for result in self._result.lanes if result.entry is entry)

    def _figures(self, lane: LaneResult) -> Iterator[Figure]:
        if (summary := lane.summary) is None:
            return
        yield self._figure("mean", summary.mean, lane.mean)
        if summary.sd is not None:
            yield self._figure("sd", summary.sd)
        yield self._figure("min", summary.min)
        yield self._figure("max", summary.max)
        yield self._figure("median", summary.median, lane.percentile("p50"))
        for level in lane.percentiles:
            if level.value is not None and level.level != 0.5:
                yield self._figure(level.name, level.value, level)
        if lane is self._result.main and self._result.per_execution is not None:
            yield self._figure("per_execution", self._result.per_execution)

    def _figure(
        self, name: str, ticks: float, of: MeanInterval | Percentile | None = None
    ) -> Figure:
        unit = self._unit
        if of is None or of.low is None or of.high is None:
            return Figure(name, unit.figure(ticks), None, None, None, unit.label, unit.clock_class)
        low, high = unit.figure(of.low), unit.figure(of.high)
        return Figure(
            name, unit.figure(ticks), low, high, of.confidence, unit.label, unit.clock_class
        )

    def _lane(self, lane: str | int) -> LaneEntry:
        for number, entry in enumerate(self.entry.series):
            if lane in (number, entry.name):
                return entry
        raise _unknown(self, "lane", lane, self.lanes)

    def __repr__(self) -> str:
        parts = [self.bench, *(f"{name}={value}" for name, value in self.params.items())]
        return f"<Record {' '.join(parts)}: {self.status}>"


class Run:
    """One run folder, by its path or by the name of its run.

    UsageError if there is no such run, or if several have this name; StoreError if it is damaged.
    """

    def __init__(self, run: str | Path) -> None:
        paths = [Path(run)] if Path(run).exists() else _named(str(run), None)
        if len(paths) > 1:
            raise UsageError(
                f"{run}: the name of {len(paths)} runs",
                remedy="kadenz.runs(name) gives all of them",
            )
        self._run = read_run(paths[0])
        self.all = [Record(self._run, entry) for entry in self._run.manifest.records]

    @property
    def path(self) -> Path:
        """The folder of the run."""
        return self._run.path

    @property
    def manifest(self) -> Manifest:
        """The content of run.json, as typed objects."""
        return self._run.manifest

    @property
    def target(self) -> str:
        """Where it was measured: "freertos/stm32f4@emulated"."""
        return self.manifest.target.name

    @property
    def benchmarks(self) -> list[str]:
        """The names of its benchmarks, in the order of the run."""
        return list(dict.fromkeys(record.bench for record in self.all))

    def __getitem__(self, bench: str) -> list[Record]:
        """The records of a benchmark. UnknownName, a KeyError, if the run has none."""
        return self.records(bench)

    def __iter__(self) -> Iterator[str]:
        return iter(self.benchmarks)

    def records(self, bench: str = "", **params: Value) -> list[Record]:
        """The records of a benchmark (of all, without a name) with these parameters.

        UnknownName for a benchmark or a parameter that the run does not have; [] if no point has
        these values together.
        """
        if bench not in ("", *self.benchmarks):
            raise _unknown(self, "benchmark", bench, self.benchmarks)
        matches = [record for record in self.all if bench in ("", record.bench)]
        known = _parameters(matches)
        for name in params:
            if name not in known:
                raise _unknown(self, f"parameter of {bench}" if bench else "parameter", name, known)
        return [record for record in matches if params.items() <= record.params.items()]

    def columns(self, bench: str = "") -> Columns:
        """One entry for each sample, by column: target, record, bench, lane, index, cold, value,
        unit, and each parameter.

        A parameter is an integer column, a float column with NaN if a record lacks it, or a column
        of texts with None.
        """
        wanted = [(record, lane) for record in self.records(bench) for lane in record.lanes]
        series = [record.in_unit(lane) for record, lane in wanted]
        counts = [samples.size for samples in series]
        index = _joined([np.arange(count) for count in counts], np.int64)
        cold = np.repeat(np.array([record.entry.cold for record, _ in wanted], np.int64), counts)
        table = {
            **_point_columns(wanted, counts),
            "index": index,
            "cold": index < cold,
            "value": _joined(series, np.float64),
            "unit": _repeated([record.unit for record, _ in wanted], counts),
        }
        return table | _parameter_columns(wanted, counts, table)

    def figures(self, bench: str = "") -> Columns:
        """One entry for each statistic of each lane: target, record, bench, lane, the fields of
        Figure, and each parameter. Records without figures have no row."""
        wanted = [
            (record, lane)
            for record in self.records(bench)
            if record.gives_figures
            for lane in record.lanes
        ]
        lists = [list(record.figures(lane).values()) for record, lane in wanted]
        counts = [len(figures) for figures in lists]
        rows = [figure for figures in lists for figure in figures]
        table = {
            **_point_columns(wanted, counts),
            **{f.name: _column([getattr(row, f.name) for row in rows]) for f in fields(Figure)},
        }
        return table | _parameter_columns(wanted, counts, table)

    def to_pandas(self, bench: str = "", *, figures: bool = False) -> Any:
        """`columns`, or with `figures` these, as a DataFrame. ToolMissing without pandas."""
        try:
            import pandas as pd  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise ToolMissing("pandas is not installed", remedy="pip install pandas") from None
        return pd.DataFrame(self.figures(bench) if figures else self.columns(bench))

    def __repr__(self) -> str:
        return f"<Run {self.manifest.id}: {self.target}, {len(self.all)} records>"


def runs(name: str = "latest", folder: str | Path | None = None) -> list[Run]:
    """The runs of that name in `folder`, oldest first; default: those of the latest `kadenz run`.

    UsageError if there is none.
    """
    return [Run(path) for path in _named(name, folder)]


def _named(name: str, folder: str | Path | None) -> list[Path]:
    place = Path(folder or output_folder())
    paths = named(place, name, warnings.warn)
    if not paths:
        raise NothingThere(
            f"{name}: no run of this name in {place}", remedy="`kadenz runs` lists them"
        )
    return paths


def _unknown(whose: Run | Record, kind: str, name: object, known: Iterable[str]) -> UnknownName:
    """The error for a name that is not there, with the nearest name, or all of them."""
    names = list(known)
    near = get_close_matches(str(name), names, 1, 0.5)
    remedy = f"Did you mean `{near[0]}`?" if near else f"It has {', '.join(names) or 'none'}"
    return UnknownName(f"{whose!r} has no {kind} `{name}`", remedy=remedy)


def _parameters(records: Iterable[Record]) -> list[str]:
    """The names of all parameters, in the order in which they appear."""
    return list(dict.fromkeys(name for record in records for name in record.params))


Wanted = list[tuple[Record, str]]  # records, each with one of its lanes


def _point_columns(wanted: Wanted, counts: list[int]) -> Columns:
    return {
        "target": _repeated([record.target for record, _ in wanted], counts),
        "record": _repeated([record.entry.id for record, _ in wanted], counts),
        "bench": _repeated([record.bench for record, _ in wanted], counts),
        "lane": _repeated([lane for _, lane in wanted], counts),
    }


def _parameter_columns(wanted: Wanted, counts: list[int], others: Columns) -> Columns:
    records = [record for record, _ in wanted]
    return {
        column: _repeated([record.params.get(name) for record in records], counts)
        for name, column in columns_of(_parameters(records), others).items()
    }


def _repeated(values: list[Any], counts: list[int]) -> NDArray[Any]:
    return np.repeat(_column(values), counts)


def _column(values: list[Any]) -> NDArray[Any]:
    """Values as one array: integers, floats with NaN for None, or objects."""
    kinds = {type(value) for value in values}
    if kinds == {int}:
        return np.array(values, dtype=np.int64)
    if kinds and kinds <= {int, float, type(None)}:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=object)


def _joined(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
