# SPDX-License-Identifier: Apache-2.0
"""The page: its first screen, and the sections of all views below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.rounds import OverRounds, over_rounds
from kadenz.analysis.units import CLASS_MEANING
from kadenz.analysis.variants import Variant, variants_of
from kadenz.config.manifest import ClockClass
from kadenz.report import (
    digits,
    events,
    families,
    labels,
    overlays,
)
from kadenz.report.answers import Sentence
from kadenz.report.sections import Picture, Plots, Section, leaves
from kadenz.report.standings import Standing
from kadenz.report.svg import style
from kadenz.report.svg.panel import Plot
from kadenz.report.table import Table
from kadenz.report.tables import Named
from kadenz.report.views import Detail, Report, sections_of

_HEADLINES_SHOWN = 6


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
    sections: tuple[Section, ...]
    left_out: str

    @property
    def all_tables(self) -> list[Table]:
        """For export, in the order of the page."""
        blocks = leaves(self.sections)
        heads = [group.table for group in self.standings]
        return heads + [block for block in blocks if isinstance(block, Table)]

    @property
    def all_plots(self) -> list[Plot]:
        """For export, in the order of the page."""
        heads = [group.picture for group in self.standings if group.picture is not None]
        heads += [over.wide for over in self.overlays]
        blocks = leaves(self.sections)
        return heads + [
            plot for block in blocks if isinstance(block, Plots | Picture) for plot in block.plots
        ]


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
    named = labels.labelled(runs)
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
        sections=sections_of(Report(named, published, detail, top)),
        left_out="" if detail == "full" else detail,
    )


def _cards(named: Named, *, figures: bool) -> tuple[Card, ...]:
    """A card per variant, headed by its board, or by the kernel if its board has several. Cards
    that look alike carry the variant's name from the tables. Below a table of systems they have no
    `figures`."""
    runs = [run for _, run in named]
    variants = variants_of([run.manifest for run in runs])
    members = [[runs[place] for place in variant.runs] for variant in variants]
    heads = [(labels.board(rounds[0]), labels.kernel(rounds[0])) for rounds in members]
    kernels = {board: {k for b, k in heads if b == board} for board, _ in heads}
    cards = []
    for number, (label, variant, rounds) in enumerate(
        zip(labels.variant_labels(runs), variants, members, strict=True)
    ):
        board, kernel = heads[number]
        head = (kernel, board) if len(kernels[board]) > 1 else (board, kernel)
        name = label if heads.count(heads[number]) > 1 else ""
        cards.append(_card(label, variant, rounds, number, head, name))
    return tuple(cards if figures else (replace(card, headlines=(), notes=()) for card in cards))


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
    records = [record for round_ in rounds for record in round_.records]
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
    stopped = [round_.manifest for round_ in rounds if round_.manifest.partial]
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
    headlines: list[Headline] = []
    for bench, name in families.headlines(record.bench for record in rounds[0].records).items():
        first = next((r for r in rounds[0].find(bench) if r.main is not None), None)
        if first is None or len(headlines) == _HEADLINES_SHOWN:
            continue
        same = [r for round_ in rounds for r in round_.find(bench) if r.params == first.params]
        of = over_rounds(same)
        if of is not None:
            mark = labels.MARK if labels.note(rounds[0], bench) else ""
            headlines.append(_headline(name, first, of, mark))
    return headlines


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
    by_warning: dict[tuple[str, str, str], list[str]] = {}
    for label, run in runs:
        for warning in run.warnings:
            by_warning.setdefault((warning.code, warning.message, warning.remedy), []).append(label)
    every = [run for _, run in runs]
    variants = variants_of([run.manifest for run in every])
    names = [
        (label, {runs[place][0] for place in variant.runs})
        for variant, label in zip(variants, labels.variant_labels(every), strict=True)
    ]
    notices = []
    for key, targets in by_warning.items():
        whole = [(label, members) for label, members in names if members <= set(targets)]
        concerned = [label for label, _ in whole]
        concerned += [
            target for target in targets if not any(target in members for _, members in whole)
        ]
        notices.append(Notice(*key, tuple(concerned)))
    return notices
