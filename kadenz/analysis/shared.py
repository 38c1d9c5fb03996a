# SPDX-License-Identifier: Apache-2.0
"""Finds figures of several runs that may share an axis: one point, one unit, one clock class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.parameters import Points
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.units import Unit
from kadenz.config.manifest import Nature
from kadenz.config.params import Params
from kadenz.stats.exceedance import Exceedance


@dataclass(frozen=True, eq=False)
class SharedPoint:
    """A benchmark point in all runs with the same unit: (place of the run, record)."""

    bench: str
    params: Params
    unit: Unit
    arch: str  # if instructions or cycles are counted, which are not a time; else ""
    records: tuple[tuple[int, RecordResult], ...]

    @property
    def nature(self) -> Nature:
        """What a sample is."""
        return self.records[0][1].nature


def shared_points(runs: Sequence[RunResult]) -> list[SharedPoint]:
    """Every point with a distribution, in order of appearance.

    Instructions of two instruction sets are different units, and so are times of two clock classes.
    """
    points_of = Points(record.entry for run in runs for record in run.records)
    members: dict[object, list[tuple[int, RecordResult]]] = {}
    for number, run in enumerate(runs):
        arch = "" if run.unit.is_time else run.manifest.target.arch
        for record in run.records:
            if exceedance_of(record) is not None:
                params = points_of.of(record.bench, record.params)
                key = record.bench, params, record.unit.key, record.unit.clock_class, arch
                members.setdefault(key, []).append((number, record))
    points = []
    for records in members.values():
        number, first = records[0]
        arch = "" if runs[number].unit.is_time else runs[number].manifest.target.arch
        points.append(SharedPoint(first.bench, first.params, first.unit, arch, tuple(records)))
    return points


def exceedance_of(record: RecordResult) -> Exceedance | None:
    """The exceedance of all lanes; None for a batch and for windows of operations,
    timed as a whole, and for signed figures."""
    if not record.usable or record.per_execution is not None or record.main is None:
        return None
    exceedance = record.pooled.exceedance if record.pooled is not None else record.main.exceedance
    signed = exceedance is None or exceedance.values[0] < 0.0 or exceedance.values[-1] <= 0.0
    return None if signed else exceedance
