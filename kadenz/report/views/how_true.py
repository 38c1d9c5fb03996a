# SPDX-License-Identifier: Apache-2.0
"""How true a figure is: one point of one board and kernel in several clock classes, side by side.

A cell belongs to one class, which its column names. A ratio relates a count to the count of the
most exact class of the same board: instructions to cycles gives instructions per cycle, cycles to
cycles gives the error of a model. A figure in units of time has no ratio.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from kadenz.analysis.parameters import Named as NamedParams
from kadenz.analysis.parameters import Points
from kadenz.analysis.published import PublishedFigure, matches
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.config.manifest import ClockClass
from kadenz.config.params import Params
from kadenz.report import digits, labels
from kadenz.report.sections import Section, Text, plotted
from kadenz.report.studies.rows import as_printed
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.svg.ratios import Mark, Row, ratios
from kadenz.report.table import Cell, Table, badge, text_cell
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 30
_LEAD = (
    "The same board, kernel and point, measured in several clock classes. Each class has its own "
    "column. The published figure of the point, if there is one, is at the right. If it is in "
    "cycles, the plot also shows it as a ring. The study may have timed another span under that "
    "name."
)
# The least exact first. Class hosted makes no claim about a board, so it is not shown.
CLASSES: tuple[ClockClass, ...] = ("instruction", "cycle-model", "cycle-exact", "hardware")
STATISTICS = ("mean", "median", "max")
_CLOCK_FAMILIES = frozenset({"clock"})  # families that measure the clock, not the kernel
_Machine = tuple[str, str]  # board, kernel with its version
_Point = tuple[str, NamedParams]  # benchmark and parameters
_ByClass = dict[ClockClass, tuple[RunResult, RecordResult]]
_Points = dict[_Point, _ByClass]
_Key = tuple[str, str]  # lane, statistic


@dataclass(frozen=True)
class Figure:
    """A statistic of a record in its class; `interval` is a timing model's, in the same unit."""

    record: RecordResult
    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class _Line:
    """A lane statistic of one point by class, the least exact first, with published figures."""

    key: _Key
    figures: dict[ClockClass, Figure]
    published: list[PublishedFigure]

    @property
    def record(self) -> RecordResult:
        """The least exact class's."""
        return next(iter(self.figures.values())).record


def sections(report: Report) -> Iterator[Section]:
    """One, if a point has several clock classes."""
    shown = class_table(report.published, report.runs)
    if shown is not None:
        drawn = plots(report.published, report.runs)
        yield Section("how-true-section", "How true", (Text(_LEAD), *plotted(drawn), shown.bare))


