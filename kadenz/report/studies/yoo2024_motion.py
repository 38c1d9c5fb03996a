# SPDX-License-Identifier: Apache-2.0
"""Tables 5 and 6 of Yoo and Choi (2024), section 5: four tasks, and how well the axes follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.report.studies.rows import (
    measured,
    printed,
    remarks,
    statistics_table,
    whole_summary,
)
from kadenz.report.table import Cell, Table, text_cell
from kadenz.report.tables import Named

PAPER = "yoo2024"
TABLE_5, TABLE_6 = "Table 5", "Table 6"
PLACES = (TABLE_5, TABLE_6)
_RESPONSE, _VELOCITY = "motion/response-time", "motion/velocity-error"


def response_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Response times of the tasks, by priority. None if no run measured them."""
    return _table(
        [f for f in figures if (f.paper, f.where) == (PAPER, TABLE_5)],
        runs,
        bench=_RESPONSE,
        key="priority",
        title="Response times of the control tasks (layout of Yoo and Choi 2024, table 5)",
        column="Task",
    )


def velocity_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Velocity errors of the joints, out and back in one row. None if no run measured them."""
    return _table(
        [f for f in figures if (f.paper, f.where) == (PAPER, TABLE_6)],
        runs,
        bench=_VELOCITY,
        key="joint",
        title="Velocity errors of the joints (layout of Yoo and Choi 2024, table 6)",
        column="Joint",
    )


def _table(
    published: Sequence[PublishedFigure],
    runs: Named,
    *,
    bench: str,
    key: str,
    title: str,
    column: str,
) -> Table | None:
    """Of each task or joint, the published systems and then ours."""
    rows: list[tuple[Cell, ...]] = []
    kinds: list[str] = []
    ours = 0
    for value in dict.fromkeys(figure.parameters[key] for figure in published):
        group = [figure for figure in published if figure.parameters[key] == value]
        first = text_cell(_name(group[0], value))
        rows += [(first, *row) for row in printed(group)]
        kinds += ["published"] * (len(rows) - len(kinds))
        for label, run, record in _records(runs, bench, key, value):
            rows.append((first, *measured(label, run, record)))
            kinds.append("ours")
            ours += 1
    name = f"yoo2024-{bench.removeprefix('motion/')}"
    table = statistics_table(name, title, column, rows, kinds, ours)
    return table and replace(table, notes=(*table.notes, *remarks(published)))


def _records(
    runs: Named, bench: str, key: str, value: str
) -> Iterator[tuple[str, RunResult, RecordResult]]:
    for label, run in runs:
        for record in run.find(bench):
            if str(record.params.get(key)) == value and whole_summary(record) is not None:
                yield label, run, record


def _name(figure: PublishedFigure, value: str) -> str:
    task, period = figure.parameters.get("task"), figure.parameters.get("period_ms")
    return value if task is None else f"{task}, every {period} ms, priority {value}"
