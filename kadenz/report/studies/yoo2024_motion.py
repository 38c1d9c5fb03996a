# SPDX-License-Identifier: Apache-2.0
"""Tables 5 and 6 of Yoo and Choi (2024), section 5: four tasks, and how well the axes follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

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


class _Layout(NamedTuple):
    """A table of the study: what its rows are of, and the parameter that tells them apart."""

    bench: str
    key: str
    title: str
    column: str


_LAYOUTS = {
    "Table 5": _Layout(
        "motion/response-time", "priority", "Response times of the control tasks", "Task"
    ),
    "Table 6": _Layout("motion/velocity-error", "joint", "Velocity errors of the joints", "Joint"),
}
PLACES = tuple(_LAYOUTS)


def motion_table(figures: Sequence[PublishedFigure], runs: Named, place: str) -> Table | None:
    """One of PLACES: of each task or joint, the published systems and then ours. None if no run
    measured them."""
    bench, key, title, column = _LAYOUTS[place]
    published = [f for f in figures if (f.paper, f.where) == (PAPER, place)]
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
    title = f"{title} (layout of Yoo and Choi 2024, {place.lower()})"
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
