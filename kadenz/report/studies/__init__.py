# SPDX-License-Identifier: Apache-2.0
"""The studies' own table layouts, ours beside published.

The published rows are shown as printed, in their unit and with the class of their clock; ours in
ours. Nothing is converted, and no ratio is formed: a reader who wants one has to decide first what
it would mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kadenz.analysis.published import PublishedFigure, family_of, matches, same_benchmark
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.report import digits, labels
from kadenz.report.studies import cereia2011, yoo2024
from kadenz.report.table import Cell, Table, badge, figure, words
from kadenz.report.tables import Named
from kadenz.stats.summary import Summary

CLASSES_DIFFER = (
    "Published and measured rows stand on different clocks where their classes differ: compare the "
    "shape of the figures, never their size."
)
_STATISTICS = ("mean", "min", "max", "sd")
_MECHANISMS = (
    ("itc/semaphore-counting", "Counting semaphore"),
    ("itc/mutex", "Mutex"),
    ("itc/semaphore-binary", "Binary semaphore"),
)
_METRICS = (
    ("micro/task-switch", "Task switching"),
    ("micro/preemption", "Preemption"),
    ("micro/semaphore-shuffle", "Semaphore shuffling"),
    ("micro/message-latency", "Messaging latency"),
)


@dataclass(frozen=True)
class _System:
    """A published system under one kernel, in the order of the file."""

    name: str
    kernel: str


def tables(figures: Sequence[PublishedFigure], runs: Named) -> list[Table]:
    """Every layout of which `runs` measured something."""
    made = (
        _yoo_table_3(figures, runs),
        _yoo_table_4(figures, runs),
        yoo2024.table(figures, runs),
        _mazzi_table_4(figures, runs),
        cereia2011.table(figures, runs),
        _other_points(figures, runs),
    )
    return [table for table in made if table is not None]


def _yoo_table_3(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    rows: list[tuple[Cell, ...]] = []
    kinds: list[str] = []
    ours = 0
    boards = [figure for figure in figures if figure.where == "Table 3"]
    for bench, name in _MECHANISMS:
        published = [f for f in boards if f.benchmark == bench]
        for row in _printed(published):
            rows.append((words(name), *row))
            kinds.append("published")
        for label, run in runs:
            if not any(family_of(f, run) for f in published):
                continue
            for record in run.find(bench):
                if record.main is not None and record.main.summary is not None:
                    rows.append((words(name), *_measured(label, run, record)))
                    kinds.append("ours")
                    ours += 1
    return _statistics_table(
        "yoo2024-table-3",
        "Semaphores and mutex on FreeRTOS (layout of Yoo and Choi 2024, table 3)",
        "ITC",
        rows,
        kinds,
        ours,
    )


def _yoo_table_4(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    published = [f for f in figures if f.paper == "yoo2024" and f.where == "Table 4"]
    rows = [(words("Wake-up latency"), *row) for row in _printed(published)]
    kinds = ["published"] * len(rows)
    ours = 0
    for label, run in runs:
        if not any(family_of(f, run) for f in published):
            continue
        for record in run.find("cyclic/wakeup-latency"):
            summary = _whole_summary(record)
            if summary is not None:
                rows.append((words("Wake-up latency"), *_measured(label, run, record)))
                kinds.append("ours")
                ours += 1
    return _statistics_table(
        "yoo2024-table-4",
        "Scheduling latency on Linux (layout of Yoo and Choi 2024, table 4)",
        "What",
        rows,
        kinds,
        ours,
    )


def _statistics_table(
    name: str,
    title: str,
    first: str,
    rows: list[tuple[Cell, ...]],
    kinds: list[str],
    ours: int,
) -> Table | None:
    if not ours:
        return None
    return Table(
        name=name,
        title=title,
        columns=(
            first,
            "Whose",
            "System",
            "Kernel",
            "Mean",
            "Min",
            "Max",
            "Sdev",
            "Unit",
            "Clock class",
        ),
        rows=tuple(rows),
        numeric=frozenset({4, 5, 6, 7}),
        notes=(CLASSES_DIFFER,),
        row_kinds=tuple(kinds),
    )


def _printed(published: Sequence[PublishedFigure]) -> list[tuple[Cell, ...]]:
    """Mean, min, max and sd of each published system, as printed."""
    systems: dict[_System, dict[str, PublishedFigure]] = {}
    for row in published:
        systems.setdefault(_System(row.system.name, row.kernel), {})[row.statistic] = row
    rows = []
    for system, by_statistic in systems.items():
        one = next(iter(by_statistic.values()))
        cells = [_as_printed(by_statistic.get(name)) for name in _STATISTICS]
        rows.append(
            (
                words("published", "published"),
                words(system.name),
                words(system.kernel),
                *cells,
                words(one.unit),
                badge(one.system),
            )
        )
    return rows


def _measured(label: str, run: RunResult, record: RecordResult) -> tuple[Cell, ...]:
    summary = _whole_summary(record)
    assert summary is not None
    unit = record.unit
    return (
        words("ours", "ours"),
        words(
            labels.marked(f"{labels.board(run)} ({run.manifest.target.tier})", run, record.bench)
        ),
        words(labels.kernel(run)),
        *(figure(getattr(summary, name), unit) for name in _STATISTICS),
        words(unit.label),
        badge(unit),
    )


def _whole_summary(record: RecordResult) -> Summary | None:
    """Of all lanes together, as a study that names one figure for four threads does."""
    if record.pooled is not None:
        return record.pooled.summary
    return record.main.summary if record.main is not None else None


def _as_printed(row: PublishedFigure | None) -> Cell:
    return Cell(digits.ABSENT) if row is None else Cell(digits.printed(row.value), row.value)


def _mazzi_table_4(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    published = [f for f in figures if f.paper == "mazzi2021" and f.where == "Table 4"]
    rows: list[tuple[Cell, ...]] = []
    kinds: list[str] = []
    for kernel in dict.fromkeys(f.kernel for f in published):
        own = [f for f in published if f.kernel == kernel]
        for statistic, what in (("total", "for 50,000 iterations"), ("mean", "for one iteration")):
            cells = [
                _as_printed(
                    next(
                        (f for f in own if f.benchmark == bench and f.statistic == statistic), None
                    )
                )
                for bench, _ in _METRICS
            ]
            head = (words("published", "published"), words(own[0].system.name), words(kernel))
            rows.append((*head, words(what), *cells, words(own[0].unit), badge(own[0].system)))
            kinds.append("published")
    ours = 0
    for _, run in runs:
        if run.manifest.target.tier in ("host", "guest"):
            continue
        for what, take in _ways(run):
            found = [take(bench) for bench, _ in _METRICS]
            if any(cell is not None for cell in found):
                rows.append(
                    (
                        words("ours", "ours"),
                        words(f"{labels.board(run)} ({run.manifest.target.tier})"),
                        words(labels.kernel(run)),
                        words(what),
                        *(Cell(digits.ABSENT) if cell is None else cell for cell in found),
                        words(run.unit.label),
                        badge(run.unit),
                    )
                )
                kinds.append("ours")
                ours += 1
    if not ours:
        return None
    return Table(
        name="mazzi2021-table-4",
        title="Micro-benchmarks on FreeRTOS (layout of Mazzi, Gaga and Errahimi 2021, table 4)",
        columns=(
            "Whose",
            "System",
            "Kernel",
            "Figure",
            *(name for _, name in _METRICS),
            "Unit",
            "Clock class",
        ),
        rows=tuple(rows),
        numeric=frozenset({4, 5, 6, 7}),
        notes=(
            CLASSES_DIFFER,
            "Batches are shown less their empty loop, as published; sample by sample is the median "
            "of single executions and holds the cost of reading the clock.",
        ),
        row_kinds=tuple(kinds),
    )


_Take = Callable[[str], Cell | None]


def _ways(run: RunResult) -> list[tuple[str, _Take]]:
    """The three figures of ours: whole batch, one iteration of it, single executions."""

    def batch(bench: str) -> RecordResult | None:
        return next(
            (r for r in run.records if r.usable and r.batch is not None and r.bench == bench),
            None,
        )

    def total(bench: str) -> Cell | None:
        record = batch(bench)
        if record is None or record.batch is None:
            return None
        return figure(record.batch.total, record.unit)

    def one(bench: str) -> Cell | None:
        record = batch(bench)
        if record is None or record.batch is None:
            return None
        return figure(record.batch.per_iteration, record.unit)

    def single(bench: str) -> Cell | None:
        records = [r for r in run.find(f"{bench}-sampled") if r.main is not None]
        summary = records[0].main.summary if records and records[0].main else None
        return None if summary is None else figure(summary.median, records[0].unit)

    counts = {r.batch.iterations for r in run.records if r.usable and r.batch is not None}
    times = f"{next(iter(counts)):,}" if len(counts) == 1 else "all"
    return [
        (f"for {times} iterations", total),
        ("for one iteration", one),
        ("sample by sample, median", single),
    ]


_IN_LAYOUTS = {
    ("yoo2024", "Table 3"),
    ("yoo2024", "Table 4"),
    ("mazzi2021", "Table 4"),
    (yoo2024.PAPER, yoo2024.FIGURE),
    (cereia2011.PAPER, cereia2011.TABLE),
}


def _other_points(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Published figures of no table of their own, beside the same point of ours."""
    rows = []
    notes: dict[str, None] = {}
    elsewhere = [f for f in figures if (f.paper, f.where) not in _IN_LAYOUTS]
    all_runs = [run for _, run in runs]
    benches = {record.bench for run in all_runs for record in run.records}
    same = {bench: labels.constants(bench, all_runs) for bench in benches}
    for label, run in runs:
        for record in run.records:
            summary = _whole_summary(record) if record.usable else None
            if summary is None:
                continue
            where = labels.point(record, hide=same[record.bench])
            for row in matches(elsewhere, run, record):
                if row.statistic in _STATISTICS:
                    rows.append(
                        _beside(
                            row, labels.marked(label, run, record.bench), where, record, summary
                        )
                    )
                    if row.note:
                        notes[f"{row.paper} {row.where}, {row.system.name}: {row.note}."] = None
    if not rows:
        return None
    return Table(
        name="published-points",
        title="Single figures of the studies, ours beside published",
        columns=(
            "Benchmark",
            "Point",
            "Statistic",
            "Published",
            "Unit",
            "Clock class",
            "System, kernel, place",
            "Ours",
            "Our unit",
            "Our clock class",
            "Our target",
        ),
        rows=tuple(rows),
        numeric=frozenset({3, 7}),
        notes=(CLASSES_DIFFER, *notes),
    )


