# SPDX-License-Identifier: Apache-2.0
"""Thread-Metric's workloads as a table: counted by its rule, and operation by operation."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.structures.windows import Windows
from kadenz.report import digits, labels
from kadenz.report.families import Family
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named

SAMPLED = "-sampled"
FAMILY = "thread-metric/"
NOTES = (
    "By the rule: operations counted while the most urgent thread slept, in all windows together. "
    "A window includes the kernel's ticks and the workload's own loop.",
    "Sampled: the same operation between two stamps. A sample of `preemptive` is the chain of five "
    "counts, one of `interrupt-preemption` holds two counts; all others are one count.",
)
# Content of one sample, in counts of the rule.
_COUNTS = {"preemptive": 5, "interrupt-preemption": 2}


def workload_table(runs: Named) -> Table | None:
    """A row per workload and run; None without operations counted in windows."""
    rows = [row for label, run in runs for row in _rows(label, run)]
    if not rows:
        return None
    return Table.headed(
        "Target | Workload | >Windows | >Operations | >Each, by the rule | >Median sample | "
        ">p99 | >Max | >Counts per sample | Unit | Clock class",
        name="thread-metric",
        title="Thread-Metric",
        rows=rows,
        notes=NOTES,
    )


def _rows(label: str, run: RunResult) -> list[tuple[Cell, ...]]:
    return [
        _row(label, record, windows, _sampled(record, run.records))
        for record in run.records
        if record.bench.startswith(FAMILY) and (windows := record.structure(Windows)) is not None
    ]


def _sampled(counted: RecordResult, records: Sequence[RecordResult]) -> RecordResult | None:
    """The record of the same workload, operation by operation, at the same parameters."""
    params = {name: value for name, value in counted.params.items() if name != "window_us"}
    return next(
        (
            record
            for record in records
            if record.usable
            and record.bench == counted.bench + SAMPLED
            and dict(record.params) == params
        ),
        None,
    )


def _row(
    label: str, record: RecordResult, counted: Windows, sampled: RecordResult | None
) -> tuple[Cell, ...]:
    unit = record.unit
    name = record.bench.removeprefix(FAMILY)
    params = {name: value for name, value in record.params.items() if name != "window_us"}
    words_of = "".join(f", {value}" for value in params.values())
    lane = sampled.main if sampled is not None else None
    cells: list[Cell] = [Cell(digits.ABSENT)] * 3
    if lane is not None and lane.summary is not None:
        p99 = lane.percentile("p99")
        cells = [
            figure(lane.summary.median, unit),
            figure(p99.value if p99 else None, unit),
            figure(lane.summary.max, unit),
        ]
    return (
        text_cell(label),
        text_cell(name + words_of),
        Cell(f"{counted.windows:,}", counted.windows),
        Cell(f"{counted.operations:,}", counted.operations),
        figure(counted.per_operation, unit),
        *cells,
        Cell(str(_COUNTS.get(name, 1)), _COUNTS.get(name, 1)),
        text_cell(labels.unit(unit)),
        badge(unit),
    )


FAMILIES = (Family("thread-metric", "Thread-Metric's eight", 60, workload_table),)
