# SPDX-License-Identifier: Apache-2.0
"""Which runs of an archive a new run is held against: the newest of each point since its last step.

Runs before a step have another level. Their spread would hide the next change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kadenz.analysis.parameters import Named
from kadenz.analysis.systems import system_conditions
from kadenz.archive.history import Series, Step, histories_beside
from kadenz.archive.place import Place
from kadenz.archive.rows import host_text
from kadenz.config.manifest import Manifest


@dataclass
class Baseline:
    """The runs, each with the records that count, and the steps that shortened it."""

    runs: dict[str, set[int]] = field(default_factory=dict)
    steps: list[tuple[Series, Step]] = field(default_factory=list)


def baseline_of(place: Place, label: str, made: Manifest, most: int) -> Baseline:
    """The newest complete runs with `label` of the same system as `made`, at most `most` a point.

    The same system: target, instrument, conditions, `--quick`, and on this Linux the processor.
    `made` itself does not count.
    """
    found = Baseline()
    target = made.target.name
    every, points = histories_beside(place, made, (target,), label=label)
    own = {(one.bench, points.of(target, one.bench, one.params)) for one in made.records}
    series = [
        (point, one)
        for one in every
        if _is_same(one, made)
        and (point := (one.bench, points.of(target, one.bench, one.params))) in own
    ]
    since: dict[tuple[str, Named], str] = {}
    for point, one in series:
        if one.steps:
            found.steps.append((one, one.steps[-1]))
            begin = one.steps[-1].latest.created
            since[point] = max(begin, since.get(point, begin))
    for point, one in series:
        for run in [p for p in one.points if p.created >= since.get(point, "")][-most:]:
            found.runs.setdefault(run.run, set()).add(run.record)
    return found


def _is_same(series: Series, made: Manifest) -> bool:
    return (
        series.target == made.target.name
        and series.instrument == made.target.instrument
        and series.conditions == system_conditions(made)
        and series.quick == made.campaign.quick
        and series.host in ("", host_text(made))
    )