def _beside(
    row: PublishedFigure, label: str, point: str, record: RecordResult, summary: Summary
) -> tuple[Cell, ...]:
    unit = record.unit
    return (
        words(record.bench),
        words(point),
        words(row.statistic),
        _as_printed(row),
        words(row.unit),
        badge(row.system),
        words(f"{row.system.name}, {row.kernel}, {row.paper} {row.where}"),
        figure(getattr(summary, row.statistic), unit),
        words(unit.label),
        badge(unit),
        words(label),
    )


@dataclass(frozen=True)
class PublishedSystem:
    """Whose published means a plot shows."""

    name: str
    kernel: str
    unit: str
    clock_class: str
    boards: tuple[str, ...]


def sizes_published(
    figures: Sequence[PublishedFigure], bench: str, runs: Named
) -> dict[PublishedSystem, list[tuple[float, float, str]]]:
    """Published means over size, for plots, as (size, value, where).

    Only systems of a family that `runs` measured with this benchmark.
    """
    found: dict[PublishedSystem, list[tuple[float, float, str]]] = {}
    measured = [run for _, run in runs if run.find(bench)]
    for row in figures:
        size = row.our_params.get("size_bytes")
        if (
            size is None
            or row.statistic != "mean"
            or not same_benchmark(row.benchmark, bench)
            or not any(family_of(row, run) for run in measured)
        ):
            continue
        of = row.system
        key = PublishedSystem(of.name, row.kernel, row.unit, of.clock_class, of.boards)
        found.setdefault(key, []).append((float(size), row.value, f"{row.paper} {row.where}"))
    return found
