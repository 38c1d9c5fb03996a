# SPDX-License-Identifier: Apache-2.0
"""The worst arrival of an interrupt in each service: a table over runs of `kadenz worst`, and why
it is the worst."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis import RecordResult
from kadenz.analysis.profiles import by_function, difference, view
from kadenz.analysis.structures.population import EXHAUSTIVE, Extremes, Population
from kadenz.config.profile import LaneProfile, Profile
from kadenz.report import digits, labels
from kadenz.report.flames import place_of
from kadenz.report.table import Cell, Table, figure, text_cell, whole
from kadenz.report.tables import Named

_HEADS = (
    "Service | Run | >Arrivals | >Handler min | >median | >max | >in cycle | of | "
    ">Task min | >median | >max | >in cycle | of"
)
_FUNCTIONS_SHOWN = 12  # of an arrival


def table_of_arrivals(runs: Named) -> Table | None:
    """A row for each record with arrivals; None if there is none."""
    shown = [
        (label, record, population)
        for label, result in runs
        for record in result.records
        if (population := record.structure(Population)) is not None
    ]
    if not shown:
        return None
    unit = shown[0][1].unit
    partial = [f"{record.bench}: {each.coverage}." for _, record, each in shown if _is_cut(each)]
    return Table.headed(
        _HEADS,
        name="worst",
        title=f"An interrupt in every cycle of a service, in {unit.label} from its request",
        rows=[_row(label, record, each) for label, record, each in shown],
        notes=(
            *partial,
            f"{EXHAUSTIVE}. A population has no confidence interval.",
        ),
    )


def _is_cut(population: Population) -> bool:
    return population.step > 1 or any((population.asleep, population.lost, population.untried))


def _row(label: str, record: RecordResult, population: Population) -> tuple[Cell, ...]:
    ends = (
        cell
        for extremes in (population.handler, population.task)
        for cell in _cells(extremes, record)
    )
    point = labels.point(record)
    service = record.bench if point == digits.ABSENT else f"{record.bench}, {point}"
    return text_cell(service), text_cell(label), whole(population.tried), *ends


def _cells(extremes: Extremes, record: RecordResult) -> tuple[Cell, ...]:
    ends = (extremes.min, extremes.median, extremes.max)
    return (
        *(figure(ticks, record.unit) for ticks in ends),
        whole(extremes.phase),
        text_cell(extremes.function),
    )


def tables_of_why(profiles: Sequence[Profile]) -> list[Table]:
    """For each lane of arrivals, the functions in which the worst one differs from the typical."""
    return [
        _differences(profile, lane)
        for profile in profiles
        for lane in profile.lanes
        if not lane.is_of_samples
    ]


def _differences(profile: Profile, lane: LaneProfile) -> Table:
    typical, slowest = view(lane, "typical"), view(lane, "slowest")
    sides = (profile, typical), (profile, slowest)
    sums = [{(f.name, f.part): f.instructions for f in by_function(*side)} for side in sides]
    changes = difference(*sides)
    rows = []
    for change in changes[:_FUNCTIONS_SHOWN]:
        counts = [whole(side.get((change.name, change.part), 0)) for side in sums]
        more = Cell(f"{change.more:+,}")
        rows.append((text_cell(change.name), text_cell(change.part), *counts, more))
    rest = sum(change.more for change in changes[_FUNCTIONS_SHOWN:])
    others = f"{rest:+,} in {len(changes) - _FUNCTIONS_SHOWN} other functions"
    return Table.headed(
        "Function | Part | >Typical | >Worst | >More",
        name="why",
        title=f"{profile.bench}, {lane.lane}: {typical.instructions:,} {profile.unit}s in the "
        f"{place_of(lane, typical)}, {slowest.instructions:,} in the {place_of(lane, slowest)}",
        rows=rows,
        notes=(others,) if len(changes) > _FUNCTIONS_SHOWN else (),
    )
