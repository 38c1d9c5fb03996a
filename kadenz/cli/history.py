# SPDX-License-Identifier: Apache-2.0
"""kadenz history: how figures moved over the runs of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kadenz.archive.statistics import STATISTICS
from kadenz.cli.archive_option import archive_option, find_archive
from kadenz.cli.output import write_json
from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.archive.history import Series, Step

_BARS = "▁▂▃▄▅▆▇█"
_SHOWN = 24  # newest runs in the sparkline


@click.command()
@click.argument("selectors", metavar="[TARGET|BENCHMARK]...", nargs=-1)
@archive_option
@click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    default="median",
    show_default=True,
    help="Figure of each run.",
)
@click.option("--label", default="", help="Only runs that were added with this label.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
def history(
    selectors: tuple[str, ...], archive: str, statistic: str, label: str, as_json: bool
) -> None:
    """Show how figures changed over runs, and the runs and commits that enclose each step.

    On emulated and simulated targets every difference is a step. Elsewhere a step is a change of
    level that random order explains with at most 1 % probability; the runs named are its 95 %
    interval.

    \b
    kadenz history itc/queue
    kadenz history 'freertos/*' --statistic max --label main
    """
    from kadenz.archive.history import histories

    place = find_archive(archive)
    matches = histories(place, selectors, statistic=statistic, label=label)
    if not matches:
        raise UsageError(
            f"{place.text}: no figure of {' or '.join(selectors) or 'any run'}",
            remedy="kadenz archive query 'SELECT DISTINCT target, bench FROM records'",
        )
    if as_json:
        write_json(matches)
        return
    for series in matches:
        _write(series, statistic)


def _write(series: Series, statistic: str) -> None:
    from kadenz.cli.console import say, styled

    parts = [series.target, series.bench]
    parts += [f"{name}={value}" for name, value in series.params.items()]
    parts += [f"{name} {value}" for name, value in series.conditions.items() if value != "none"]
    parts += [series.lane] if series.lane not in ("", "all") else []
    parts += [series.instrument] if series.instrument != "counter" else []
    parts += ["quick"] if series.quick else []
    say(styled("[bold]{}[/]", " ".join(parts)))
    values = [point.value for point in series.points]
    latest = series.points[-1]
    click.echo(
        f"  {statistic} {_figure(values[-1])} {series.unit} ({series.clock_class}), "
        f"{len(values)} runs since {series.points[0].created[:10]}  {_spark(values[-_SHOWN:])}"
    )
    month, worst = max(series.worst.items())
    click.echo(f"  worst of {month}: {_figure(worst)} {series.unit}; latest run {latest.run}")
    for step in series.steps:
        click.echo(f"  step {_step(step, series.unit)}")
        for reason in step.reasons:
            click.echo(f"       {reason}")
    if series.note:
        say(styled("[dim]  {}[/]", series.note))


def _step(step: Step, unit: str) -> str:
    def named(point: object) -> str:
        commit = getattr(point, "commit", "")
        return f"{getattr(point, 'run', '')}{f' ({commit})' if commit else ''}"

    from kadenz.analysis.change import percent

    certainty = "exact" if step.exact else f"p = {step.p:.3f}"
    return (
        f"{percent(step.change)}: {_figure(step.before)} → {_figure(step.after)} {unit}, between "
        f"{named(step.earliest)} and {named(step.latest)}, {certainty}"
    )


def _figure(value: float) -> str:
    return f"{value:.6g}"


def _spark(values: list[float]) -> str:
    halves = [value / 2 for value in values]  # the span of two figures may be beyond a float
    low, span = min(halves), max(halves) - min(halves)
    if not span:
        return _BARS[0] * len(values)
    return "".join(_BARS[round((half - low) / span * (len(_BARS) - 1))] for half in halves)
