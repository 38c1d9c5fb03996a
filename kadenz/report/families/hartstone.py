# SPDX-License-Identifier: Apache-2.0
"""Hartstone's breakdown points as a table."""

from __future__ import annotations

from kadenz.analysis.results import RecordResult
from kadenz.analysis.structures.breakdown import Breakdown
from kadenz.report import digits
from kadenz.report.families import Family
from kadenz.report.table import Cell, Table, text_cell
from kadenz.report.tables import Named

FAMILY = "hartstone/"
NOTES = (
    "Utilisation: processor time that the tasks ask for over the length of a probe. The first "
    "deadline is missed between the two columns; what the kernel itself takes is not in them.",
    "A step is what the experiment changed since the baseline: ticks taken off the fastest period, "
    "or off all of them; 4096ths of the way to 5/4 of the processor; tasks added.",
)


def breakdown_table(runs: Named) -> Table | None:
    """A row per record with a breakdown; None without one."""
    rows = [
        _row(label, record, breakdown)
        for label, run in runs
        for record in run.records
        if record.bench.startswith(FAMILY)
        and (breakdown := record.structure(Breakdown)) is not None
    ]
    if not rows:
        return None
    return Table.headed(
        "Target | Series | Experiment | >Baseline | >Met up to | >Missed from | Steps | "
        ">Probes | Remark",
        name="hartstone",
        title="Hartstone: the first missed deadline",
        rows=rows,
        notes=NOTES,
    )


def _row(label: str, record: RecordResult, breakdown: Breakdown) -> tuple[Cell, ...]:
    steps = [str(step) for step in (breakdown.kept_step, breakdown.missed_step) if step is not None]
    return (
        text_cell(label),
        text_cell(record.bench.removeprefix(FAMILY).upper()),
        text_cell(str(record.params.get("experiment", ""))),
        _percent(breakdown.baseline),
        _percent(breakdown.kept),
        _percent(breakdown.missed),
        text_cell(" to ".join(steps)),
        Cell(str(breakdown.probes), breakdown.probes),
        text_cell(_remark(breakdown)),
    )


def _remark(breakdown: Breakdown) -> str:
    if breakdown.kept is None:
        return "the baseline misses deadlines"
    if breakdown.missed is None:
        return "no deadline was missed"
    if breakdown.contradictions:
        return f"{breakdown.contradictions} probes above the first miss met every deadline"
    return ""


def _percent(share: float | None) -> Cell:
    return Cell(digits.ABSENT) if share is None else Cell(f"{100 * share:.2f} %", 100 * share)


FAMILIES = (Family("hartstone", "Hartstone's series", 70, breakdown_table),)