def class_table(published: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """A row for each point and lane statistic that one board has in two classes or more.

    None if there is no such point. Of several runs of one class the first is taken.
    """
    machines, repeated = _taken(runs)
    same = _same(runs)
    rows = [
        row
        for machine, points in machines
        for by_class in points.values()
        for row in _rows(machine, by_class, published, same)
    ]
    if not rows:
        return None
    return Table(
        name="how-true",
        title="How true: the same points in several clock classes",
        columns=(
            "Board, kernel",
            "Benchmark",
            "Point",
            "Lane",
            "Statistic",
            *CLASSES,
            "Model's interval",
            *(f"{name} / most exact" for name in CLASSES[:-1]),
            "Most exact",
            "Published",
            "Published class",
            "Published system",
            "Most exact / published",
        ),
        rows=tuple(rows),
        numeric=frozenset({5, 6, 7, 8, 9, 10, 11, 12, 14, 17}),
        notes=(
            "Each column of figures is one clock class; the unit is in the cell. Ratios relate "
            "counts of one board: instruction / cycle is instructions per cycle, not an error.",
            "A published figure has a ratio only if it and ours are in cycles: a time would need "
            "the clock of that system, and instructions are never a time. The ratio does not "
            "correct for definitions: the study may have timed another span under that name.",
            *(
                f"Points of {label} are not shown where an earlier run has them in the same class."
                for label in repeated
            ),
        ),
    )


def _same(runs: Named) -> dict[str, Params]:
    """The parameters that a benchmark has in common in all runs."""
    every = [run for _, run in runs]
    return {
        record.bench: labels.constants(record.bench, every)
        for run in every
        for record in run.records
    }


def _taken(runs: Named) -> tuple[list[tuple[str, _Points]], list[str]]:
    """The points of each board and kernel, and the labels of runs that repeat a point of a class.

    One run of a class may add points to another's, as two campaigns do.
    """
    machines: dict[_Machine, _Points] = defaultdict(lambda: defaultdict(dict))
    names: dict[_Machine, str] = {}
    repeated = []
    named = Points(record.entry for _, run in runs for record in run.records)
    for label, run in runs:
        machine = run.manifest.target.board, labels.kernel(run)
        names.setdefault(machine, ", ".join(machine))
        kind, points = run.manifest.clock.clock_class, machines[machine]
        records = _records(run, named) if kind in CLASSES else {}
        if any(kind in points[point] for point in records):
            repeated.append(label)
        for point, record in records.items():
            points[point].setdefault(kind, (run, record))
    return [(names[machine], points) for machine, points in machines.items()], repeated


def _records(run: RunResult, named: Points) -> dict[_Point, RecordResult]:
    return {
        (record.bench, named.of(record.bench, record.params)): record
        for record in run.records
        if record.usable and record.bench.partition("/")[0] not in _CLOCK_FAMILIES
    }


def _figures(record: RecordResult) -> dict[_Key, Figure]:
    """Of a batch one iteration, of a window one operation, else the statistics of each lane."""
    scale = record.unit.figure

    def span(of: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if of is None else (scale(of[0]), scale(of[1]))

    if record.per_execution is not None:
        modelled = next(
            (structure.modelled for structure in record.structures if structure.modelled), None
        )
        return {
            (digits.ABSENT, "mean"): Figure(record, scale(record.per_execution), span(modelled))
        }
    figures = {}
    for lane in record.lanes:
        if lane.summary is None or lane.entry.companion_of:
            continue
        for name in STATISTICS:
            model = span(lane.modelled) if name == "median" else None
            figures[lane.name, name] = Figure(record, scale(getattr(lane.summary, name)), model)
    return figures


def _lines(by_class: _ByClass, published: Sequence[PublishedFigure]) -> Iterator[_Line]:
    """The lane statistics of a point that two classes have."""
    figures = {kind: _figures(record) for kind, (_, record) in by_class.items()}
    keys = dict.fromkeys(key for by_key in figures.values() for key in by_key)
    for key in keys:
        by_kind = {kind: figures[kind][key] for kind in CLASSES if key in figures.get(kind, {})}
        if len(by_kind) < 2:
            continue
        rows = [
            row
            for row in matches(published, *next(iter(by_class.values())))
            if row.statistic == key[1]
        ]
        yield _Line(key, by_kind, rows)


def _rows(
    machine: str, by_class: _ByClass, published: Sequence[PublishedFigure], same: dict[str, Params]
) -> Iterator[tuple[Cell, ...]]:
    for line in _lines(by_class, published):
        rows: list[PublishedFigure | None] = [*line.published] or [None]
        for row in rows:
            yield (
                text_cell(machine),
                text_cell(line.record.bench),
                text_cell(labels.point(line.record, hide=same[line.record.bench])),
                text_cell(line.key[0]),
                text_cell(line.key[1]),
                *_beside(line.figures),
                *_published(row, line.figures),
            )


def plots(published: Sequence[PublishedFigure], runs: Named) -> list[Plot]:
    """A picture for each board and kernel: each point's ratios to its most exact count.

    A point has its median, a batch its mean. Published figures are rings, in cycles only.
    """
    same = _same(runs)
    machines, _ = _taken(runs)
    pictures = []
    for number, (machine, points) in enumerate(machines):
        rows, exact = [], set()
        for line in chain.from_iterable(_lines(of, published) for of in points.values()):
            marks, best = _marks(line)
            if line.key[1] in ("median", "mean" if line.key[0] == digits.ABSENT else "") and marks:
                hide = same[line.record.bench]
                place = (line.record.bench, labels.point(line.record, hide=hide), line.key[0])
                named = [word for word in place if word not in (digits.ABSENT, "all", "")]
                rows.append(Row(" ".join(named), marks))
                exact.add(best)
        if rows:
            classes = " or ".join(kind for kind in CLASSES if kind in exact)
            relation = f"counts in relation to those of class {classes} (1)"
            caption = Caption(machine, relation, "Ratios", f"how-true-{number}")
            pictures.append(ratios(rows, caption))
    return pictures


def _marks(line: _Line) -> tuple[tuple[Mark, ...], ClockClass | None]:
    """A mark for each less exact class, for the interval of a model, and for a published figure."""
    counts = _counts(line.figures)
    best = _best(counts)
    if best is None or not counts[best].value:
        return (), None
    exact = counts[best].value
    marks = []
    for kind, count in counts.items():
        span = count.interval and (count.interval[0] / exact, count.interval[1] / exact)
        if kind != best or span:
            marks.append(Mark(kind, count.value / exact, CLASSES.index(kind), span))
    unit = counts[best].record.unit.label
    marks += [
        Mark("published", row.value / exact, len(CLASSES), ring=True)
        for row in line.published
        if row.unit == unit and row.value
    ]
    return tuple(marks), best


def _counts(figures: dict[ClockClass, Figure]) -> dict[ClockClass, Figure]:
    return {kind: figure for kind, figure in figures.items() if not figure.record.unit.is_time}


def _best(counts: dict[ClockClass, Figure]) -> ClockClass | None:
    """The most exact class of those that count."""
    return next((kind for kind in reversed(CLASSES) if kind in counts), None)


def _beside(figures: dict[ClockClass, Figure]) -> tuple[Cell, ...]:
    """A cell for each class with its unit, the interval, and the ratios to the most exact count."""
    counts = _counts(figures)
    best = _best(counts)
    model = figures.get("cycle-model")
    span = model.interval if model is not None else None
    interval = "" if span is None else " to ".join(digits.number(end) for end in span)
    return (
        *(_cell(figures.get(kind)) for kind in CLASSES),
        text_cell(interval),
        *(
            text_cell("")
            if best is None or kind == best
            else _ratio(counts.get(kind), counts[best])
            for kind in CLASSES[:-1]
        ),
        text_cell("") if best is None else Cell(best, best, f"badge {best}"),
    )


def _published(row: PublishedFigure | None, figures: dict[ClockClass, Figure]) -> tuple[Cell, ...]:
    if row is None:
        return (text_cell(""),) * 4
    ours = next((figures[kind] for kind in reversed(CLASSES) if kind in figures), None)
    comparable = ours is not None and ours.record.unit.label == row.unit
    value = as_printed(row)
    return (
        Cell(f"{value.text} {row.unit}", row.value),
        badge(row.system),
        text_cell(f"{row.system.name}, {row.kernel}, {row.paper} {row.where}"),
        Cell(f"{ours.value / row.value:.2f}", ours.value / row.value)
        if comparable and ours is not None and row.value
        else text_cell(""),
    )


def _cell(of: Figure | None) -> Cell:
    if of is None:
        return text_cell("")
    return Cell(f"{digits.number(of.value)} {of.record.unit.label}", of.value)


def _ratio(of: Figure | None, exact: Figure) -> Cell:
    if of is None or not exact.value:
        return text_cell("")
    ratio = of.value / exact.value
    return Cell(f"{ratio:.3f}", ratio)
