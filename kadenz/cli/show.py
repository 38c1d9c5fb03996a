# SPDX-License-Identifier: Apache-2.0
"""kadenz show: the figures of runs, in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kadenz.analysis import LaneResult, RecordResult, RunResult


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
def show(runs: tuple[Path, ...], as_json: bool) -> None:
    """Show what RUNs measured: every record with its intervals, and what was not measured.

    \b
    kadenz show runs/20261121-103000-freertos-hifive1-revb
    """
    from kadenz.analysis import analyse
    from kadenz.analysis.summary import run_summary
    from kadenz.cli.folders import find_runs

    results = [analyse(run) for run in find_runs(runs)]
    if as_json:
        import msgspec

        answer = msgspec.json.encode([run_summary(result) for result in results])
        click.echo(msgspec.json.format(answer, indent=1))
        return
    from kadenz.cli.console import console

    screen = console()
    for result in results:
        _print(screen, result)


def _print(screen: Any, result: RunResult) -> None:
    from rich.markup import escape
    from rich.table import Table

    from kadenz.report import labels, numbers

    manifest, clock = result.manifest, result.manifest.clock
    screen.print(f"[bold]{escape(manifest.id)}[/]")
    screen.print(
        f"{escape(labels.board(result))}, {escape(labels.kernel(result))}; "
        f"{manifest.target.tier}, {manifest.target.instrument}; clock {clock.name} of class "
        f"[bold]{clock.clock_class}[/]"
    )
    if clock.read_cost is not None:
        cost = numbers.figure(clock.read_cost.median, result.unit)
        screen.print(
            f"[dim]reading the clock costs {cost} {result.unit.label} (median), not subtracted[/]"
        )
    for warning in result.warnings:
        remedy = f" {escape(warning.remedy)}" if warning.remedy else ""
        screen.print(f"[yellow]warning[/] {escape(warning.message)}.{remedy}")
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("benchmark", "point", "lane"):
        table.add_column(name, no_wrap=True)
    for name in ("n", "median", "95 %", "p99", "95 %", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit · class", no_wrap=True)
    table.add_column("status")
    for record in result.records:
        for row in _rows(record):
            table.add_row(*(escape(cell) for cell in row[:-1]), row[-1])
    screen.print(table)
    for sweep in result.sweeps:
        if sweep.fit is not None:
            fixed, per_byte = sweep.fit.fixed, sweep.fit.per_byte
            screen.print(
                f"[dim]{sweep.bench}: {numbers.figure(fixed.value, sweep.unit)} "
                f"{escape(numbers.interval(fixed.low, fixed.high, sweep.unit))} + "
                f"{numbers.figure(per_byte.value, sweep.unit)} "
                f"{escape(numbers.interval(per_byte.low, per_byte.high, sweep.unit))} a byte, in "
                f"{sweep.unit.label}" + ("" if sweep.fit.linear else "; not a line") + "[/]"
            )
    screen.print()


def _rows(record: RecordResult) -> list[list[str]]:
    """One row a lane; the last cell is markup."""
    from rich.markup import escape

    from kadenz.report import labels

    where = labels.point(record)
    if not record.usable:
        status = record.entry.status if record.entry.status != "ok" else "invalid"
        colour = "dim" if status == "n/a" else "red"
        said = f"[{colour}]{status}: {escape(record.reason)}[/]"
        unit = labels.unit(record.unit)
        return [[record.bench, where, "", str(record.taken), "", "", "", "", "", unit, said]]
    return [_lane_row(record, lane, where) for lane in record.lanes]


def _lane_row(record: RecordResult, lane: LaneResult, where: str) -> list[str]:
    from rich.markup import escape

    from kadenz.report import labels, numbers

    unit, summary = record.unit, lane.summary
    name = labels.lane(record, lane)
    if summary is None:
        gap = escape(lane.gaps.get("summary", "no samples"))
        return [record.bench, where, name, "0", "", "", "", "", "", labels.unit(unit), gap]
    p50, p99 = lane.percentile("p50"), lane.percentile("p99")
    said = "ok"
    problems = [
        f"{lane.entry.missed:,} missed" if lane.entry.missed else "",
        f"{lane.entry.overrun:,} overrun" if lane.entry.overrun else "",
    ]
    if any(problems):
        said = f"[yellow]{', '.join(p for p in problems if p)}[/]"
    if record.batch is not None and lane is record.main:
        said += f"; {numbers.figure(record.batch.per_iteration, unit)} an iteration less empty loop"
    return [
        record.bench,
        where,
        name,
        numbers.count(summary.n),
        numbers.figure(summary.median, unit),
        numbers.interval(p50.low, p50.high, unit) if p50 else "",
        numbers.figure(p99.value if p99 else None, unit),
        numbers.interval(p99.low, p99.high, unit) if p99 else "",
        numbers.figure(summary.max, unit),
        labels.unit(unit),
        said,
    ]
