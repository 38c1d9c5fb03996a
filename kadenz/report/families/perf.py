# SPDX-License-Identifier: Apache-2.0
"""The performance programs of kioxia2019 as a table: what made the slow samples slow."""

from __future__ import annotations

from kadenz.analysis.results import RecordResult
from kadenz.analysis.structures.tick_split import Part, TickSplit
from kadenz.report import digits, labels
from kadenz.report.families import Family
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named

FAMILY = "perf/"
NOTES = (
    "kioxia2019 names two causes of slow samples: first executions, and the timer's interrupt. "
    "Here the target notes the kernel's ticks beside each sample, and the first ones are known.",
    "A tick between a stamp and its note counts as well: such a sample is as fast as the others.",
)


def tick_table(runs: Named) -> Table | None:
    """A row per record whose samples carry the kernel's ticks; None without one."""
    rows = [
        _row(label, record, split)
        for label, run in runs
        for record in run.records
        if record.bench.startswith(FAMILY) and (split := record.structure(TickSplit)) is not None
    ]
    if not rows:
        return None
    return Table.headed(
        "Target | Benchmark | >First | >Largest first | >With a tick | >Largest with a tick | "
        ">Others | >Median of others | >Largest of others | Unit | Clock class",
        name="perf",
        title="First executions and ticks told apart",
        rows=rows,
        notes=NOTES,
    )


def _row(label: str, record: RecordResult, split: TickSplit) -> tuple[Cell, ...]:
    unit = record.unit
    by = record.params.get("by")

    def largest(part: Part | None) -> Cell:
        return figure(part.max if part else None, unit)

    return (
        text_cell(label),
        text_cell(record.bench.removeprefix(FAMILY) + (f", {by}" if by else "")),
        _count(split.cold),
        largest(split.cold),
        _count(split.ticked),
        largest(split.ticked),
        _count(split.plain),
        figure(split.plain.median if split.plain else None, unit),
        largest(split.plain),
        text_cell(labels.unit(unit)),
        badge(unit),
    )


def _count(part: Part | None) -> Cell:
    return Cell(digits.count(part.n), part.n) if part else Cell("0", 0)


FAMILIES = (Family("perf", "Wake, sleep, activate", 80, tick_table),)
