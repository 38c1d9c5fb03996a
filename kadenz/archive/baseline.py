# SPDX-License-Identifier: Apache-2.0
"""Which runs of an archive a new run is held against: the newest of each point since its last step.

Runs before a step have another level. Their spread would hide the next change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kadenz.analysis.systems import system_conditions
from kadenz.archive.history import Series, Step, histories
from kadenz.archive.place import Place
from kadenz.archive.rows import host_text, params_text
from kadenz.config.manifest import Manifest, RecordEntry

Point = tuple[str, str]  # benchmark, and parameters as the column `params` has them


@dataclass
class Baseline:
    """The runs, each with the points for which it counts, and the steps that shortened it."""

    runs: dict[str, set[Point]] = field(default_factory=dict)
    steps: list[tuple[Series, Step]] = field(default_factory=list)


def baseline_of(place: Place, label: str, made: Manifest, most: int) -> Baseline:
    """The newest complete runs with `label` of the same system as `made`, at most `most` a point.

    The same system: target, instrument, conditions, `--quick`, and on this Linux the processor.
    `made` itself does not count.
    """
    found = Baseline()
    own = {point_of(record) for record in made.records}
    series = [
        one
        for one in histories(place, (made.target.name,), label=label, without=made.id)
        if _is_same(one, made) and _point(one) in own
    ]
    since: dict[Point, str] = {}
    for one in series:
        if one.steps:
            found.steps.append((one, one.steps[-1]))
            begin = one.steps[-1].latest.created
            since[_point(one)] = max(begin, since.get(_point(one), begin))
    for one in series:
        point = _point(one)
        for run in [p for p in one.points if p.created >= since.get(point, "")][-most:]:
            found.runs.setdefault(run.run, set()).add(point)
    return found


def point_of(record: RecordEntry) -> Point:
    """The point of a record."""
    return record.bench, params_text(record.params)


def _point(series: Series) -> Point:
    return series.bench, params_text(series.params)


def _is_same(series: Series, made: Manifest) -> bool:
    return (
        series.target == made.target.name
        and series.instrument == made.target.instrument
        and series.conditions == system_conditions(made)
        and series.quick == made.campaign.quick
        and series.host in ("", host_text(made))
    )
