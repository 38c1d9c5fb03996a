# SPDX-License-Identifier: Apache-2.0
"""Rhealstone's six parts in a run: the record of each, their mean, and missing parts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.units import Unit
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
        status = first.entry.status if first.entry.status != "ok" else "invalid"
        return Part(name, first.bench, first, None, f"{status}: {first.reason}")
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
