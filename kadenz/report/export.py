# SPDX-License-Identifier: Apache-2.0
"""Samples and figures for other programs, streamed, so that a run need not fit into memory.

docs/reference/export.md describes the columns. Each sample is in the column of its unit:
`value_ticks` is the raw clock value; `value_us`, `value_instructions`, ... is the same value in
the display unit. Each parameter has its own column, empty for benchmarks without it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from kadenz.analysis import analyse
from kadenz.analysis.parameters import columns_of
from kadenz.analysis.results import Samples
from kadenz.analysis.units import Unit, unit_of
from kadenz.config.manifest import LaneEntry, RecordEntry
from kadenz.config.params import Params
from kadenz.errors import StoreError, ToolMissing
from kadenz.report.summary import Row, record_rows, run_summary
from kadenz.report.whole import replaced
from kadenz.store import Run
from kadenz.visible_text import spreadsheet_cell

CHUNK = 1 << 16  # samples formatted at once: about 5 MB of text
ROW_GROUP = 1 << 20  # rows of a parquet row group
_OF_RECORD = ("run", "target", "clock_class", "record", "bench", "status")
_OF_SAMPLE = ("lane", "index", "cold")


@dataclass(frozen=True)
class _Series:
    """A lane to be exported."""

    run: Run
    record: RecordEntry
    lane: LaneEntry
    unit: Unit
    samples: Samples
    beside: dict[str, Samples]  # by kind of companion, one value per sample


class _Table:
    """The columns of some runs."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        records = [record for run in runs for record in run.manifest.records]
        # Text as soon as one record has a word there.
        parameters: dict[str, type] = {}
        for record in records:
            for name, value in record.params.items():
                parameters[name] = str if isinstance(value, str) else parameters.get(name, int)
        self.parameters = dict(sorted(parameters.items()))
        # Every kind of companion, in the order of the records.
        self.kinds = list(
            dict.fromkeys(
                kind for each in records for lane in each.series for kind in each.companions(lane)
            )
        )
        # Ticks if any record counts them, then one for each unit shown.
        ticks = ["value_ticks"] if any(record.unit == "ticks" for record in records) else []
        shown = [
            _shown(unit_of(record.unit, run.manifest.clock))
            for run in runs
            for record in run.manifest.records
        ]
        self.values = list(dict.fromkeys([*ticks, *shown]))
        self._behind = [*_OF_SAMPLE, *self.values, *map(_beside, self.kinds)]
        self.named = columns_of(self.parameters, {*_OF_RECORD, *self._behind})

    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*_OF_RECORD, *self.named.values(), *self._behind]

    def series(self) -> Iterator[_Series]:
        """Every lane of every run."""
        for run in self._runs:
            yield from _series(run)

    def cells(self, params: Params, named: dict[str, str]) -> Row:
        """The parameters of a point by their columns `named`; None for those it lacks."""
        return {
            named[name]: kind(params[name]) if name in params else None
            for name, kind in self.parameters.items()
        }

    def identity(self, series: _Series) -> Row:
        """The cells that all samples of a lane share."""
        return _identity(series) | self.cells(series.record.params, self.named)


def _series(run: Run) -> Iterator[_Series]:
    for record in run.manifest.records:
        unit = unit_of(record.unit, run.manifest.clock)
        for lane in record.series:
            samples = run.samples(record, lane)
            beside = {
                kind: run.samples(record, other)[: samples.size]
                for kind, other in record.companions(lane).items()
            }
            yield _Series(run, record, lane, unit, samples, beside)


def _beside(kind: str) -> str:
    """The column of a companion; a parameter may have the same name."""
    return "sample_" + kind.replace("-", "_")


def _shown(unit: Unit) -> str:
    return f"value_{unit.key}"


def _identity(series: _Series) -> Row:
    manifest, record = series.run.manifest, series.record
    return {
        "run": manifest.id,
        "target": manifest.target.name,
        "clock_class": manifest.clock.clock_class,
        "record": record.id,
        "bench": record.bench,
        "status": record.status,
    }


