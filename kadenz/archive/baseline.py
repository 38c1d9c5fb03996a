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


def baseline_of(place: Place, label: str, manifest: Manifest, most: int) -> Baseline:
    """The newest complete runs with `label` of the system of `manifest`, at most `most` a point.

    The same system: target, instrument, conditions, `--quick`, and on this Linux the processor.
    The run of `manifest` itself does not count.
    """
    baseline = Baseline()
    target = manifest.target.name
    every, points = histories_beside(place, manifest, (target,), label=label)
    measured_points = {
        (record.bench, points.of(target, record.bench, record.params))
        for record in manifest.records
    }
    series = [
        (point, history)
        for history in every
        if _is_same(history, manifest)
        and (point := (history.bench, points.of(target, history.bench, history.params)))
        in measured_points
    ]
    since: dict[tuple[str, Named], str] = {}
    for point, history in series:
        if history.steps:
            baseline.steps.append((history, history.steps[-1]))
            begin = history.steps[-1].latest.created
            since[point] = max(begin, since.get(point, begin))
    for point, history in series:
        for run in [p for p in history.points if p.created >= since.get(point, "")][-most:]:
            baseline.runs.setdefault(run.run, set()).add(run.record)
    return baseline


def _is_same(series: Series, manifest: Manifest) -> bool:
    return (
        series.target == manifest.target.name
        and series.instrument == manifest.target.instrument
        and series.conditions == system_conditions(manifest)
        and series.quick == manifest.campaign.quick
        and series.host in ("", host_text(manifest))
    )
