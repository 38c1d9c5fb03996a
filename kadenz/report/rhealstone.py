# SPDX-License-Identifier: Apache-2.0
"""Rhealstone's figure as a table: the six parts, their mean, and Rhealstones per second."""

from __future__ import annotations

from kadenz.analysis.rhealstone import Part, RhealstoneResult, rhealstone_of
from kadenz.analysis.units import Unit
from kadenz.report import digits, labels
from kadenz.report.table import Cell, Table, badge, figure, words
from kadenz.report.tables import Named
from kadenz.stats.estimate import Estimate

NOTES = (
    "Kar and Porter 1989, Kar 1990: six parts with equal weights. Each part is the mean of its "
    "samples; nothing is subtracted.",
    "If a part is missing, there is no figure: a mean of five parts is not comparable.",
)
_NOT_TIME = "counted instructions are not a time"


def table(runs: Named) -> Table | None:
    """A row per part and one for the figure, for every run that measured `rhealstone/`."""
    rows: list[tuple[Cell, ...]] = []
    for label, run in runs:
        found = rhealstone_of(run)
        if found is not None:
            rows += [_part(label, part, found.unit) for part in found.parts]
            rows += _figure(label, found)
    if not rows:
        return None
    return Table(
        name="rhealstone",
        title="Rhealstone",
        columns=("Target", "Part", "Mean", "95 % interval", "Unit", "Clock class", "Measured as"),
        rows=tuple(rows),
        numeric=frozenset({2, 3}),
        notes=NOTES,
    )


def _part(label: str, part: Part, unit: Unit) -> tuple[Cell, ...]:
    measured = f"{part.bench} {labels.point(part.record)}" if part.record is not None else ""
    return _row(label, part.name, part.mean, unit, part.reason or measured)


def _figure(label: str, found: RhealstoneResult) -> list[tuple[Cell, ...]]:
    remark = f"n/a: {found.reason}" if found.reason else "mean of the six"
    rows = [_row(label, "mean", found.figure.mean, found.unit, remark)]
    rate = found.per_second
    inverse = Cell(digits.number(rate.value), rate.value) if rate else Cell("n/a")
    ends = f"[{digits.number(rate.low)}, {digits.number(rate.high)}]" if rate else ""
    why = f"n/a: {found.reason}" if found.reason else "" if rate else f"n/a: {_NOT_TIME}"
    rows.append(
        (
            words(label),
            words("Rhealstones per second"),
            inverse,
            Cell(ends),
            words("1/s" if rate else ""),
            badge(found.unit),
            words(why or "1 / mean"),
        )
    )
    return rows


def _row(label: str, name: str, mean: Estimate | None, unit: Unit, remark: str) -> tuple[Cell, ...]:
    return (
        words(label),
        words(name),
        figure(mean.value, unit) if mean else Cell("n/a"),
        Cell(digits.interval(mean.low, mean.high, unit) if mean else ""),
        words(unit.label),
        badge(unit),
        words(remark),
    )
