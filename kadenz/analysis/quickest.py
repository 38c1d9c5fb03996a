# SPDX-License-Identifier: Apache-2.0
"""Who is quickest at what: the variants that share benchmarks, by their typical sample.

Only for counted instructions and exact cycles. They repeat to the byte, so the order of two medians
is a fact and needs no interval. Variants of other clocks are compared in pairs (`answers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.parameters import Named, Points
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.variants import Variant
from kadenz.config.manifest import ClockClass

EXACT: tuple[ClockClass, ...] = ("instruction", "cycle-exact", "cycle-model")
NEAR = 1.01  # medians within 1 % of the best are no difference that anybody acts on
_CONTEXT = "clock/"  # the quality of a clock is not speed
_Point = tuple[str, Named]


@dataclass(frozen=True)
class Quickest:
    """Variants whose figures have one unit, and the benchmarks at which each of them is quickest.

    `at` has the place of a variant and its benchmarks, most benchmarks first. A benchmark at which
    no variant is quickest at every point is in `divided`; so is one with a second within 1 %.
    """

    unit: str  # "instructions of armv7m"
    members: tuple[int, ...]
    at: tuple[tuple[int, tuple[str, ...]], ...]
    divided: tuple[str, ...]


def quickest(variants: Sequence[Variant], results: Sequence[RunResult]) -> list[Quickest]:
    """One answer for each unit that at least two variants share, the largest group first."""
    groups: dict[str, list[int]] = {}
    for number, variant in enumerate(variants):
        run = results[variant.runs[0]]
        if run.manifest.clock.clock_class in EXACT:
            unit = f"{run.unit.label} of {run.manifest.target.arch}"
            groups.setdefault(unit, []).append(number)
    found = [
        _of_group(unit, {number: results[variants[number].runs[0]] for number in members})
        for unit, members in groups.items()
        if len(members) > 1
    ]
    return sorted((one for one in found if one.at), key=lambda one: -len(one.members))


def _of_group(unit: str, runs: dict[int, RunResult]) -> Quickest:
    points = Points(record.entry for run in runs.values() for record in run.records)
    medians: dict[_Point, dict[int, float]] = {}
    for number, run in runs.items():
        for record in run.records:
            value = _typical(run, record)
            if value is not None:
                point = record.bench, points.of(record.bench, record.params)
                medians.setdefault(point, {})[number] = value
    winners: dict[str, set[int]] = {}
    for (bench, _), of in medians.items():
        if len(of) > 1:
            best = min(of.values())
            first = [number for number, value in of.items() if value <= best * NEAR]
            winners.setdefault(bench, set()).update(first)
    at: dict[int, list[str]] = {}
    for bench, first_at in winners.items():
        if len(first_at) == 1:
            at.setdefault(next(iter(first_at)), []).append(bench)
    order = sorted(at, key=lambda number: (-len(at[number]), number))
    return Quickest(
        unit,
        tuple(runs),
        tuple((number, tuple(at[number])) for number in order),
        tuple(bench for bench, first_at in winners.items() if len(first_at) > 1),
    )


def _typical(run: RunResult, record: RecordResult) -> float | None:
    """The median of a record, or its time per iteration; None if it is not to be compared."""
    noted = record.bench in run.manifest.benchmark_notes
    if not record.usable or noted or record.bench.startswith(_CONTEXT):
        return None
    if record.batch is not None:
        return record.unit.figure(record.batch.per_iteration)
    if len(record.lanes) != 1 or record.lanes[0].summary is None:
        return None
    return record.unit.figure(record.lanes[0].summary.median)
