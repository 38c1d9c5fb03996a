# SPDX-License-Identifier: Apache-2.0
"""A section for each family: its table, and for each benchmark what is timed, plots and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from kadenz.config.manifest import RecordEntry
from kadenz.report import (
    executed,
    families,
    figures,
    jitter_tables,
    labels,
    outlier_tables,
    overlays,
)
from kadenz.report import tables as of_results
from kadenz.report.sections import Block, Fold, Section, Text, plotted, rows_fold, tables_of
from kadenz.report.svg.panel import Plot
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 10
# A table of all figures with more rows is folded.
_OPEN_ROWS = 6


def sections(report: Report) -> Iterator[Section]:
    """One for each family, the user's first."""
    pictures = executed.by_benchmark(report.runs) if report.shows("full") else {}
    benches = (record.bench for run in report.results for record in run.records)
    for family, members in families.families_of(benches).items():
        table = family.table(report.runs) if family.table is not None else None
        yield Section(
            labels.slug(family.name),
            family.title,
            (
                *plotted(_overview(family.name, members, report.runs)),
                *tables_of(table),
                *(_benchmark(bench, report, pictures.get(bench, ())) for bench in members),
            ),
        )


def _overview(name: str, benches: Sequence[str], runs: Named) -> list[Plot]:
    """Box plots of a family's benchmarks without a message size, one axis per run."""
    records = [record for _, run in runs for bench in benches for record in run.find(bench)]
    swept = {r.bench for r in records if "size_bytes" in r.params or r.nature == "context"}
    single = [bench for bench in benches if bench not in swept]
    return figures.boxes(name, single, runs) if len(single) > 1 else []


def _benchmark(bench: str, report: Report, pictures: Sequence[Block]) -> Section:
    entry = next(r.entry for run in report.results for r in run.records if r.bench == bench)
    noted = [(label, labels.note(run, bench)) for label, run in report.runs if run.find(bench)]
    runs = [(labels.figure_label(label, run, bench), run) for label, run in report.runs]
    over = overlays.of_bench(bench, runs, report.top) if report.shows("no histograms") else []
    table = of_results.results(bench, runs)
    worst = tables_of(outlier_tables.common(bench, runs), outlier_tables.maxima(bench, runs))
    return Section(
        labels.slug(bench),
        bench,
        (
            _timed(entry),
            *(Text(f"† {label}: {note}.", kind="points") for label, note in noted if note),
            *plotted(over),
            *_distributions(bench, runs, report),
            *pictures,
            *_jitter(bench, runs, report),
            rows_fold("All figures", table, most=_OPEN_ROWS),
            *((Fold("The worst samples", "common causes", worst),) if worst else ()),
        ),
    )


def _timed(entry: RecordEntry) -> Text:
    """Between which events a sample is timed, and the study that the benchmark is from."""
    parts = []
    if entry.begins or entry.ends:
        span = Markup("Timed from <em>{}</em> to <em>{}</em>.")
        parts.append(span.format(entry.begins, entry.ends))
    if entry.source:
        parts.append(Markup('<span class="source">{}</span>').format(entry.source))
    return Text(Markup(" ").join(parts), kind="points")


def _distributions(bench: str, runs: Named, report: Report) -> Iterator[Block]:
    """Plots of the samples. Over several sizes, those of single points are folded."""
    plots = report.shows("no histograms")
    sizes = figures.responses(bench, runs, report.published) if plots else []
    boxes = figures.boxes(bench, [bench], runs) if plots else []
    histograms = figures.histograms(bench, runs) if report.shows("no time series") else []
    series = figures.time_series(bench, runs) if report.shows("full") else []
    single, title = [*boxes, *histograms], "Time order"
    if len(sizes) > 1:
        series, single, title = [*single, *series], [], "Distributions"
    yield from plotted([*sizes, *single])
    yield from tables_of(of_results.fits(bench, runs))
    if series:
        yield Fold(title, "", plotted(series))


def _jitter(bench: str, runs: Named, report: Report) -> Iterator[Block]:
    plots = jitter_tables.plots(bench, runs) if report.shows("no time series") else []
    tables = tables_of(
        jitter_tables.lane_table(bench, runs), jitter_tables.disturbances(bench, runs)
    )
    tail = jitter_tables.tail_table(bench, runs)
    if plots or tables:
        yield Text("Jitter", tag="h4")
        yield from plotted(plots)
        yield from tables
    if tail is not None:
        drawn = jitter_tables.tails(bench, runs) if report.shows("full") else []
        blocks: tuple[Block, ...] = (*plotted(drawn), tail.bare)
        yield Fold("Tail", "return levels, or why there are none", blocks, open=bool(plots))
