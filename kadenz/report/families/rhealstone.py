# SPDX-License-Identifier: Apache-2.0
"""Rhealstone: the record of each of its six parts, their mean, and missing parts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.units import Unit
from kadenz.report import digits, labels
from kadenz.report.families import Family
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named
from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.rhealstone import PARTS, Rhealstone, rhealstone

FAMILY = "rhealstone/"
# A part is the first of these that the run measured. Where threads can be resumed, preemption is by
# resuming the more urgent thread; elsewhere a semaphore wakes it.
_BENCHES: dict[str, tuple[str, ...]] = {
    "task switch": ("micro/task-switch-sampled",),
    "preemption": ("micro/preemption-sampled", "itc/semaphore-counting-to-higher"),
    "interrupt latency": ("irq/to-handler",),
    "semaphore shuffle": ("micro/semaphore-shuffle-sampled",),
    "deadlock break": ("rhealstone/deadlock-break",),
    "message latency": ("micro/message-latency-sampled",),
}

NOTES = (
    "Kar and Porter 1989, Kar 1990: six parts with equal weights. Each part is the mean of its "
    "samples; nothing is subtracted.",
    "If a part is missing, there is no figure: a mean of five parts is not comparable.",
)
_NOT_TIME = "counted instructions are not a time"


@dataclass(frozen=True, eq=False)
class Part:
    """One of the six: its record and its mean in ticks, None with a `reason`."""

    name: str
    bench: str
    record: RecordResult | None
    mean: Estimate | None
    reason: str


@dataclass(frozen=True, eq=False)
class RhealstoneResult:
    """`figure` is in ticks; `per_second` is None if the clock's unit is not a time.

    `reason` says why there is no figure.
    """

    parts: tuple[Part, ...]
    figure: Rhealstone
    unit: Unit
    per_second: Estimate | None
    reason: str


def rhealstone_of(run: RunResult) -> RhealstoneResult | None:
    """The figure of a run that measured any of `rhealstone/`; None for other runs."""
    if not any(record.bench.startswith(FAMILY) for record in run.records):
        return None
    parts = tuple(_part(run, name) for name in PARTS)
    reason = ""
    try:
        figure = rhealstone({part.name: part.mean for part in parts})
    except Undefined as error:
        figure, reason = Rhealstone(None, None, ()), error.reason
    absent = [part for part in parts if part.mean is None]
    if absent:
        reason = "; ".join(f"{part.name}: {part.reason}" for part in absent)
    return RhealstoneResult(parts, figure, run.unit, _per_second(figure, run.unit), reason)


def _part(run: RunResult, name: str) -> Part:
    benches = _BENCHES[name]
    records = [record for bench in benches for record in run.records if record.bench == bench]
    for record in records:
        if record.main is not None and record.main.mean is not None:
            return Part(name, record.bench, record, record.main.mean, "")
    if not records:
        return Part(name, "", None, None, f"not measured ({benches[0]})")
    first = records[0]
    if not first.usable:
        return Part(name, first.bench, first, None, f"{first.entry.status}: {first.reason}")
    gap = first.main.gaps.get("mean") if first.main is not None else None
    return Part(name, first.bench, first, None, gap or "too few samples for a mean's interval")


def _per_second(figure: Rhealstone, unit: Unit) -> Estimate | None:
    """1 / mean in seconds; times are shown in microseconds (`units.unit_of`)."""
    if figure.rate is None or not unit.is_time:
        return None
    factor = 1e6 / unit.scale
    rate = figure.rate
    return dataclasses.replace(
        rate, value=rate.value * factor, low=rate.low * factor, high=rate.high * factor
    )


def part_table(runs: Named) -> Table | None:
    """A row per part and one for the figure, for every run that measured `rhealstone/`."""
    rows: list[tuple[Cell, ...]] = []
    for label, run in runs:
        rhealstone = rhealstone_of(run)
        if rhealstone is not None:
            rows += [_part_row(label, part, rhealstone.unit) for part in rhealstone.parts]
            rows += _figure(label, rhealstone)
    if not rows:
        return None
    return Table.headed(
        "Target | Part | >Mean | >95 % interval | Unit | Clock class | Measured as",
        name="rhealstone",
        title="Rhealstone",
        rows=rows,
        notes=NOTES,
    )


def _part_row(label: str, part: Part, unit: Unit) -> tuple[Cell, ...]:
    measured = f"{part.bench} {labels.point(part.record)}" if part.record is not None else ""
    return _row(label, part.name, part.mean, unit, part.reason or measured)


def _figure(label: str, rhealstone: RhealstoneResult) -> list[tuple[Cell, ...]]:
    remark = f"n/a: {rhealstone.reason}" if rhealstone.reason else "mean of the six"
    rows = [_row(label, "mean", rhealstone.figure.mean, rhealstone.unit, remark)]
    rate = rhealstone.per_second
    inverse = Cell(digits.number(rate.value), rate.value) if rate else Cell("n/a")
    ends = f"[{digits.number(rate.low)}, {digits.number(rate.high)}]" if rate else ""
    why = f"n/a: {rhealstone.reason}" if rhealstone.reason else "" if rate else f"n/a: {_NOT_TIME}"
    rows.append(
        (
            text_cell(label),
            text_cell("Rhealstones per second"),
            inverse,
            Cell(ends),
            text_cell("1/s" if rate else ""),
            badge(rhealstone.unit),
            text_cell(why or "1 / mean"),
        )
    )
    return rows


def _row(label: str, name: str, mean: Estimate | None, unit: Unit, remark: str) -> tuple[Cell, ...]:
    return (
        text_cell(label),
        text_cell(name),
        figure(mean.value, unit) if mean else Cell("n/a"),
        Cell(digits.interval(mean.low, mean.high, unit) if mean else ""),
        text_cell(unit.label),
        badge(unit),
        text_cell(remark),
    )


def row(result: RunResult) -> dict[str, Any] | None:
    """Rhealstone's six parts and their mean; None if the run did not measure `rhealstone/`."""
    rhealstone = rhealstone_of(result)
    if rhealstone is None:
        return None
    fields: dict[str, Any] = {
        "unit": rhealstone.unit.key,
        "clock_class": rhealstone.unit.clock_class,
        "reason": rhealstone.reason,
        "parts": [
            {"name": part.name, "bench": part.bench, "reason": part.reason}
            | _estimate(part.mean, rhealstone.unit.scale)
            for part in rhealstone.parts
        ],
    }
    fields["mean"] = _estimate(rhealstone.figure.mean, rhealstone.unit.scale)
    fields["per_second"] = _estimate(rhealstone.per_second, 1.0)
    return fields


def _estimate(estimate: Estimate | None, scale: float) -> dict[str, Any]:
    """The three figures, None if missing."""
    ends = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
    value, low, high = (None if end is None else end * scale for end in ends)
    return {"value": value, "low": low, "high": high}


FAMILIES = (Family("rhealstone", "Rhealstone's six", 50, part_table, row),)
