# SPDX-License-Identifier: Apache-2.0
"""kadenz jitter: clock rate, drift and jitter of any series of edges or latencies."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from kadenz.cli.output import write_json
from kadenz.config.manifest import ClockClass
from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.analysis.jitter_views import SeriesResult
    from kadenz.analysis.series_kind import Kind
    from kadenz.analysis.units import Unit

_TO_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--period-us", type=float, required=True, help="The nominal period.")
@click.option(
    "--kind",
    type=click.Choice(["edges", "latencies", "periods"]),
    default="edges",
    show_default=True,
    help="FILE holds times of edges or wake-ups, or the latency of each cycle, or the time since "
    "the one before.",
)
@click.option(
    "--unit",
    type=click.Choice(list(_TO_US)),
    default="ns",
    show_default=True,
    help="Unit of the values.",
)
@click.option("--column", default="", help="Column of the values: its name, or its number from 0.")
@click.option(
    "--cycles", default="", help="Column of the cycle numbers, needed if cycles were missed."
)
@click.option(
    "--only", default="", metavar="COLUMN=VALUE", help="Rows of one thread: --only thread=2."
)
@click.option(
    "--window",
    type=int,
    help="Cycles of the moving average. Default: 16,000, but at most a quarter of the series.",
)
@click.option(
    "--limit",
    type=float,
    help="Report how often this latency or edge jitter is exceeded; in --unit.",
)
@click.option(
    "--clock-class",
    type=click.Choice(list(get_args(ClockClass))),
    default="hosted",
    show_default=True,
    help="Class of the clock that took the values.",
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Also write a page.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def jitter(
    file: Path,
    period_us: float,
    kind: Kind,
    unit: str,
    column: str,
    cycles: str,
    only: str,
    window: int | None,
    limit: float | None,
    clock_class: ClockClass,
    html: Path | None,
    as_json: bool,
) -> None:
    """Separate the times in FILE (.npy, or text in columns) into clock rate, drift and jitter.

    The output of `cyclictest -v` is read, too: one thread at a time.

    \b
    kadenz jitter edges.npy --period-us 1000 --html edges.html
    kadenz jitter log.csv --column late_us \\
        --kind latencies --unit us --cycles cycle --period-us 500
    """
    from kadenz.analysis.jitter_views import analyse_series
    from kadenz.analysis.series_file import read_series
    from kadenz.analysis.units import Unit
    from kadenz.report.jitter_words import series_lines

    if not 0.0 < period_us < math.inf:
        raise UsageError(
            f"--period-us {period_us:g}: not a positive, finite number", remedy="1 kHz is 1000"
        )
    if limit is not None and not math.isfinite(limit):
        raise UsageError(
            f"--limit {limit:g}: not a finite number", remedy="For example --limit 100, in --unit"
        )
    scale = _TO_US[unit]
    shown = Unit("µs", "us", scale, clock_class, is_time=clock_class in ("hardware", "hosted"))
    if kind == "periods" and cycles:
        raise UsageError(
            "--cycles: measured periods have no cycle numbers; a missed cycle makes one longer",
            remedy="Leave out --cycles",
        )
    series = read_series(file, column=column, cycles=cycles, only=only)
    try:
        analysis = analyse_series(
            series.values,
            kind,
            period_us,
            scale,
            cycles=series.cycles,
            window=window,
            limit=limit,
            printed_step=series.printed_step,
        )
    except UsageError as error:
        raise UsageError(f"{file}: {error.message}", remedy=error.remedy) from None
    if as_json:
        write_json(_row(file, analysis, shown, unit))
    else:
        click.echo("\n".join(series_lines(analysis, shown, unit)))
    if html is not None:
        from kadenz.report.jitter_page import write_jitter_page

        write_jitter_page(html, file.name, analysis, shown, unit)
        click.echo(f"{html}: {html.stat().st_size / 1000:,.0f} kB", err=as_json)


def _row(file: Path, analysis: SeriesResult, shown: Unit, unit: str) -> dict[str, object]:
    """One object with the figures in `shown`; the limit is in the `unit` of the values."""
    import msgspec

    from kadenz.analysis.jitter_views import jitter_row, tail_row
    from kadenz.report.jitter_words import limit_words

    row: dict[str, object] = {"file": str(file), "jitter": jitter_row(analysis.jitter, shown)}
    row |= {"tail": tail_row(analysis.tail, shown) if analysis.tail else None}
    row |= {"no_tail": analysis.no_tail, "quantity": analysis.quantity}
    if analysis.limit is not None:
        row["limit"] = msgspec.to_builtins(analysis.limit) | {
            "unit": unit,
            "sentence": limit_words(analysis, unit),
        }
    return row
