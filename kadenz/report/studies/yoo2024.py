# SPDX-License-Identifier: Apache-2.0
"""Tables 3 and 4 and figure 15 of Yoo and Choi (2024), ours next to published.

Figure 15 shows the position error of each joint as it moves from 0 to 90 degrees. The study states
that the error stays within 2 degrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kadenz.analysis.published import PublishedFigure, family_of
from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.report import digits, labels
from kadenz.report.studies.rows import (
    measured,
    printed,
    remarks,
    statistics_table,
    whole_summary,
)
from kadenz.report.svg.lines import Line, lines
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named

PAPER = "yoo2024"
TABLE_3, TABLE_4, FIGURE = "Table 3", "Table 4", "Fig. 15"
POSITION_ERROR = "motion/position-error"
WAY = "cycles_of_a_way"  # a setting of the target: cycles of one way out or back
_PERIOD_S = 0.001
_OUT = "out"
_MECHANISMS = (
    ("itc/semaphore-counting", "Counting semaphore"),
    ("itc/mutex", "Mutex"),
    ("itc/semaphore-binary", "Binary semaphore"),
)


def table_3(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Semaphores and mutex of RTOSes. None if no run measured any of them."""
    rows: list[tuple[Cell, ...]] = []
    kinds: list[str] = []
    ours: list[RunResult] = []
    boards = [row for row in figures if (row.paper, row.where) == (PAPER, TABLE_3)]
    for bench, name in _MECHANISMS:
        published = [f for f in boards if f.benchmark == bench]
        for row in printed(published):
            rows.append((text_cell(name), *row))
            kinds.append("published")
        for label, run in runs:
            if run.manifest.target.tier in ("host", "guest"):
                continue
            for record in run.find(bench):
                if record.main is not None and record.main.summary is not None:
                    rows.append((text_cell(name), *measured(label, run, record)))
                    kinds.append("ours")
                    ours.append(run)
    table = statistics_table(
        "yoo2024-table-3",
        f"Semaphores and mutex on {labels.kernels(ours)} (layout of Yoo and Choi 2024, table 3)",
        "ITC",
        rows,
        kinds,
        len(ours),
    )
    return table and replace(table, notes=(*table.notes, *remarks(boards)))


def table_4(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Scheduling latency on Linux. None if no run measured it."""
    published = [f for f in figures if f.paper == PAPER and f.where == TABLE_4]
    rows = [(text_cell("Wake-up latency"), *row) for row in printed(published)]
    kinds = ["published"] * len(rows)
    ours = 0
    for label, run in runs:
        if not any(family_of(f, run) for f in published):
            continue
        for record in run.find("cyclic/wakeup-latency"):
            summary = whole_summary(record)
            if summary is not None and record.params.get("migrate", "none") == "none":
                rows.append((text_cell("Wake-up latency"), *measured(label, run, record)))
                kinds.append("ours")
                ours += 1
    return statistics_table(
        "yoo2024-table-4",
        "Scheduling latency on Linux (layout of Yoo and Choi 2024, table 4)",
        "What",
        rows,
        kinds,
        ours,
    )


def figure_15(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """The largest error of each joint, out and back, under the published limit."""
    published = [row for row in figures if row.paper == PAPER and row.where == FIGURE]
    rows: list[tuple[Cell, ...]] = []
    for row in published:
        limit = f"below {digits.printed(row.value)}"
        rows.append(
            (
                text_cell("published", "published"),
                text_cell(f"{row.system.name}, {row.kernel}"),
                text_cell(row.parameters["joint"]),
                Cell(limit, row.value),
                Cell(digits.ABSENT),
                text_cell(row.unit),
                badge(row.system),
            )
        )
    kinds = ["published"] * len(rows)
    for label, run in runs:
        for record in run.find(POSITION_ERROR):
            largest = [_largest(record, lane) for lane in record.lanes]
            if None in largest or len(largest) != 2:
                continue
            rows.append(
                (
                    text_cell("ours", "ours"),
                    text_cell(labels.figure_label(label, run, POSITION_ERROR)),
                    text_cell(str(record.params["joint"])),
                    *(figure(value, record.unit) for value in largest if value is not None),
                    text_cell(record.unit.label),
                    badge(record.unit),
                )
            )
            kinds.append("ours")
    if not published or "ours" not in kinds:
        return None
    return Table.headed(
        "Whose | System | Joint | >Out | >Back | Unit | Clock class",
        name="yoo2024-figure-15",
        title="Largest position error of each joint (Yoo and Choi 2024, figure 15)",
        rows=rows,
        notes=(
            "Published: the study's statement on all joints of a real arm. Ours: largest magnitude "
            "over all cycles. Simulated drives follow better than real ones.",
        ),
        row_kinds=tuple(kinds),
    )


def _largest(record: RecordResult, lane: LaneResult) -> float | None:
    if not record.usable or lane.summary is None:
        return None
    return max(abs(lane.summary.min), abs(lane.summary.max))


def plots(runs: Named) -> list[Plot]:
    """The first way out of each run with all joints, if the run gives the length of a way."""
    pictures = []
    for label, run in runs:
        cycles = int(run.manifest.target.settings.get(WAY, "0"))
        joints = list(_joints(run, cycles))
        if joints:
            unit = run.find(POSITION_ERROR)[0].unit
            pictures.append(
                lines(
                    joints,
                    Caption(
                        heading=labels.figure_label(label, run, POSITION_ERROR),
                        subheading="as figure 15: position error, first way out, "
                        f"{labels.unit(unit)}",
                        unit=unit.label,
                        name=labels.slug("yoo2024-figure-15", label),
                    ),
                    axis="s",
                )
            )
    return pictures


def _joints(run: RunResult, cycles: int) -> Iterator[Line]:
    for record in run.find(POSITION_ERROR):
        for lane in record.lanes:
            of = lane.envelope
            if lane.name != _OUT or of is None:
                continue
            middle = of.bands[len(of.levels) // 2]
            points = [
                ((float(first) + float(length) / 2) * _PERIOD_S, record.unit.figure(float(value)))
                for first, length, value in zip(of.first, of.length, middle, strict=True)
                if first + length <= cycles
            ]
            if len(points) > 1:
                yield Line(f"joint {record.params['joint']}", points)
