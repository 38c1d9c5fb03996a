# SPDX-License-Identifier: Apache-2.0
"""Rows and layouts that several studies share: mean, min, max and sd, published and ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.report import digits, labels
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.stats.summary import Summary

CLASSES_DIFFER = (
    "Published and measured rows whose clock classes differ come from different kinds of clock: "
    "compare the shape of the figures, never their size."
)
STATISTICS = ("mean", "min", "max", "sd")
_MECHANISMS = (
    ("itc/semaphore-counting", "Counting semaphore"),
    ("itc/mutex", "Mutex"),
    ("itc/semaphore-binary", "Binary semaphore"),
)


@dataclass(frozen=True)
class _System:
    """A published system under one kernel, in the order of the file."""

    name: str
    kernel: str


def statistics_table(
    name: str,
    title: str,
    first: str,
    rows: list[tuple[Cell, ...]],
    kinds: list[str],
    ours: int,
) -> Table | None:
    """A table of rows made by `printed` and `measured`; None without a measured row."""
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


def printed(published: Sequence[PublishedFigure]) -> list[tuple[Cell, ...]]:
    """Mean, min, max and sd of each published system, as printed."""
    systems: dict[_System, dict[str, PublishedFigure]] = {}
    for row in published:
        systems.setdefault(_System(row.system.name, row.kernel), {})[row.statistic] = row
    rows = []
    for system, by_statistic in systems.items():
        first = next(iter(by_statistic.values()))
        cells = [as_printed(by_statistic.get(name)) for name in STATISTICS]
        rows.append(
            (
                text_cell("published", "published"),
                text_cell(system.name),
                text_cell(system.kernel),
                *cells,
                text_cell(first.unit),
                badge(first.system),
            )
        )
    return rows


def measured(label: str, run: RunResult, record: RecordResult) -> tuple[Cell, ...]:
    """Mean, min, max and sd of one of our records, in its unit."""
    summary = whole_summary(record)
    assert summary is not None
    unit = record.unit
    return (
        text_cell("ours", "ours"),
        text_cell(
            labels.figure_label(
                f"{labels.board(run)} ({run.manifest.target.tier})", run, record.bench
            )
        ),
        text_cell(labels.kernel(run)),
        *(figure(getattr(summary, name), unit) for name in STATISTICS),
        text_cell(unit.label),
        badge(unit),
    )


def whole_summary(record: RecordResult) -> Summary | None:
    """The summary of all lanes together, for a study that gives one figure for four threads."""
    if record.pooled is not None:
        return record.pooled.summary
    return record.main.summary if record.main is not None else None


def remarks(published: Iterable[PublishedFigure]) -> tuple[str, ...]:
    """What is noted about the figures, each remark once, with its place and system."""
    noted = (
        f"{row.paper} {row.where}, {row.system.name}: {row.note}." for row in published if row.note
    )
    return tuple(dict.fromkeys(noted))


def as_printed(row: PublishedFigure | None) -> Cell:
    """A published figure with its printed digits."""
    return Cell(digits.ABSENT) if row is None else Cell(digits.printed(row.value), row.value)
