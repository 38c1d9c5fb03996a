# SPDX-License-Identifier: Apache-2.0
"""The figures of one run as tables for a terminal: one wide table, or one for each benchmark.

If the wide table does not fit, each benchmark gets a heading and intervals go below their
figures. Nothing is cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

    from kadenz.analysis import LaneResult, RecordResult, RunResult

# The columns of figures in both layouts; a statistic's interval follows it.
_FIGURES = ("n", "median", "95 %", "p99", "95 %", "max")


@dataclass(frozen=True)
class _Row:
    """A lane, or a record without figures. `figures` match _FIGURES."""

    bench: str
    point: str
    lane: str
    figures: tuple[str, ...]
    unit: str
    status: Text


def write_figures(screen: Any, result: RunResult) -> None:
    """Prints every record of `result`, and why a percentile is missing."""
    from kadenz.cli.console import fits, styled
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
    for record in result.records:
        for text in _misses_of_lanes(record):
            screen.print(text)
    for note in _gaps(result):
        screen.print(styled("[dim]{}[/]", note))


def _wide(rows: list[_Row]) -> Any:
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
        table.add_row(*cells, row.status)
    return table


def _narrow(screen: Any, rows: list[_Row], everywhere: dict[str, str]) -> None:
    """Prints one table for each benchmark and unit, with intervals below their figures and long
    status texts below the table."""
    from itertools import groupby

    from kadenz.cli.console import styled

    for (bench, unit), group in groupby(rows, key=lambda row: (row.bench, row.unit)):
        group_rows = list(group)
        heading = [word for word in (everywhere[bench], unit) if word]
        screen.print(styled("[bold]{}[/]  [dim]{}[/]", bench, " · ".join(heading)))
        measured = [row for row in group_rows if any(row.figures[1:])]
        if measured:
            screen.print(_stacked(measured))
        for row in group_rows:
            where = ", ".join(word for word in (row.point, row.lane) if word and word != "–")
            if row.status.plain != "ok":
                screen.print(styled("  {}{}", f"{where}{': ' if where else ''}", row.status))


def _stacked(rows: list[_Row]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("  point")
    for name in ("n", "median [95 %]", "p99 [95 %]", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        n, median, of_median, p99, of_p99, most = row.figures
        where = ", ".join(word for word in (row.point, row.lane) if word not in ("", "–")) or "–"
        table.add_row(
            f"  {where}",
            n,
            _over(median, of_median),
            _over(p99, of_p99),
            most,
        )
    return table


def _over(figure: str, interval: str) -> Text:
    from kadenz.cli.console import styled

    return styled("{}[dim]{}[/]", figure, f"\n{interval}" if interval else "")


def _rows(record: RecordResult, noted: bool, hide: Collection[str] = ()) -> list[_Row]:
    """One row for each lane, without the parameters to `hide`. `noted`: a warning applies."""
    from kadenz.cli.console import styled
    from kadenz.report import labels

    where = labels.point(record, hide=hide)
    if not record.usable:
        status = record.entry.status
        colour = "dim" if status == "n/a" else "red"
        text = styled("[{}]{}: {}[/]", colour, status, record.reason)
        figures = (str(record.taken), "", "", "", "", "")
        return [_Row(record.bench, where, "", figures, labels.unit(record.unit), text)]
    rows = [_lane_row(record, lane, where) for lane in record.lanes]
    if noted:
        note = "{}; [yellow]see the warning above[/]"
        rows = [replace(row, status=styled(note, row.status)) for row in rows]
    return rows


def _lane_row(record: RecordResult, lane: LaneResult, where: str) -> _Row:
    from kadenz.cli.console import styled
    from kadenz.report import digits, labels

    unit, summary = record.unit, lane.summary
    name = labels.lane(record, lane)
    if summary is None:
        gap = lane.gaps.get("summary", "no samples")
        empty = ("0", "", "", "", "", "")
        return _Row(record.bench, where, name, empty, labels.unit(unit), styled("{}", gap))
    p50, p99 = lane.percentile("p50"), lane.percentile("p99")
    status = _status(lane, alone=len(record.lanes) == 1)
    said = [structure.status(partial(digits.figure, unit=unit)) for structure in record.structures]
    if lane is record.main:
        status += "".join(f"; {remark}" for remark in said if remark)
    if lane.modelled is not None:
        status += f"; model {digits.interval(*lane.modelled, unit)}"
    figures = (
        digits.count(summary.n),
        digits.figure(summary.median, unit),
        digits.ends(p50, unit),
        digits.figure(p99.value if p99 else None, unit),
        digits.ends(p99, unit),
        digits.figure(summary.max, unit),
    )
    return _Row(record.bench, where, name, figures, labels.unit(unit), status)


def _misses_of_lanes(record: RecordResult) -> Iterator[str]:
    """ "cyclic/wakeup-latency, all 16 lanes: 156 of 32,112 missed …; most on core5: 11"."""
    from kadenz.report import labels

    misses = record.misses
    if len(record.lanes) == 1 or not record.usable or misses is None:
        return
    by_period = misses.deadline is not None and misses.deadline.origin == "period"
    problem = misses.missed or misses.undecided
    if not problem and (by_period or misses.deadline is None):
        return
    missed = {lane.name: lane.misses.missed for lane in record.lanes if lane.misses is not None}
    worst = max(missed, key=lambda name: missed[name])
    point = labels.point(record)
    where = record.bench if point == "–" else f"{record.bench} {point}"
    lanes = f"all {len(record.lanes)} lanes"
    most = f"; most on {worst}: {missed[worst]:,}" if misses.missed else ""
    yield f"{where}, {lanes}: {misses.line}{most}"


def _status(lane: LaneResult, *, alone: bool) -> Text:
    """ "ok", or the problems: cycles not measured, misses, overruns.

    Misses are in a sentence about all lanes unless it is the record's only one.
    """
    from kadenz.cli.console import styled

    entry, misses = lane.entry, lane.misses
    cut = f"{entry.planned - entry.not_measured:,} of {entry.planned:,} measured"
    by_period = misses is not None and misses.deadline and misses.deadline.origin == "period"
    problems = [
        cut if entry.not_measured else "",
        misses.line if alone and misses is not None and (misses.missed or misses.undecided) else "",
        f"{entry.overrun:,} overrun" if entry.overrun and not by_period else "",
    ]
    # Zero misses are shown only for a deadline that the user or the campaign set.
    met = misses is not None and not (misses.missed or misses.undecided) and not by_period
    kept = f"; {misses.line}" if alone and misses is not None and met else ""
    if any(problems):
        return styled("[yellow]{}[/]{}", "; ".join(p for p in problems if p), kept)
    return styled("ok{}", kept)


def _gaps(result: RunResult) -> list[str]:
    """Why percentiles are missing, each reason once."""
    lanes = [
        lane
        for record in result.records
        if record.usable and not record.whole  # a batch is timed once and has no percentiles
        for lane in record.lanes
    ]
    missing = [lane.percentile("p99") for lane in lanes if lane.summary is not None]
    without = [p for p in missing if p is not None and p.value is None]
    unsure = [p for p in missing if p is not None and p.value is not None and not p.known]
    notes = []
    if without:
        many = f" at {len(without)} points" if len(without) > 1 else ""
        notes.append(f"no p99{many}: {without[0].reason}; measure more: --set samples=N")
    if unsure:
        many = f" at {len(unsure)} points" if len(unsure) > 1 else ""
        notes.append(f"p99{many}: {unsure[0].reason}")
    return notes
