# SPDX-License-Identifier: Apache-2.0
"""The contents of the page, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.rounds import OverRounds, over_rounds
from kadenz.analysis.shared import SharedPoint
from kadenz.analysis.units import CLASS_MEANING
from kadenz.analysis.variants import Variant, variants_of
from kadenz.config.manifest import ClockClass
from kadenz.report import (
    digits,
    events,
    executed,
    families,
    figures,
    footprint,
    how_true,
    jitter_tables,
    labels,
    loads,
    memory,
    outlier_tables,
    overlays,
    studies,
    tables,
)
from kadenz.report.answers import Sentence
from kadenz.report.standings import Standing
from kadenz.report.studies import cereia2011, yoo2024
from kadenz.report.svg import style
from kadenz.report.svg.panel import Plot
from kadenz.report.table import Table
from kadenz.report.tables import Named

# Plots are left out in these steps if the page would grow too large (render.py).
Detail = Literal["full", "no time series", "no histograms", "tables"]
DETAILS: tuple[Detail, ...] = ("full", "no time series", "no histograms", "tables")

_HEADLINES_SHOWN = 6


@dataclass(frozen=True)
class StudyPlots:
    """Figures of a study, redrawn."""

    title: str
    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class Headline:
    """One line of a card."""

    name: str
    point: str
    median: str
    p99: str
    max: str
    mark: str = ""


@dataclass(frozen=True)
class Card:
    """A variant at a glance: under its heading the rest of what it is."""

    letter: str
    label: str
    heading: str
    rest: tuple[str, ...]
    clock_class: ClockClass
    meaning: str
    unit: str
    name: str  # of the run, if another card has the same board and kernel; else ""
    headlines: tuple[Headline, ...]
    measured: str
    partial: str
    colour: int
    events: str  # how many the target reported; "" for none
    notes: tuple[str, ...] = ()  # on figures with a mark


@dataclass(frozen=True)
class Notice:
    """A warning, with the targets it concerns."""

    code: str
    message: str
    remedy: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One benchmark: what is timed, plots and tables."""

    anchor: str
    bench: str
    begins: str
    ends: str
    source: str
    responses: tuple[Plot, ...]
    boxes: tuple[Plot, ...]
    histograms: tuple[Plot, ...]
    series: tuple[Plot, ...]
    fit: Table | None
    table: Table
    common: Table | None = None  # common causes of the worst samples
    maxima: Table | None = None
    notes: tuple[str, ...] = ()  # on figures with a mark
    overlays: tuple[Plot, ...] = ()  # overlaid systems
    jitter: tuple[Plot, ...] = ()
    jitter_tables: tuple[Table, ...] = ()
    tails: tuple[Plot, ...] = ()
    tail_table: Table | None = None
    pictures: executed.Executed = field(default_factory=executed.Executed)

    @property
    def plots(self) -> tuple[Plot, ...]:
        """All pictures of the page, as files of their own."""
        return (
            self.overlays
            + self.responses
            + self.boxes
            + self.histograms
            + self.series
            + self.jitter
            + self.tails
            + self.pictures.plots
        )


@dataclass(frozen=True)
class Family:
    """Benchmarks that belong together."""

    anchor: str
    title: str
    overview: tuple[Plot, ...]
    sections: tuple[Section, ...]
    summary: Table | None = None  # one figure of several benchmarks


@dataclass(frozen=True)
class Page:
    """Everything the template needs."""

    title: str
    created: str
    version: str
    runs: int
    standings: tuple[Standing, ...]  # the table of several systems; () without one
    answers: tuple[Sentence, ...]
    margins: tuple[str, ...]  # by how much one system is ahead of another
    legend: tuple[overlays.Key, ...]
    overlays: tuple[overlays.Overlay, ...]
    cards: tuple[Card, ...]
    notices: tuple[Notice, ...]
    families: tuple[Family, ...]
    studies: tuple[Table, ...]
    study_plots: tuple[StudyPlots, ...]
    how_true: Table | None  # one point in several clock classes
    how_true_plots: tuple[Plot, ...]
    memory: tuple[Plot, ...]  # its cost by wait states
    clocks: Table
    loads: Table | None
    events: Table | None
    footprint: tuple[Table, ...]
    accounting: Table
    differences: Table | None
    only_some: Table | None
    manifests: tuple[Table, ...]
    left_out: str

    @property
    def all_tables(self) -> list[Table]:
        """For export, in the order of the page."""
        found: list[Table | None] = [group.table for group in self.standings]
        for of in self.families:
            found.append(of.summary)
            for section in of.sections:
                found += [section.fit, section.table, section.common, section.maxima]
                found += [*section.jitter_tables, section.tail_table]
        found += [self.how_true, *self.studies, self.clocks, self.loads, self.events]
        found += self.footprint
        found += [self.differences, self.only_some, self.accounting, *self.manifests]
        return [table for table in found if table is not None]

    @property
    def all_plots(self) -> list[Plot]:
        """For export, in the order of the page."""
        return (
            [group.picture for group in self.standings if group.picture is not None]
            + [over.wide for over in self.overlays]
            + [
                plot
                for of in self.families
                for plots in (of.overview, *(section.plots for section in of.sections))
                for plot in plots
            ]
            + list(self.memory)
            + list(self.how_true_plots)
            + [plot for study in self.study_plots for plot in study.plots]
        )


