# SPDX-License-Identifier: Apache-2.0
"""Mazzi, Gaga and Errahimi (2021): their four micro-benchmarks, ours next to published.

Table 4 has cycles, figures 10 to 13 the same in microseconds: cycles over the 80 MHz of the study
(its equation 2). The text prints two of the four; the table calculates the other two. Ours is
calculated likewise, but only from cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RunResult
from kadenz.analysis.structures.batch import Batch
from kadenz.report import digits, labels
from kadenz.report.studies.rows import CLASSES_DIFFER, as_printed
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named

PAPER = "mazzi2021"
TABLE = "Table 4"
FIGURES = ("Fig. 12", "Fig. 13")
_MHZ, _AT_80_MHZ = 80, "mean_at_80_mhz"
_PER_ITERATION = "for one iteration"
_TIME = "for one iteration, at 80 MHz"
_METRICS = (
    ("micro/task-switch", "Task switching"),
    ("micro/preemption", "Preemption"),
    ("micro/semaphore-shuffle", "Semaphore shuffling"),
    ("micro/message-latency", "Messaging latency"),
)

_Take = Callable[[str], Cell | None]


def iteration_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Batches of 50,000 iterations and single executions. None if we measured none of them."""
    published = [f for f in figures if f.paper == PAPER and f.where in (TABLE, *FIGURES)]
    measured = [(run, rows) for _, run in runs if (rows := _ours(run))]
    if not measured:
        return None
    printed = _printed(published)
    ours = [row for _, rows in measured for row in rows]
    kernels = labels.kernels(run for run, _ in measured)
    return Table(
        name="mazzi2021-table-4",
        title=f"Micro-benchmarks on {kernels} (layout of Mazzi, Gaga and Errahimi 2021, table 4)",
        columns=(
            "Whose",
            "System",
            "Kernel",
            "Figure",
            *(name for _, name in _METRICS),
            "Unit",
            "Clock class",
        ),
        rows=(*printed, *ours),
        numeric=frozenset({4, 5, 6, 7}),
        notes=(
            CLASSES_DIFFER,
            "Batches are shown less their empty loop, as published. “Sample by sample” is the "
            "median of single executions and includes the cost of reading the clock.",
            "At 80 MHz: figures 10 to 13 of the study, which are cycles over 80 (equation 2). "
            "Messages and semaphore are printed; the others are calculated here from table 4, and "
            "ours from our cycles. Instructions are no cycles and have no such row.",
        ),
        row_kinds=("published",) * len(printed) + ("ours",) * len(ours),
    )


def _printed(published: Sequence[PublishedFigure]) -> list[tuple[Cell, ...]]:
    rows = []
    for kernel in dict.fromkeys(f.kernel for f in published):
        figures = [f for f in published if f.kernel == kernel]
        for statistic, what in (("total", "for 50,000 iterations"), ("mean", _PER_ITERATION)):
            by_bench = {f.benchmark: f for f in figures if f.statistic == statistic}
            cells = [as_printed(by_bench.get(bench)) for bench, _ in _METRICS]
            head = (
                text_cell("published", "published"),
                text_cell(figures[0].system.name),
                text_cell(kernel),
            )
            rows.append(
                (
                    *head,
                    text_cell(what),
                    *cells,
                    text_cell(figures[0].unit),
                    badge(figures[0].system),
                )
            )
        times = [_published_time(figures, bench) for bench, _ in _METRICS]
        rows.append((*head, text_cell(_TIME), *times, text_cell("µs"), badge(figures[0].system)))
    return rows


def _published_time(figures: Sequence[PublishedFigure], bench: str) -> Cell:
    """As printed, or the published cycles over the frequency."""
    by_statistic = {f.statistic: f for f in figures if f.benchmark == bench}
    if _AT_80_MHZ in by_statistic or "mean" not in by_statistic:
        return as_printed(by_statistic.get(_AT_80_MHZ))
    return _time(by_statistic["mean"].value)


def _time(cycles: float) -> Cell:
    """Microseconds by equation 2 of the study."""
    return Cell(digits.number(cycles / _MHZ), cycles / _MHZ)


def _ours(run: RunResult) -> list[tuple[Cell, ...]]:
    if run.manifest.target.tier in ("host", "guest"):
        return []
    rows = []
    for what, take in _ways(run):
        cells = [take(bench) for bench, _ in _METRICS]
        if all(cell is None for cell in cells):
            continue
        rows.append(
            (
                text_cell("ours", "ours"),
                text_cell(f"{labels.board(run)} ({run.manifest.target.tier})"),
                text_cell(labels.kernel(run)),
                text_cell(what),
                *(Cell(digits.ABSENT) if cell is None else cell for cell in cells),
                text_cell(run.unit.label),
                badge(run.unit),
            )
        )
        if what == _PER_ITERATION and run.unit.hz == _MHZ * 1e6:
            times = [
                Cell(digits.ABSENT) if cell is None or cell.raw is None else _time(float(cell.raw))
                for cell in cells
            ]
            rows.append((*rows[-1][:3], text_cell(_TIME), *times, text_cell("µs"), badge(run.unit)))
    return rows


def _ways(run: RunResult) -> list[tuple[str, _Take]]:
    """Our three figures: whole batch, one iteration of it, single executions."""

    batches = {r.bench: (r.unit, b) for r in run.records if (b := r.structure(Batch)) is not None}

    def total(bench: str) -> Cell | None:
        unit, batch = batches.get(bench, (run.unit, None))
        return None if batch is None else figure(batch.total, unit)

    def per_iteration(bench: str) -> Cell | None:
        unit, batch = batches.get(bench, (run.unit, None))
        return None if batch is None else figure(batch.per_iteration, unit)

    def single(bench: str) -> Cell | None:
        records = [r for r in run.find(f"{bench}-sampled") if r.main is not None]
        summary = records[0].main.summary if records and records[0].main else None
        return None if summary is None else figure(summary.median, records[0].unit)

    counts = {batch.iterations for _, batch in batches.values()}
    times = f"{next(iter(counts)):,}" if len(counts) == 1 else "all"
    return [
        (f"for {times} iterations", total),
        (_PER_ITERATION, per_iteration),
        ("sample by sample, median", single),
    ]
