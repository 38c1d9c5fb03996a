# SPDX-License-Identifier: Apache-2.0
"""The calls of functions in a firmware: a table over a run of `kadenz count`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kadenz.analysis import RecordResult, RunResult
from kadenz.analysis.units import unit_of
from kadenz.report.table import Cell, Table, figure, text_cell, whole

_HEADS = "Function | >Calls | >Min | >Median | >Max | >Interrupted | >No return | >Bytes"


@dataclass(frozen=True)
class CallFacts:
    """What the record of a function does not say: calls with a handler inside, calls that did not
    return, bytes of its code (0: not known)."""

    interrupted: int
    without_return: int
    size: int


def table_of_calls(result: RunResult, facts: Mapping[str, CallFacts], ended: str) -> Table:
    """A row for each function, by the name of its record in `facts`."""
    records = [(record, facts[record.bench]) for record in result.records if record.bench in facts]
    called = [(record, each) for record, each in records if record.taken or each.without_return]
    silent = [name_of(record) for record, _ in records if record.reason.startswith("never ")]
    unit = unit_of("ticks", result.manifest.clock).label
    notes = [f"Ended: {ended}."]
    if any(each.interrupted for _, each in called):
        notes.append(f"{unit.capitalize()} of handlers inside a call are not in its figures.")
    if silent:
        count = len(silent)
        shown = ", ".join(silent[:6]) + (f" and {count - 6:,} more" if count > 6 else "")
        notes.append(f"Never reached: {shown}.")
    return Table.headed(
        _HEADS,
        name="count",
        title=f"Calls of functions, in {unit}",
        rows=[_row(record, each) for record, each in called],
        notes=tuple(notes),
    )


def _row(record: RecordResult, facts: CallFacts) -> tuple[Cell, ...]:
    least, median, most = figures_of(record)
    return (
        text_cell(name_of(record)),
        whole(record.taken),
        *(figure(ticks, record.unit) for ticks in (least, median, most)),
        whole(facts.interrupted) if facts.interrupted else text_cell(""),
        whole(facts.without_return) if facts.without_return else text_cell(""),
        whole(facts.size) if facts.size else text_cell(""),
    )


def name_of(record: RecordResult) -> str:
    """The function of a record."""
    return record.bench.partition("/")[2]


def figures_of(record: RecordResult) -> tuple[float | None, float | None, float | None]:
    """The least, the median and the most of its calls, in ticks; None without figures."""
    summary = record.main.summary if record.main is not None else None
    if summary is None:
        return None, None, None
    return summary.min, summary.median, summary.max


def as_data(result: RunResult, facts: Mapping[str, CallFacts]) -> list[dict[str, Any]]:
    """The same as plain rows."""
    rows = []
    for record in result.records:
        if record.bench not in facts:
            continue
        least, median, most = figures_of(record)
        each = facts[record.bench]
        rows.append(
            {
                "function": name_of(record),
                "bench": record.bench,
                "status": record.entry.status,
                "reason": record.reason,
                "calls": record.taken,
                "min": least,
                "median": median,
                "max": most,
                "interrupted": each.interrupted,
                "without_return": each.without_return,
                "bytes": each.size,
            }
        )
    return rows