def build(
    runs: Sequence[RunResult],
    published: Sequence[PublishedFigure],
    *,
    title: str,
    created: str,
    version: str,
    detail: Detail = "full",
    answers: Sequence[Sentence] = (),
    margins: Sequence[str] = (),
    standings: Sequence[Standing] = (),
) -> Page:
    """The page about `runs`, opened by `standings`, `answers` and `margins`; `created` is ISO 8601
    in UTC."""
    named = list(zip(labels.run_labels(runs), runs, strict=True))
    top = overlays.at_top(named)
    return Page(
        title=title,
        created=created[:16].replace("T", " ") + " UTC",
        version=version,
        runs=len(runs),
        standings=tuple(standings),
        answers=tuple(answers),
        margins=tuple(margins),
        legend=overlays.legend(runs),
        overlays=tuple(overlays.overlay(point, named) for point in top),
        cards=_cards(named, figures=not standings),
        notices=tuple(_notices(named)),
        families=tuple(_families(named, published, detail, top)),
        studies=tuple(studies.tables(published, named)),
        study_plots=_study_plots(named) if detail in DETAILS[:2] else (),
        how_true=how_true.class_table(published, named),
        how_true_plots=tuple(how_true.plots(published, named)),
        memory=tuple(memory.plots(named)),
        clocks=tables.clocks(named),
        loads=loads.load_table(named),
        events=events.event_table(named),
        footprint=tuple(footprint.tables(footprint.of_runs(named))),
        accounting=tables.accounting(named),
        differences=tables.differing(named, disagreeing=True),
        only_some=tables.differing(named, disagreeing=False),
        manifests=tuple(tables.manifest(label, run) for label, run in named),
        left_out="" if detail == "full" else detail,
    )


def _study_plots(named: Named) -> tuple[StudyPlots, ...]:
    every = (
        StudyPlots("Figure 15 of Yoo and Choi 2024", tuple(yoo2024.plots(named))),
        StudyPlots(
            "Figures 2 to 5 of Cereia, Bertolotti and Scanzio 2011", tuple(cereia2011.plots(named))
        ),
    )
    return tuple(study for study in every if study.plots)


def _cards(named: Named, *, figures: bool) -> tuple[Card, ...]:
    """A card per variant, headed by its board, or by the kernel if its board has several. Cards
    that look alike carry the variant's name from the tables. Below a table of systems they have no
    `figures`."""
    runs = [run for _, run in named]
    variants = variants_of([run.manifest for run in runs])
    members = [[runs[place] for place in variant.runs] for variant in variants]
    heads = [(labels.board(own[0]), labels.kernel(own[0])) for own in members]
    kernels = {board: {k for b, k in heads if b == board} for board, _ in heads}
    cards = []
    for number, (label, variant, own) in enumerate(
        zip(labels.variant_labels(runs), variants, members, strict=True)
    ):
        board, kernel = heads[number]
        head = (kernel, board) if len(kernels[board]) > 1 else (board, kernel)
        name = label if heads.count(heads[number]) > 1 else ""
        cards.append(_card(label, variant, own, number, head, name))
    return tuple(cards if figures else (replace(one, headlines=(), notes=()) for one in cards))


def _card(
    label: str,
    variant: Variant,
    rounds: Sequence[RunResult],
    number: int,
    head: tuple[str, str],
    name: str,
) -> Card:
    run = rounds[0]
    manifest, unit = run.manifest, run.unit
    records = [record for one in rounds for record in one.records]
    good = sum(record.usable for record in records)
    absent = sum(record.entry.status == "n/a" for record in records)
    bad = len(records) - good - absent
    measured = f"{good} of {len(records)} points measured"
    if len(rounds) > 1:
        measured += f" in {len(rounds)} rounds: the middle round’s figures, the largest maximum"
    if absent:
        measured += f", {absent} not applicable"
    if bad:
        measured += f", {bad} invalid or failed"
    stopped = [one.manifest for one in rounds if one.manifest.partial]
    return Card(
        letter=variant.letter,
        label=label,
        heading=head[0],
        rest=(head[1], manifest.target.tier, manifest.target.instrument),
        clock_class=manifest.clock.clock_class,
        meaning=CLASS_MEANING[manifest.clock.clock_class],
        unit=unit.label,
        name=name,
        headlines=tuple(_headlines(rounds)),
        measured=measured,
        partial=stopped[0].partial_reason or "stopped early" if stopped else "",
        colour=style.colour(number),
        events=events.line(manifest),
        notes=tuple(
            dict.fromkeys(
                labels.note(run, bench)
                for bench in families.headlines(record.bench for record in records)
                if labels.note(run, bench) and run.find(bench)
            )
        ),
    )


