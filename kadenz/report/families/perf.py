# SPDX-License-Identifier: Apache-2.0
"""The performance programs of kioxia2019 as a table: what made the slow samples slow."""

from __future__ import annotations

from kadenz.analysis.results import Part, RecordResult
from kadenz.report import digits, labels
from kadenz.report.families import Family
from kadenz.report.table import Cell, Table, badge, figure, words
from kadenz.report.tables import Named

FAMILY = "perf/"
NOTES = (
    "kioxia2019 names two causes of slow samples: first executions, and the timer's interrupt. "
    "Here the target notes the kernel's ticks beside each sample, and the first ones are known.",
    "A tick between a stamp and its note counts as well: such a sample is as fast as the others.",
)


def table(runs: Named) -> Table | None:
    """A row per record whose samples carry the kernel's ticks; None without one."""
    rows = [
        _row(label, record)
        for label, run in runs
        for record in run.records
        if record.bench.startswith(FAMILY) and record.tick_split is not None
    ]
    if not rows:
        return None
    return Table(
        name="perf",
        title="First executions and ticks told apart",
        columns=(
            "Target",
            "Benchmark",
            "First",
            "Largest first",
            "With a tick",
            "Largest with a tick",
            "Others",
            "Median of others",
            "Largest of others",
            "Unit",
            "Clock class",
        ),
        rows=tuple(rows),
        numeric=frozenset(range(2, 9)),
        notes=NOTES,
    )


def _row(label: str, record: RecordResult) -> tuple[Cell, ...]:
    found, unit = record.tick_split, record.unit
    assert found is not None
    by = record.params.get("by")

    def largest(part: Part | None) -> Cell:
        return figure(part.max if part else None, unit)

    return (
        words(label),
        words(record.bench.removeprefix(FAMILY) + (f", {by}" if by else "")),
        _count(found.cold),
        largest(found.cold),
        _count(found.ticked),
        largest(found.ticked),
        _count(found.plain),
        figure(found.plain.median if found.plain else None, unit),
        largest(found.plain),
        words(labels.unit(unit)),
        badge(unit),
    )


def _count(part: Part | None) -> Cell:
    return Cell(digits.count(part.n), part.n) if part else Cell("0", 0)


FAMILIES = (Family("perf", "Wake, sleep, activate", 80, table),)
