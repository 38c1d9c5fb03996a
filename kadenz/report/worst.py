# SPDX-License-Identifier: Apache-2.0
"""The worst arrival of an interrupt in each service: a table over runs of `kadenz worst`, how it
grows with what the kernel holds, and why it is the worst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from kadenz.analysis import RecordResult, RunResult
from kadenz.analysis.growth import Growth, StateSweep, state_sweeps
from kadenz.analysis.profiles import view
from kadenz.analysis.structures.population import Extremes, Population
from kadenz.analysis.units import Unit
from kadenz.config.manifest import SECONDS
from kadenz.config.profile import LaneProfile, Profile, ViewEntry
from kadenz.report import digits, labels
from kadenz.report.flames import place_of
from kadenz.report.table import Cell, Table, figure, text_cell, whole
from kadenz.report.tables import Named

_HEADS = (
    "Service | Run | >Arrivals | >Handler min | >median | >max | >at | of | "
    ">Task min | >median | >max | >at | of"
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
    cut = [(record, each) for _, record, each in shown if not each.exhaustive]
    partial = dict.fromkeys(f"{record.bench}: {each.coverage}." for record, each in cut)
    second = next((each.second for _, _, each in shown if each.second), "")
    with_second = f", each with {SECONDS[second]} in every cycle" if second else ""
    moment = " or ".join(dict.fromkeys(each.moment for _, _, each in shown))
    premises = dict.fromkeys(
        f"{each.premise}." + (" A population has no confidence interval." if each.is_exact else "")
        for _, _, each in shown
    )
    return Table.headed(
        _heads(second),
        name="worst",
        title=f"An interrupt in every {moment} of a service{with_second}, in {unit.label} from its "
        "request",
        rows=[_row(label, record, each, paired=bool(second)) for label, record, each in shown],
        notes=(
            *partial,
            *premises,
        ),
    )


def _heads(second: str) -> str:
    """Those of pairs have a column behind each place."""
    if not second:
        return _HEADS
    places = _HEADS.replace("of |", f"of | >{second} in |").replace("Arrivals", "Pairs")
    return f"{places} | >{second} in"


def _row(
    label: str, record: RecordResult, population: Population, *, paired: bool
) -> tuple[Cell, ...]:
    ends = (
        cell
        for extremes in (population.handler, population.task)
        for cell in _cells(extremes, record, paired=paired)
    )
    count = population.pairs if paired else population.tried
    return text_cell(service_of(record)), text_cell(label), whole(count), *ends


def service_of(record: RecordResult) -> str:
    """Its benchmark and parameters: \"critical/semaphore-give, waiter 1\"."""
    point = labels.point(record)
    return record.bench if point == digits.ABSENT else f"{record.bench}, {point}"


def _cells(extremes: Extremes, record: RecordResult, *, paired: bool) -> tuple[Cell, ...]:
    ends = (extremes.min, extremes.median, extremes.max)
    return (
        *(figure(ticks, record.unit) for ticks in ends),
        whole(extremes.phase),
        text_cell(extremes.function),
        *((whole(extremes.second),) if paired else ()),
    )


def tables_of_states(runs: Named) -> Iterator[Table]:
    """For each state that was swept, the maximum of each service and lane at each value."""
    for state, group in groupby(state_sweeps(runs), lambda sweep: sweep.state):
        sweeps = list(group)
        values = sorted({value for sweep in sweeps for value in sweep.most})
        unit = sweeps[0].record.unit
        yield Table.headed(
            " | ".join(
                ["Service | Run | Lane", *(f">{value}" for value in values), ">Worst at | Growth"]
            ),
            name=f"worst-{state}",
            title=f"The maximum at each value of {state}, in {unit.label}",
            rows=[
                (
                    *(text_cell(text) for text in (service_of(sweep.record), sweep.label)),
                    text_cell(sweep.lane),
                    *(figure(sweep.most.get(value), unit) for value in values),
                    text_cell("") if len({*sweep.most.values()}) == 1 else whole(sweep.worst),
                    text_cell(_law(sweep.growth, unit)),
                )
                for sweep in sweeps
            ],
        )


def _law(growth: Growth, unit: Unit) -> str:
    """ "linear: +12 cycles each, within 3"."""
    off = digits.figure(growth.deviation, unit)
    within = f", within {off}" if growth.deviation else ""
    match growth.law:
        case "linear":
            sign = "+" if growth.each > 0 else ""
            return f"linear: {sign}{digits.figure(growth.each, unit)} {unit.label} each{within}"
        case "neither":
            return f"neither: up to {off} {unit.label} off a line"
        case law:
            return f"{law}{within}"


def sweep_rows(runs: Named) -> list[dict[str, Any]]:
    """The same as plain rows, figures in the unit of their record."""
    return [_sweep_row(sweep) for sweep in state_sweeps(runs)]


def _sweep_row(sweep: StateSweep) -> dict[str, Any]:
    unit, growth = sweep.record.unit, sweep.growth
    return {
        "state": sweep.state,
        "bench": sweep.record.bench,
        "params": dict(sweep.record.params),
        "run": sweep.label,
        "lane": sweep.lane,
        "unit": unit.label,
        "max": {str(value): unit.figure(most) for value, most in sorted(sweep.most.items())},
        "worst": sweep.worst,
        "growth": growth.law or None,
        "each": unit.figure(growth.each),
        "deviation": unit.figure(growth.deviation),
    }


def tables_of_why(label: str, run: RunResult, profiles: Sequence[Profile]) -> list[Table]:
    """For each lane of arrivals, the functions in which the worst one differs from the typical."""
    services = {record.entry.id: service_of(record) for record in run.records}
    return [
        _differences(f"{services.get(profile.record, profile.bench)} on {label}", profile, lane)
        for profile in profiles
        for lane in profile.lanes
        if not lane.is_of_samples
    ]


def _differences(service: str, profile: Profile, lane: LaneProfile) -> Table:
    typical, slowest = view(lane, "typical"), view(lane, "slowest")
    sums = [_by_function(profile, entry) for entry in (typical, slowest)]
    changes = {key: sums[1][key] - sums[0][key] for key in sums[0] | sums[1]}
    ordered = sorted(changes, key=lambda key: (-abs(changes[key]), key))
    rows = [
        (
            *(text_cell(word) for word in key),
            *(whole(side[key]) for side in sums),
            Cell(f"{changes[key]:+,}"),
        )
        for key in ordered[:_FUNCTIONS_SHOWN]
        if changes[key]
    ]
    rest = [changes[key] for key in ordered[_FUNCTIONS_SHOWN:] if changes[key]]
    return Table.headed(
        "Function | Part | >Typical | >Worst | >More",
        name="why",
        title=f"{service}, {lane.lane}: {typical.instructions:,} {profile.unit}s in the "
        f"{place_of(lane, typical)}, {slowest.instructions:,} in the {place_of(lane, slowest)}",
        rows=rows,
        notes=(f"{sum(rest):+,} in {len(rest)} other function{'s' * (len(rest) > 1)}",)
        if rest
        else (),
    )


def _by_function(profile: Profile, entry: ViewEntry) -> Counter[tuple[str, str]]:
    """Cycles by function and part. A handler has the part of its function: a path that begins with
    the request does not show in each case that an interrupt is handled."""
    sums: Counter[tuple[str, str]] = Counter()
    for stack in entry.stacks:
        function = profile.functions[stack.path[-1]]
        sums[function.name, function.part] += stack.instructions
    return sums