def to_csv(runs: Sequence[Run], out: TextIO, *, summary: bool = False) -> None:
    """Comma-separated rows with a header (RFC 4180). An empty cell means no value."""
    if summary:
        _summary_csv(runs, out)
        return
    table = _Table(runs)
    kinds, value_columns = table.kinds, table.values
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(spreadsheet_cell, table.columns()))
    for series in table.series():
        head = _line([*table.identity(series).values(), series.lane.name])
        ticks = value_columns.index("value_ticks") if series.record.unit == "ticks" else None
        shown = value_columns.index(_shown(series.unit))
        before, between, after = _commas(ticks, shown, len(value_columns))
        for start in range(0, series.samples.size, CHUNK):
            part = series.samples[start : start + CHUNK]
            raw = part.tolist()
            figures = _figures(part, series.unit)
            cold = series.record.cold
            if ticks is None or ticks == shown:
                rows = (
                    f"{head},{i},{'true' if i < cold else 'false'}{before}{figure:.10g}{after}"
                    for i, figure in enumerate(figures, start)
                )
            else:
                rows = (
                    f"{head},{i},{'true' if i < cold else 'false'}{before}{tick}{between}"
                    f"{figure:.10g}{after}"
                    for i, (tick, figure) in enumerate(zip(raw, figures, strict=True), start)
                )
            widened = _widened(rows, series, kinds, start) if kinds else rows
            out.write("\n".join(widened) + "\n")


def _widened(rows: Iterator[str], series: _Series, kinds: list[str], start: int) -> Iterator[str]:
    """CSV lines with each sample's companions; empty cells for lanes without them."""
    columns: list[Iterable[Any]] = [
        series.beside[kind][start : start + CHUNK].tolist() if kind in series.beside else repeat("")
        for kind in kinds
    ]
    for row, *cells in zip(rows, *columns, strict=False):
        yield ",".join((row, *map(str, cells)))


def _line(values: list[Any]) -> str:
    """Joins cells as the csv module does: a cell with the end of a line is quoted."""
    out = io.StringIO()
    cells = ["" if value is None else spreadsheet_cell(value) for value in values]
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue().removesuffix("\n")


def _commas(ticks: int | None, shown: int, count: int) -> tuple[str, str, str]:
    """Separators before the first value, between the two, and after the last."""
    first = shown if ticks is None else min(ticks, shown)
    between = "" if ticks is None else "," * (shown - ticks)
    return "," * (first + 1), between, "," * (count - 1 - shown)


def _figures(part: Samples, unit: Unit) -> list[float]:
    figures: list[float] = (part * np.float64(unit.scale)).tolist()
    return figures


def _summary_rows(runs: Sequence[Run]) -> list[Row]:
    """One row per lane; parameters and ranks as columns; gaps in words."""
    table, rows, params = _Table(runs), [], []
    for run in runs:
        head = {
            "run": run.manifest.id,
            "target": run.manifest.target.name,
            "load": run.manifest.condition_values.get("load", ""),
            "partial": run.manifest.partial,
        }
        for record in analyse(run).records:
            for row in record_rows(record):
                flat = {key: value for key, value in row.items() if not isinstance(value, dict)}
                flat |= {f"native_{name}": rank for name, rank in row["ranks"].items()}
                flat["gaps"] = "; ".join(f"{k}: {v}" for k, v in row.get("gaps", {}).items())
                rows.append(head | flat)
                params.append(row["params"])
    named = columns_of(table.parameters, {column for row in rows for column in row})
    return [row | table.cells(point, named) for row, point in zip(rows, params, strict=True)]


def _summary_csv(runs: Sequence[Run], out: TextIO) -> None:
    rows = _summary_rows(runs)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(spreadsheet_cell, columns))
    for row in rows:
        cells = (row.get(column) for column in columns)
        writer.writerow("" if cell is None else spreadsheet_cell(cell) for cell in cells)


def to_json(runs: Sequence[Run], out: TextIO, *, summary: bool = False) -> None:
    """One object with `runs`: target, clock, and records with their samples (or figures)."""
    if summary:
        answer = {"runs": [run_summary(analyse(run)) for run in runs]}
        json.dump(answer, out, indent=1, ensure_ascii=False)
        out.write("\n")
        return
    out.write('{"runs": [\n')
    for number, run in enumerate(runs):
        out.write(",\n" if number else "")
        _write_run(run, out)
    out.write("]}\n")


