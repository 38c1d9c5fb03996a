# SPDX-License-Identifier: Apache-2.0
"""Table 3 of Mazzi, Gaga and Errahimi (2021): six other kernels, which the study cites.

The study defines the times in a legend of a line each. Only the switch to a more urgent task has
end points that a benchmark here shares: our median of it stands below.
"""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.report import digits, labels
from kadenz.report.studies.mazzi2021 import PAPER
from kadenz.report.studies.rows import CLASSES_DIFFER, as_printed
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named

TABLE = "Table 3"
_WAYS = ("event", "semaphore", "mailbox")
_TIMES = (
    ("switch/to-higher", "To higher"),
    ("switch/to-lower", "To lower"),
    ("call/signal", "Signal"),
    ("call/sent", "Sent"),
)
# Ours from the call of the less urgent task until the more urgent one has returned from its own.
_TO_HIGHER = {
    "event": "itc/event-flags-one-way",
    "semaphore": "itc/semaphore-binary-to-higher",
    "mailbox": "itc/queue-one-way",
}


def switch_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """None if no run measured the switch to a more urgent task in one of the three ways."""
    published = [f for f in figures if (f.paper, f.where) == (PAPER, TABLE)]
    measured = [row for _, run in runs if (row := _ours(run)) is not None]
    if not published or not measured:
        return None
    systems = dict.fromkeys((f.system.name, f.kernel) for f in published)
    printed = [
        _printed([f for f in published if (f.system.name, f.kernel) == system])
        for system in systems
    ]
    columns = [f"{title}, {way}" for _, title in _TIMES for way in _WAYS]
    return Table(
        name="mazzi2021-table-3",
        title="Task switches and calls of six kernels (Mazzi, Gaga and Errahimi 2021, table 3)",
        columns=("Whose", "System", "Kernel", *columns, "Unit", "Clock class"),
        rows=(*printed, *measured),
        numeric=frozenset(range(3, 3 + len(columns))),
        notes=(
            CLASSES_DIFFER,
            "The study cites these times and does not print whose boards, versions or end points "
            "they are. Two of its columns are headed µC/OS-III; its text names µC/OS-II as well.",
            "Ours: medians from a task's call until a more urgent task has returned from its own. "
            "The other times have no end points to measure.",
        ),
        row_kinds=("published",) * len(printed) + ("ours",) * len(measured),
    )


def _printed(figures: Sequence[PublishedFigure]) -> tuple[Cell, ...]:
    by_time = {(f.benchmark, f.parameters["by"]): f for f in figures}
    first = figures[0]
    return (
        text_cell("published", "published"),
        text_cell(first.system.name),
        text_cell(first.kernel),
        *(as_printed(by_time.get((bench, way))) for bench, _ in _TIMES for way in _WAYS),
        text_cell(first.unit),
        badge(first.system),
    )


def _ours(run: RunResult) -> tuple[Cell, ...] | None:
    """Our medians; None if the run has none of them."""
    if run.manifest.target.tier in ("host", "guest"):
        return None
    medians = [_median(run, _TO_HIGHER[way]) for way in _WAYS]
    if all(cell is None for cell in medians):
        return None
    absent = Cell(digits.ABSENT)
    return (
        text_cell("ours", "ours"),
        text_cell(f"{labels.board(run)} ({run.manifest.target.tier})"),
        text_cell(labels.kernel(run)),
        *(cell or absent for cell in medians),
        *(absent,) * (len(_WAYS) * (len(_TIMES) - 1)),
        text_cell(run.unit.label),
        badge(run.unit),
    )


def _median(run: RunResult, bench: str) -> Cell | None:
    """Of the smallest message, on one core."""
    records = [record for record in run.find(bench) if _to_higher(record)]
    smallest = min(
        records, key=lambda record: int(record.params.get("size_bytes", 0)), default=None
    )
    summary = smallest.main.summary if smallest is not None and smallest.main else None
    return None if summary is None or smallest is None else figure(summary.median, smallest.unit)


def _to_higher(record: RecordResult) -> bool:
    """Whether the switch is inside the call: its end is in a more urgent task of the same core."""
    params = record.params
    if not record.usable or params.get("core_a", 0) != params.get("core_b", 0):
        return False
    ranks = [int(params.get(name, 0)) for name in ("rank_a", "rank_b")]
    return record.bench.endswith("-to-higher") or ranks[0] < ranks[1]
