# SPDX-License-Identifier: Apache-2.0
"""The end of `kadenz run`: figures of the new runs, read back from their folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kadenz.cli import output
from kadenz.config.params import Params, Value
from kadenz.errors import KadenzError

_UNITS = {"us": "µs"}  # JSON keys are ASCII


def write_json(folders: Sequence[Path], errors: Sequence[KadenzError]) -> None:
    """Prints one object: that of `kadenz show --json`, and errors."""
    from kadenz.analysis import analyse
    from kadenz.cli.answering import as_json
    from kadenz.store import read_run

    runs = [read_run(folder) for folder in folders]
    error_rows = [
        {
            "kind": type(error).__name__,
            "message": error.message,
            "remedy": error.remedy,
            "detail": error.detail,
        }
        for error in errors
    ]
    output.write_json(as_json(runs, [analyse(run) for run in runs]) | {"errors": error_rows})


def write_tables(folders: Sequence[Path]) -> None:
    """Prints one table per run (accounting, median, p99, maximum, unit). For several runs it also
    prints their joint answers."""
    from kadenz.analysis import analyse
    from kadenz.analysis.stored import stored_line
    from kadenz.cli.answering import print_answers
    from kadenz.cli.console import console, fits, styled
    from kadenz.report.summary import run_summary
    from kadenz.store import read_run

    screen = console()
    runs = [read_run(folder) for folder in folders]
    results = [analyse(run) for run in runs]
    for folder, result in zip(folders, results, strict=True):
        summary = run_summary(result)
        table = _table(summary)
        if fits(screen, table):
            screen.print(table)
        else:
            screen.print(_narrow(summary))
            for note in _notes(summary):
                screen.print(note)
        if _missing_p99(summary):
            screen.print(styled("[dim]{}[/]", _missing_p99(summary)))
        if stored := stored_line(result.manifest):
            screen.print(styled("[dim]{}; --fresh executes them[/]", stored))
        for warning in summary["warnings"]:
            screen.print(styled("[yellow]warning[/] {}", warning["message"]))
        for event in summary["events"]:
            screen.print(styled("[yellow]event[/] {}", event_line(event)))
        if summary["partial"]:
            screen.print(styled("[red]partial[/] {}", summary["partial_reason"]))
        screen.print(styled("[dim]run folder[/] {}\n", folder), soft_wrap=True)
    if len(runs) > 1:
        print_answers(screen, runs, results)


def event_line(event: dict[str, Any]) -> str:
    """One kind of event: its text, the reaction, its count and cycles."""
    text = f"{event['text']}: {event['reaction']}"
    first, last = event["first_cycle"], event["last_cycle"]
    if event["count"] == 1:
        return f"{text}; once, in cycle {first}"
    return f"{text}; {event['count']} times, in cycles {first} to {last}"


def _missing_p99(summary: dict[str, Any]) -> str:
    """Why p99 figures are missing; "" if none is."""
    gaps = [
        row["gaps"]["p99"]
        for row in summary["records"]
        if row.get("p99") is None
        and "p99" in row.get("gaps", {})
        and not row["params"].get("iterations")  # a batch is timed once and has no percentiles
    ]
    if not gaps:
        return ""
    many = f" at {len(gaps)} points" if len(gaps) > 1 else ""
    return f"no p99{many}: {gaps[0]}. Measure more samples: --set samples=N"


def _title(summary: dict[str, Any]) -> str:
    load = f", load {summary['conditions']['load']}" if summary["loads"] else ""
    bus = f", {summary['bus']}" if summary["bus"] else ""
    tuning = summary["conditions"].get("tuning")
    load += f", tuning {tuning}" if tuning else ""
    return (
        f"{summary['target']}: {summary['kernel']}{bus}, clock {summary['clock']} "
        f"({summary['clock_class']}), {summary['instrument']}{load}"
    )


def _table(summary: dict[str, Any]) -> Any:
    from rich.table import Table

    table = Table(
        title=_title(summary), title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    table.add_column("benchmark")
    for name in ("taken", "missed", "median", "p99", "max"):
        table.add_column(name, justify="right")
    table.add_column("unit")
    table.add_column("status")
    for row, name in _named(summary):
        status = _status(row)
        if row.get("per_iteration") is not None:
            status += f", {_number(row['per_iteration'])} per iteration"
        table.add_row(name, *_figures(row), _unit(row), status)
    return table


def _narrow(summary: dict[str, Any]) -> Any:
    """The table for a narrow terminal. Long status texts follow below it in full."""
    from rich.table import Table

    units = sorted({_unit(row) for row, _ in _named(summary)} - {""})
    title = _title(summary) + (f"; in {units[0]}" if len(units) == 1 else "")
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    table.padding, table.pad_edge = (0, 1, 0, 0), False
    table.add_column("benchmark", overflow="fold")
    for name in ("taken", "missed", "median", "p99", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    if len(units) > 1:
        table.add_column("unit", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for row, name in _named(summary):
        unit = [_unit(row)] if len(units) > 1 else []
        statuses = [row["status"]]
        statuses += ["cut short"] if row["not_measured"] else []
        statuses += ["misses"] if row.get("misses") else []
        table.add_row(name, *_figures(row), *unit, ", ".join(statuses))
    return table


def _notes(summary: dict[str, Any]) -> list[str]:
    """The status texts that only fit into the wide table."""
    notes = []
    for row, name in _named(summary):
        if _status(row) != row["status"]:
            notes.append(f"{name}: {_status(row)}")
        if row.get("per_iteration") is not None:
            each = f"{_number(row['per_iteration'])} {_unit(row)} per iteration"
            notes.append(f"{name}: {each}, empty loop subtracted")
    return notes


def _status(row: dict[str, Any]) -> str:
    """The status with its reason, the measured share and the misses."""
    parts = [f"{row['status']}: {row['reason']}" if row["reason"] else row["status"]]
    if row["not_measured"]:
        measured = row["planned"] - row["not_measured"]
        parts.append(f"{measured:,} of {row['planned']:,} measured")
    if row.get("misses"):
        parts.append(row["misses_text"])
    return "; ".join(parts)


def _named(summary: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Rows with their names: benchmark, swept parameters, lane."""
    swept = swept_params([(row["bench"], row["params"]) for row in summary["records"]])
    named_rows = []
    for row in summary["records"]:
        parts = [row["bench"]]
        parts += [f"{k}={v}" for k, v in row["params"].items() if (row["bench"], k) in swept]
        if row["lane"] not in ("", "all"):
            parts.append(row["lane"])
        named_rows.append((row, " ".join(parts)))
    return named_rows


def _figures(row: dict[str, Any]) -> list[str]:
    figures = [_number(row.get(name)) for name in ("median", "p99", "max")]
    missed = row.get("misses", row["missed"])  # with a deadline, late cycles included
    return [f"{row['taken']:,}", f"{missed:,}", *figures]


def _unit(row: dict[str, Any]) -> str:
    """The row's unit, such as "µs"; "" without figures."""
    return _UNITS.get(row["unit"], row["unit"]) if row.get("median") is not None else ""


def swept_params(points: Sequence[tuple[str, Params]]) -> set[tuple[str, str]]:
    """Pairs (benchmark, parameter) with more than one value among `points`."""
    values: dict[tuple[str, str], set[Value]] = {}
    for bench, params in points:
        for name, value in params.items():
            values.setdefault((bench, name), set()).add(value)
    return {key for key, seen in values.items() if len(seen) > 1}


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
