# SPDX-License-Identifier: Apache-2.0
"""Loads of the runs: their work rate, and the idle machine's for comparison."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.report.loads import rate_text
from kadenz.report.sections import Section
from kadenz.report.table import Cell, Table, text_cell
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 60


def sections(report: Report) -> Iterator[Section]:
    """One, if a run has any."""
    shown = load_table(report.runs)
    if shown is not None:
        title = "Loads during the measurements"
        yield Section("loads-section", title, (shown.bare,), short="Loads")


def load_table(runs: Named) -> Table | None:
    """Every load of every run, by label; None if no run had any."""
    rows = [
        (
            text_cell(label),
            text_cell(entry.name),
            text_cell(entry.title),
            Cell(str(entry.workers), entry.workers),
            text_cell(", ".join(map(str, entry.cpus))),
            text_cell(
                ", ".join(f"{key.replace('_', ' ')} {v}" for key, v in entry.settings.items())
            ),
            _cell(entry.idle_rate),
            _cell(entry.rate_before),
            _cell(entry.rate),
            _cell(min(entry.record_rates.values())) if entry.record_rates else text_cell(""),
            text_cell(entry.unit),
            _cell(entry.cpu_percent),
            Cell("yes", "yes") if entry.verified else Cell(f"no: {entry.reason}", "no", "warn"),
        )
        for label, run in runs
        for entry in run.manifest.loads
    ]
    if not rows:
        return None
    return Table.headed(
        "Run | Load | Work | >Workers | Processors | Settings | >Idle machine | >Before | "
        ">While measuring | >Least in a record | Unit | >% of CPU time | Verified",
        name="loads",
        title="Loads during the measurements",
        rows=rows,
        notes=tuple(
            dict.fromkeys(
                f"{entry.name}: {entry.counter}" for _, run in runs for entry in run.manifest.loads
            )
        ),
    )


def _cell(value: float) -> Cell:
    return Cell(rate_text(value), value)
