# SPDX-License-Identifier: Apache-2.0
"""kadenz show: the figures of runs in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.deadline import asked_deadlines, deadline_option
from kadenz.cli.figures import Percent
from kadenz.cli.output import write_json

if TYPE_CHECKING:
    from kadenz.analysis import RunResult


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--outliers",
    is_flag=True,
    help="Instead of the figures, show the largest samples with their recorded context, and what "
    "the worst have in common.",
)
@click.option(
    "--worst",
    type=Percent(most=10.0, zero=False),
    metavar="PERCENT",
    default="0.1%",
    show_default=True,
    help="Share of samples that count as the worst: up to 10%, at least 20 samples.",
)
@deadline_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def show(
    runs: tuple[Path, ...],
    outliers: bool,
    worst: float,
    deadlines: tuple[str, ...],
    as_json: bool,
) -> int:
    """Show every record of RUNs with its intervals, and everything that was not measured. Several
    systems end with one table: who is quickest at what, and by how much.

    \b
    kadenz show runs/20261121-103000-freertos-hifive1-revb
    kadenz show runs/20261121-103000-posix-linux --outliers
    kadenz show runs/20261121-103000-posix-linux --deadline 100us
    """
    from kadenz.analysis import analyse
    from kadenz.cli.answering import as_json as document
    from kadenz.cli.answering import print_answers
    from kadenz.cli.folders import NamedRuns

    named = NamedRuns(runs)
    asked = asked_deadlines(deadlines, named.runs)
    results = named.each(lambda run: analyse(run, worst_share=worst, deadlines=asked))
    if as_json:
        write_json(document(named.runs, results, asked))
        return named.conclude()
    from kadenz.cli.console import console
    from kadenz.cli.show_figures import write_figures
    from kadenz.cli.show_jitter import write_jitter
    from kadenz.cli.show_outliers import write_outliers

    screen = console()
    for result in results:
        _write_head(screen, result)
        if outliers:
            write_outliers(screen, result)
        else:
            write_figures(screen, result)
            write_jitter(screen, result)
            _write_fits(screen, result)
            _write_families(screen, result)
        screen.print()
    if len(results) > 1 and not outliers:
        print_answers(screen, named.runs, results, asked)
    return named.conclude()


def _write_head(screen: Any, result: RunResult) -> None:
    from kadenz.analysis.stored import stored_line
    from kadenz.cli.console import styled
    from kadenz.cli.run_summary import event_line
    from kadenz.report import digits, labels, loads
    from kadenz.report.summary import event_rows

    manifest, clock = result.manifest, result.manifest.clock
    screen.print(styled("[bold]{}[/]", manifest.id))
    screen.print(
        styled(
            "{}, {}; {}, {}; clock {} of class [bold]{}[/]",
            labels.board(result),
            labels.kernel(result),
            manifest.target.tier,
            manifest.target.instrument,
            clock.name,
            clock.clock_class,
        )
    )
    if loads.line(manifest):
        screen.print(loads.line(manifest))
    if stored := stored_line(manifest):
        screen.print(styled("[dim]{}[/]", stored))
    if clock.read_cost is not None:
        cost = digits.figure(clock.read_cost.median, result.unit)
        screen.print(
            styled(
                "[dim]reading the clock costs {} {} (median), not subtracted[/]",
                cost,
                result.unit.label,
            )
        )
    if clock.rate is not None:
        rate = clock.rate
        screen.print(
            styled(
                "[dim]configured with {:,} Hz, measured {:,.0f} Hz ({:,.0f} to {:,.0f}) by {}[/]",
                clock.hz,
                rate.hz,
                rate.low,
                rate.high,
                rate.against,
            )
        )
    for warning in result.warnings:
        remedy = f" {warning.remedy}" if warning.remedy else ""
        screen.print(styled("[yellow]warning[/] {}.{}", warning.message, remedy))
    for event in event_rows(result):
        screen.print(styled("[yellow]event[/] {}", event_line(event)))


def _write_fits(screen: Any, result: RunResult) -> None:
    from kadenz.cli.console import styled
    from kadenz.report import digits

    for sweep in result.sweeps:
        if sweep.fit is not None:
            fixed, per_byte = sweep.fit.fixed, sweep.fit.per_byte
            screen.print(
                styled(
                    "[dim]{}: {} {} + {} {} a byte, in {}{}[/]",
                    sweep.bench,
                    digits.figure(fixed.value, sweep.unit),
                    digits.interval(fixed.low, fixed.high, sweep.unit),
                    digits.figure(per_byte.value, sweep.unit),
                    digits.interval(per_byte.low, per_byte.high, sweep.unit),
                    sweep.unit.label,
                    "" if sweep.fit.linear else "; not linear",
                )
            )


def _write_families(screen: Any, result: RunResult) -> None:
    """The tables of families, for those that the run measured."""
    from kadenz.cli.tables import write_table
    from kadenz.report.families import declared

    for family in declared().values():
        table = family.table([("", result)]) if family.table is not None else None
        if table is not None:
            write_table(screen, table)