def _write_run(run: Run, out: TextIO) -> None:
    manifest = run.manifest
    head = {
        "run": manifest.id,
        "target": manifest.target.name,
        "clock": manifest.clock.name,
        "clock_class": manifest.clock.clock_class,
        "conditions": manifest.condition_values,
        "partial": manifest.partial,
    }
    out.write(json.dumps(head, ensure_ascii=False)[:-1] + ', "series": [')
    for number, series in enumerate(_series(run)):
        about = _identity(series) | {
            "params": series.record.params,
            "lane": series.lane.name,
            "cold": series.record.cold,
            "unit": series.unit.key,
            "figure_per_value": series.unit.scale,
        }
        del about["run"]
        name = "values_ticks" if series.record.unit == "ticks" else f"values_{series.unit.key}"
        out.write(",\n" if number else "\n")
        out.write(json.dumps(about, ensure_ascii=False)[:-1])
        out.write(f", {json.dumps(name, ensure_ascii=False)}: ")
        _write_numbers(out, series.samples)
        if series.beside:
            out.write(', "beside": {')
            for place, (kind, values) in enumerate(series.beside.items()):
                out.write((", " if place else "") + json.dumps(kind) + ": ")
                _write_numbers(out, values)
            out.write("}")
        out.write("}")
    out.write("\n]}\n")


def _write_numbers(out: TextIO, values: Samples) -> None:
    out.write("[")
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK].tolist()
        out.write(("," if start else "") + ",".join(map(repr, part)))
    out.write("]")


def to_parquet(runs: Sequence[Run], output: Path, *, summary: bool = False) -> None:
    """A parquet file with the columns of the CSV; needs pyarrow (ToolMissing)."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ToolMissing(
            "pyarrow is not installed", remedy="Run `pip install pyarrow`, or write a .csv file"
        ) from None
    try:
        with replaced(output) as fresh:
            if summary:
                pq.write_table(pa.Table.from_pylist(_uniform(_summary_rows(runs))), fresh)
                return
            table = _Table(runs)
            schema = _schema(table, pa)
            with pq.ParquetWriter(fresh, schema, compression="zstd") as writer:
                for series in table.series():
                    for start in range(0, series.samples.size, ROW_GROUP):
                        writer.write_table(_group(table, series, start, schema, pa))
    except OSError as error:
        raise _cannot_write(output, error) from None


def _uniform(rows: list[Row]) -> list[Row]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return [{key: row.get(key) for key in columns} for row in rows]


def _schema(table: _Table, pa: Any) -> Any:
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {
        "run": text,
        "target": text,
        "clock_class": text,
        "record": pa.uint32(),
        "bench": text,
        "status": text,
        "lane": text,
        "index": pa.uint32(),
        "cold": pa.bool_(),
        "value_ticks": pa.int64(),
    }
    types = {int: pa.int64(), str: text}
    kinds |= {table.named[name]: types[kind] for name, kind in table.parameters.items()}
    kinds |= {_beside(kind): pa.int64() for kind in table.kinds}
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in table.columns()])


def _group(table: _Table, series: _Series, start: int, schema: Any, pa: Any) -> Any:
    part = series.samples[start : start + ROW_GROUP]
    index = np.arange(start, start + part.size, dtype=np.uint32)
    same = table.identity(series) | {"lane": series.lane.name}
    beside = {_beside(kind): values for kind, values in series.beside.items()}
    arrays = []
    for field in schema:
        if field.name == "index":
            column = pa.array(index)
        elif field.name == "cold":
            column = pa.array(index < series.record.cold)
        elif field.name == "value_ticks" and series.record.unit == "ticks":
            column = pa.array(part.astype(np.int64))
        elif field.name == _shown(series.unit):
            column = pa.array(part * np.float64(series.unit.scale))
        elif field.name in beside:
            values = beside[field.name][start : start + ROW_GROUP]
            column = pa.array(values.astype(np.int64))
        elif same.get(field.name) is None:
            column = pa.nulls(part.size, field.type)
        elif pa.types.is_dictionary(field.type):
            codes = pa.array(np.zeros(part.size, dtype=np.int32))
            column = pa.DictionaryArray.from_arrays(codes, pa.array([same[field.name]]))
        else:
            column = pa.array(np.full(part.size, same[field.name])).cast(field.type)
        arrays.append(column)
    return pa.table(arrays, schema=schema)


@contextmanager
def opened(output: Path) -> Iterator[TextIO]:
    """A text file opened for writing. It replaces `output` when it is whole.

    StoreError if opening or any write fails: the old file then stays.
    """
    try:
        with replaced(output) as fresh, fresh.open("w", encoding="utf-8", newline="") as file:
            yield file
    except OSError as error:
        raise _cannot_write(output, error) from None


def _cannot_write(output: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{output}: cannot be written: {error.strerror or error}",
        remedy="Choose another --output, or free some space",
    )
