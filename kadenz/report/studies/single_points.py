# SPDX-License-Identifier: Apache-2.0
"""Published figures without a table of their own, next to our figure for the same point."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kadenz.analysis.published import PublishedFigure, matches
from kadenz.analysis.results import RecordResult
from kadenz.report import labels
from kadenz.report.studies.rows import (
    CLASSES_DIFFER,
    STATISTICS,
    as_printed,
    remarks,
    whole_summary,
)
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named
from kadenz.stats.summary import Summary


def figure_table(
    figures: Sequence[PublishedFigure], runs: Named, elsewhere: Collection[tuple[str, str]]
) -> Table | None:
    """None if nothing matches. `elsewhere`: paper and place of figures with their own table."""
    rows = []
    shown: list[PublishedFigure] = []
    single = [f for f in figures if (f.paper, f.where) not in elsewhere]
    all_runs = [run for _, run in runs]
    benches = {record.bench for run in all_runs for record in run.records}
    same = {bench: labels.constants(bench, all_runs) for bench in benches}
    for label, run in runs:
        for record in run.records:
            summary = whole_summary(record) if record.usable else None
            if summary is None:
                continue
            where = labels.point(record, hide=same[record.bench])
            for row in matches(single, run, record):
                if row.statistic in STATISTICS:
                    rows.append(
                        _beside(
                            row,
                            labels.figure_label(label, run, record.bench),
                            where,
                            record,
                            summary,
                        )
                    )
                    shown.append(row)
    if not rows:
        return None
    return Table.headed(
        "Benchmark | Point | Statistic | >Published | Unit | Clock class | "
        "System, kernel, place | >Ours | Our unit | Our clock class | Our target",
        name="published-points",
        title="Single figures of the studies, ours next to published",
        rows=rows,
        notes=(CLASSES_DIFFER, *remarks(shown)),
    )


def _beside(
    row: PublishedFigure, label: str, point: str, record: RecordResult, summary: Summary
) -> tuple[Cell, ...]:
    unit = record.unit
    return (
        text_cell(record.bench),
        text_cell(point),
        text_cell(row.statistic),
        as_printed(row),
        text_cell(row.unit),
        badge(row.system),
        text_cell(f"{row.system.name}, {row.kernel}, {row.paper} {row.where}"),
        figure(getattr(summary, row.statistic), unit),
        text_cell(unit.label),
        badge(unit),
        text_cell(label),
    )
