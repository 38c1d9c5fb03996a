# SPDX-License-Identifier: Apache-2.0
"""kadenz run --dry-run: what would be measured, and how long."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.output import write_json

if TYPE_CHECKING:
    from kadenz.lab.forecast import Expected
    from kadenz.lab.job import Job


def write_dry_run(jobs: Sequence[Job], output: Path, *, as_json: bool) -> None:
    """Prints the points of each job with their length, by earlier runs in `output`."""
    from kadenz.lab.forecast import forecast
    from kadenz.store.names import runs_below

    earlier = runs_below(output)
    expected = [(job, forecast(job, earlier)) for job in jobs]
    if as_json:
        write_json([_row(job, points) for job, points in expected])
        return
    for job, points in expected:
        _write(job, points)
    every = [point for _, points in expected for point in points]
    runs = "1 run" if len(expected) == 1 else f"{len(expected)} runs"
    click.echo(f"{runs}, {_duration(every)}; nothing was measured")


def _row(job: Job, points: Sequence[Expected]) -> dict[str, Any]:
    return {
        "target": str(job.name),
        "run": job.label,
        "points": [
            {
                "bench": expected.point.bench,
                "params": dict(expected.point.params),
                "samples": expected.point.samples,
                "seconds": expected.seconds,
            }
            for expected in points
        ],
    }


def _write(job: Job, points: Sequence[Expected]) -> None:
    from rich.table import Table

    from kadenz.cli.console import console, styled

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in ("benchmark", "points", "samples", "time"):
        table.add_column(column, justify="left" if column in ("benchmark", "time") else "right")
    for bench in dict.fromkeys(expected.point.bench for expected in points):
        bench_points = [expected for expected in points if expected.point.bench == bench]
        samples = sum(expected.point.samples for expected in bench_points)
        table.add_row(bench, f"{len(bench_points):,}", f"{samples:,}", _duration(bench_points))
    screen = console()
    screen.print(styled("[bold]{}[/]", job.label))
    screen.print(table)


def _duration(points: Sequence[Expected]) -> str:
    """ "about 1 min 12 s", "unknown", "about 3 s, and 2 points of unknown length"."""
    known = [expected.seconds for expected in points if expected.seconds is not None]
    if not known:
        return "unknown"
    missing = len(points) - len(known)
    rest = f", and {missing} {'point' if missing == 1 else 'points'} of unknown length"
    return f"about {_time(sum(known))}{rest if missing else ''}"


def _time(seconds: float) -> str:
    if seconds < 1.0:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (rest, "s")]
    return " ".join(f"{value} {unit}" for value, unit in parts if value)
