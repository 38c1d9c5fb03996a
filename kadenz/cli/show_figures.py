# SPDX-License-Identifier: Apache-2.0
"""The figures of one run as tables for a terminal: one wide table, or one a benchmark.

Where the wide table does not fit, each benchmark gets a heading and intervals stand below their
figures: nothing is cut.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kadenz.analysis import LaneResult, RecordResult, RunResult

# Both layouts' columns of figures; a statistic's interval follows it.
_FIGURES = ("n", "median", "95 %", "p99", "95 %", "max")


@dataclass(frozen=True)
class _Row:
    """A lane, or a record without figures. `said` is markup, `figures` are as _FIGURES."""

    bench: str
    point: str
    lane: str
    figures: tuple[str, ...]
    unit: str
    said: str


def write_figures(screen: Any, result: RunResult) -> None:
    """Every record of `result`, what was not measured, and why a percentile is missing."""
    from rich.markup import escape

    from kadenz.cli.console import fits
    from kadenz.report import labels

    notes = result.manifest.benchmark_notes
    rows = [row for record in result.records for row in _rows(record, record.bench in notes)]
    wide = _wide(rows)
    if fits(screen, wide):
        screen.print(wide)
    else:
        same = {row.bench: labels.constants(row.bench, [result]) for row in rows}
        rows = [
            row
            for record in result.records
            for row in _rows(record, record.bench in notes, same[record.bench])
        ]
        _narrow(screen, rows, {bench: labels.parameters(same[bench]) for bench in same})
    for note in _gaps(result):
        screen.print(f"[dim]{escape(note)}[/]")


def _wide(rows: list[_Row]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("benchmark", "point", "lane"):
        table.add_column(name, no_wrap=True)
    for name in _FIGURES:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit · class", no_wrap=True)
    table.add_column("status")
    for row in rows:
        cells = (row.bench, row.point, row.lane, *row.figures, row.unit)
        table.add_row(*(escape(cell) for cell in cells), row.said)
    return table


def _narrow(screen: Any, rows: list[_Row], everywhere: dict[str, str]) -> None:
    """One table a benchmark and unit, intervals below their figures, words below the table."""
    from itertools import groupby

    from rich.markup import escape

    for (bench, unit), group in groupby(rows, key=lambda row: (row.bench, row.unit)):
        found = list(group)
        heading = [word for word in (everywhere[bench], unit) if word]
        screen.print(f"[bold]{escape(bench)}[/]  [dim]{escape(' · '.join(heading))}[/]")
        measured = [row for row in found if any(row.figures[1:])]
        if measured:
            screen.print(_stacked(measured))
        for row in found:
            where = ", ".join(word for word in (row.point, row.lane) if word and word != "–")
            if row.said != "ok":
                screen.print(f"  {escape(where)}{': ' if where else ''}{row.said}")


def _stacked(rows: list[_Row]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("  point")
    for name in ("n", r"median \[95 %]", r"p99 \[95 %]", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        n, median, of_median, p99, of_p99, most = (escape(cell) for cell in row.figures)
        where = ", ".join(word for word in (row.point, row.lane) if word not in ("", "–")) or "–"
        table.add_row(
            f"  {escape(where)}",
            n,
            median + (f"\n[dim]{of_median}[/]" if of_median else ""),
            p99 + (f"\n[dim]{of_p99}[/]" if of_p99 else ""),
            most,
        )
    return table


def _rows(record: RecordResult, noted: bool, hide: Collection[str] = ()) -> list[_Row]:
    """One row a lane; parameters to `hide` are said elsewhere. `noted`: a warning is about it."""
    from rich.markup import escape

    from kadenz.report import labels

    where = labels.point(record, hide=hide)
    if not record.usable:
        status = record.entry.status if record.entry.status != "ok" else "invalid"
        colour = "dim" if status == "n/a" else "red"
        said = f"[{colour}]{status}: {escape(record.reason)}[/]"
        figures = (str(record.taken), "", "", "", "", "")
        return [_Row(record.bench, where, "", figures, labels.unit(record.unit), said)]
    rows = [_lane_row(record, lane, where) for lane in record.lanes]
    if noted:
        rows = [replace(row, said=f"{row.said}; [yellow]see the warning above[/]") for row in rows]
    return rows


def _lane_row(record: RecordResult, lane: LaneResult, where: str) -> _Row:
    from rich.markup import escape

    from kadenz.report import digits, labels

    unit, summary = record.unit, lane.summary
    name = labels.lane(record, lane)
    if summary is None:
        gap = escape(lane.gaps.get("summary", "no samples"))
        empty = ("0", "", "", "", "", "")
        return _Row(record.bench, where, name, empty, labels.unit(unit), gap)
    p50, p99 = lane.percentile("p50"), lane.percentile("p99")
    said = _said(lane)
    if record.batch is not None and lane is record.main:
        said += f"; {digits.figure(record.batch.per_iteration, unit)} an iteration less empty loop"
    figures = (
        digits.count(summary.n),
        digits.figure(summary.median, unit),
        digits.ends(p50, unit),
        digits.figure(p99.value if p99 else None, unit),
        digits.ends(p99, unit),
        digits.figure(summary.max, unit),
    )
    return _Row(record.bench, where, name, figures, labels.unit(unit), said)


def _said(lane: LaneResult) -> str:
    """ "ok", and what is to be said beside it: cycles not measured, misses, overruns."""
    from rich.markup import escape

    entry, misses = lane.entry, lane.misses
    cut = f"{entry.planned - entry.not_measured:,} of {entry.planned:,} measured"
    by_period = misses is not None and misses.deadline and misses.deadline.origin == "period"
    problems = [
        cut if entry.not_measured else "",
        misses.line if misses is not None and misses.missed else "",
        f"{entry.overrun:,} overrun" if entry.overrun and not by_period else "",
    ]
    # Within its own period goes without saying; a deadline that somebody set is answered.
    says = misses is not None and not misses.missed and not by_period
    kept = f"; {escape(misses.line)}" if misses is not None and says else ""
    if any(problems):
        return f"[yellow]{escape('; '.join(p for p in problems if p))}[/]{kept}"
    return f"ok{kept}"


def _gaps(result: RunResult) -> list[str]:
    """Why percentiles are missing, each reason once."""
    lanes = [
        lane
        for record in result.records
        if record.usable and record.batch is None  # a batch is timed once: nothing is missing
        for lane in record.lanes
    ]
    missing = [lane.percentile("p99") for lane in lanes if lane.summary is not None]
    without = [p for p in missing if p is not None and p.value is None]
    unsure = [p for p in missing if p is not None and p.value is not None and not p.known]
    said = []
    if without:
        many = f" at {len(without)} points" if len(without) > 1 else ""
        said.append(f"no p99{many}: {without[0].reason}; measure more, e.g. without --quick")
    if unsure:
        many = f" at {len(unsure)} points" if len(unsure) > 1 else ""
        said.append(f"p99{many}: {unsure[0].reason}")
    return said