def _headlines(rounds: Sequence[RunResult]) -> list[Headline]:
    found: list[Headline] = []
    for bench, name in families.headlines(record.bench for record in rounds[0].records).items():
        first = next((r for r in rounds[0].find(bench) if r.main is not None), None)
        if first is None or len(found) == _HEADLINES_SHOWN:
            continue
        same = [r for one in rounds for r in one.find(bench) if r.params == first.params]
        of = over_rounds(same)
        if of is not None:
            mark = labels.MARK if labels.note(rounds[0], bench) else ""
            found.append(_headline(name, first, of, mark))
    return found


def _headline(name: str, record: RecordResult, of: OverRounds, mark: str) -> Headline:
    unit = record.unit
    size = record.params.get("size_bytes")
    return Headline(
        name=name,
        point="" if size is None else f"{size:,} bytes",
        median=digits.figure(of.median, unit),
        p99=digits.figure(of.p99, unit),
        max=digits.figure(of.largest, unit),
        mark=mark,
    )


def _notices(runs: Named) -> list[Notice]:
    """Warnings, each shown once with its targets; one of all rounds names the variant."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for label, run in runs:
        for one in run.warnings:
            found.setdefault((one.code, one.message, one.remedy), []).append(label)
    every = [run for _, run in runs]
    variants = variants_of([run.manifest for run in every])
    names = [
        (label, {runs[place][0] for place in variant.runs})
        for variant, label in zip(variants, labels.variant_labels(every), strict=True)
    ]
    notices = []
    for key, targets in found.items():
        whole = [(label, members) for label, members in names if members <= set(targets)]
        concerned = [label for label, _ in whole]
        concerned += [one for one in targets if not any(one in members for _, members in whole)]
        notices.append(Notice(*key, tuple(concerned)))
    return notices


def _families(
    runs: Named,
    published: Sequence[PublishedFigure],
    detail: Detail,
    top: Sequence[SharedPoint],
) -> list[Family]:
    paths = executed.by_benchmark(runs) if detail == "full" else {}
    benches = (record.bench for _, run in runs for record in run.records)
    return [
        Family(
            anchor=labels.slug(family.name),
            title=family.title,
            overview=tuple(_overview(family.name, own, runs)),
            sections=tuple(
                replace(
                    _section(bench, runs, published, detail, top),
                    pictures=paths.get(bench, executed.Executed()),
                )
                for bench in own
            ),
            summary=family.table(runs) if family.table is not None else None,
        )
        for family, own in families.families_of(benches).items()
    ]


def _overview(name: str, benches: Sequence[str], runs: Named) -> list[Plot]:
    """Box plots of a family's benchmarks without a message size, one axis per run."""
    records = [record for _, run in runs for bench in benches for record in run.find(bench)]
    swept = {r.bench for r in records if "size_bytes" in r.params or r.nature == "context"}
    single = [bench for bench in benches if bench not in swept]
    return figures.boxes(name, single, runs) if len(single) > 1 else []


def _section(
    bench: str,
    runs: Named,
    published: Sequence[PublishedFigure],
    detail: Detail,
    top: Sequence[SharedPoint],
) -> Section:
    entry = next(r.entry for _, run in runs for r in run.records if r.bench == bench)
    notes = [f"{label}: {labels.note(run, bench)}" for label, run in runs if run.find(bench)]
    runs = [(labels.figure_label(label, run, bench), run) for label, run in runs]
    plotted = detail != "tables"
    responses = figures.responses(bench, runs, published) if plotted else []
    return Section(
        anchor=labels.slug(bench),
        bench=bench,
        begins=entry.begins,
        ends=entry.ends,
        source=entry.source,
        notes=tuple(one for one in notes if not one.endswith(": ")),
        overlays=tuple(overlays.of_bench(bench, runs, top)) if plotted else (),
        responses=tuple(responses),
        boxes=tuple(figures.boxes(bench, [bench], runs)) if plotted else (),
        histograms=tuple(figures.histograms(bench, runs))
        if detail in ("full", "no time series")
        else (),
        series=tuple(figures.time_series(bench, runs)) if detail == "full" else (),
        fit=tables.fits(bench, runs),
        table=tables.results(bench, runs),
        common=outlier_tables.common(bench, runs),
        maxima=outlier_tables.maxima(bench, runs),
        jitter=tuple(jitter_tables.plots(bench, runs))
        if detail in ("full", "no time series")
        else (),
        jitter_tables=tuple(
            one
            for one in (
                jitter_tables.lane_table(bench, runs),
                jitter_tables.disturbances(bench, runs),
            )
            if one
        ),
        tails=tuple(jitter_tables.tails(bench, runs)) if detail == "full" else (),
        tail_table=jitter_tables.tail_table(bench, runs),
    )
