# SPDX-License-Identifier: Apache-2.0
"""The calls of functions in a program of Linux, with what the kernel executed inside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kadenz.analysis import RunResult
from kadenz.report.count import CallFacts, as_data, figures_of, name_of
from kadenz.report.table import Cell, Table, figure, text_cell, whole

_HEADS = (
    "Function | >Calls | >Min | >Median | >Max | >Kernel | >Signals | >Interrupted | >No return"
)
_SYSTEM_CALLS = "Function | System call | >Calls | >Kernel"


@dataclass(frozen=True)
class ProgramCallFacts:
    """What the record of a function does not say: of its calls, and instructions of the kernel and
    of signals' handlers inside all of them together."""

    calls: CallFacts
    kernel: int
    signals: int


@dataclass(frozen=True)
class SystemCallRow:
    """System calls of one name inside the calls of a function; "" for faults. `kernel` are
    instructions."""

    function: str
    name: str
    count: int
    kernel: int


def table_of_program(result: RunResult, facts: Mapping[str, ProgramCallFacts], ended: str) -> Table:
    """A row for each function that was called, by the name of its record in `facts`."""
    rows: list[tuple[Cell, ...]] = []
    silent = []
    for record in result.records:
        each = facts.get(record.bench)
        if each is None:
            continue
        if record.reason.startswith("never "):
            silent.append(name_of(record))
            continue
        optional = (each.kernel, each.signals, each.calls.interrupted, each.calls.without_return)
        rows.append(
            (
                text_cell(name_of(record)),
                whole(record.taken),
                *(figure(ticks, record.unit) for ticks in figures_of(record)),
                *(whole(count) if count else text_cell("") for count in optional),
            )
        )
    notes = [f"Ended: {ended}."]
    if any(each.kernel or each.signals for each in facts.values()):
        notes.append("Kernel and Signals: instructions inside all calls together.")
    if silent:
        more = f" and {len(silent) - 6:,} more" if len(silent) > 6 else ""
        notes.append(f"Never reached: {', '.join(silent[:6])}{more}.")
    return Table.headed(
        _HEADS,
        name="count",
        title="Calls of functions, in instructions of the program",
        rows=rows,
        notes=tuple(notes),
    )


def table_of_system_calls(rows: Sequence[SystemCallRow]) -> Table:
    """What the kernel did inside the calls of each function."""
    return Table.headed(
        _SYSTEM_CALLS,
        name="system-calls",
        title="System calls inside the calls, in instructions of the kernel",
        rows=[
            (
                text_cell(r.function),
                text_cell(r.name or "(faults)"),
                whole(r.count),
                whole(r.kernel),
            )
            for r in rows
        ],
        notes=(),
    )


def program_as_data(
    result: RunResult, facts: Mapping[str, ProgramCallFacts], calls: Sequence[SystemCallRow]
) -> list[dict[str, Any]]:
    """The same as plain rows."""
    rows = as_data(result, {bench: each.calls for bench, each in facts.items()})
    return [
        row
        | {
            "kernel": facts[row["bench"]].kernel,
            "signals": facts[row["bench"]].signals,
            "system_calls": [
                {"name": call.name or None, "calls": call.count, "kernel": call.kernel}
                for call in calls
                if call.function == row["function"]
            ],
        }
        for row in rows
    ]
