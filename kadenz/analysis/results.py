# SPDX-License-Identifier: Apache-2.0
"""The results of an analysis. All sample statistics are in ticks; see `Unit`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from kadenz.analysis.deadlines import Misses
from kadenz.analysis.jitter_views import JitterResult
from kadenz.analysis.kept_traces import KeptTrace
from kadenz.analysis.named_point import NamedPoint
from kadenz.analysis.outliers import Outliers
from kadenz.analysis.periods import Periods
from kadenz.analysis.structures import Structure
from kadenz.analysis.units import Unit
from kadenz.config.manifest import LaneEntry, Manifest, RecordEntry, Warning  # noqa: A004
from kadenz.config.params import Params
from kadenz.stats.box import Box
from kadenz.stats.cold import ColdEffect
from kadenz.stats.effective import EffectiveSize
from kadenz.stats.envelope import Envelope
from kadenz.stats.exceedance import Exceedance
from kadenz.stats.histogram import Histogram
from kadenz.stats.mean_interval import MeanInterval
from kadenz.stats.percentiles import Percentile
from kadenz.stats.periodic import PeriodicOutliers
from kadenz.stats.place_effect import MarkedEffect
from kadenz.stats.prediction import MaximumBound
from kadenz.stats.size_fit import SizeFit
from kadenz.stats.summary import Summary
from kadenz.stats.tail import Tail

S = TypeVar("S", bound=Structure)


@dataclass(frozen=True, eq=False)
class LaneResult:
    """One series: its accounting, the cold samples, and statistics of the warm ones.

    A statistic is None if it is undefined; `gaps[name]` says why. `histogram`, `envelope`,
    `exceedance` and `box` are for plots and have at most a few thousand numbers for any n.
    """

    entry: LaneEntry
    cold: tuple[float, ...]  # the cold samples (at most 64 of them)
    summary: Summary | None = None
    percentiles: tuple[Percentile, ...] = ()
    central: tuple[float, float] | None = None  # p1 and p99, for bands; from 100 samples
    mean: MeanInterval | None = None
    effective: EffectiveSize | None = None
    figures: Mapping[str, float | None] = field(default_factory=dict)  # those of `lane_figures`
    maximum: MaximumBound | None = None
    cold_effect: ColdEffect | None = None
    cold_suggested: int = 0  # number of first samples that look cold
    drain_effect: MarkedEffect | None = None  # samples after a drain compared with the others
    periodic: PeriodicOutliers | None = None
    box: Box | None = None
    histogram: Histogram | None = None
    envelope: Envelope | None = None
    exceedance: Exceedance | None = None
    outliers: Outliers | None = None
    jitter: JitterResult | None = None  # of edges and wake-ups
    tail: Tail | None = None  # from 10,000 samples
    misses: Misses | None = None  # None: no deadline, and no miss
    periods: Periods | None = None  # of a thread whose cores were recorded
    other_rate: float | None = None  # calls of the other core in 1/s (smp/contention)
    # Of a timing model: the median of the least cycles of each sample, and of the most, in ticks.
    modelled: tuple[float, float] | None = None
    gaps: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As the benchmark calls it."""
        return self.entry.name

    def without_inference(self) -> LaneResult:
        """The figures of a population: what its values are, and no claim about others."""
        bare = [
            replace(each, low=None, high=None, attained=None, reason="", known=True)
            for each in self.percentiles
        ]
        return replace(
            self,
            percentiles=tuple(bare),
            mean=None,
            effective=None,
            maximum=None,
            cold_effect=None,
            cold_suggested=0,
            drain_effect=None,
            periodic=None,
            outliers=None,
            tail=None,
        )

    def percentile(self, name: str) -> Percentile | None:
        """A percentile by name, e.g. "p99"; None if it was not computed."""
        return next((p for p in self.percentiles if p.name == name), None)


@dataclass(frozen=True)
class Pooled:
    """All lanes of a record as one series, e.g. the threads of every core. Without intervals: lanes
    that ran at the same time depend on each other, and no lane alone shows how."""

    summary: Summary
    quantiles: dict[str, float]  # "p99": ticks
    box: Box
    exceedance: Exceedance


@dataclass(frozen=True, eq=False)
class RecordResult(NamedPoint):
    """One benchmark point; `reason` says why a record that is not usable has no figures."""

    entry: RecordEntry
    unit: Unit
    reason: str
    lanes: tuple[LaneResult, ...]
    pooled: Pooled | None = None
    structures: tuple[Structure, ...] = ()
    misses: Misses | None = None  # of all lanes together
    notes: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it has figures: not for n/a, invalid and failed records."""
        return self.entry.status == "ok"

    @property
    def main(self) -> LaneResult | None:
        """The lane that a table shows: the first one with statistics."""
        if not self.usable:
            return None
        return next((lane for lane in self.lanes if lane.summary is not None), None)

    def structure(self, kind: type[S]) -> S | None:
        """What the record has of this kind besides its lanes."""
        return next(
            (structure for structure in self.structures if isinstance(structure, kind)), None
        )

    @property
    def per_execution(self) -> float | None:
        """Ticks of one execution, if they are not a sample's."""
        return next(
            (
                structure.per_execution
                for structure in self.structures
                if structure.per_execution is not None
            ),
            None,
        )

    @property
    def whole(self) -> bool:
        """Whether it is timed as a whole: its lanes have no distribution to show."""
        return any(structure.whole for structure in self.structures)

    @property
    def planned(self) -> int:
        """Planned samples over all lanes."""
        return sum(lane.entry.planned for lane in self.lanes)

    @property
    def taken(self) -> int:
        """Taken samples over all lanes, with those that overran."""
        return sum(lane.entry.taken for lane in self.lanes)

    @property
    def missed(self) -> int:
        """Missed samples over all lanes."""
        return sum(lane.entry.missed for lane in self.lanes)

    @property
    def not_measured(self) -> int:
        """Over all lanes: samples never requested from the target."""
        return sum(lane.entry.not_measured for lane in self.lanes)

    @property
    def overrun(self) -> int:
        """Over all lanes; counted within taken."""
        return sum(lane.entry.overrun for lane in self.lanes)


@dataclass(frozen=True, eq=False)
class Sweep:
    """One benchmark over message sizes in one run; `fit` is None with a `reason`."""

    bench: str
    params: Params  # the parameters that stay the same
    sizes: tuple[int, ...]
    points: tuple[RecordResult, ...]
    unit: Unit
    fit: SizeFit | None
    reason: str


@dataclass(frozen=True, eq=False)
class RunResult:
    """All results of one run."""

    path: Path
    manifest: Manifest
    records: tuple[RecordResult, ...]
    sweeps: tuple[Sweep, ...]
    warnings: tuple[Warning, ...]
    traces: tuple[KeptTrace, ...] = ()

    @property
    def name(self) -> str:
        """Name of the target: "freertos/hifive1-revb@emulated"."""
        return self.manifest.target.name

    @property
    def unit(self) -> Unit:
        """The unit of records counted in ticks of the run's clock."""
        from kadenz.analysis.units import unit_of

        return unit_of("ticks", self.manifest.clock)

    def find(self, bench: str, **params: int) -> list[RecordResult]:
        """Usable records of a benchmark whose parameters include `params`."""
        return [
            r
            for r in self.records
            if r.usable and r.bench == bench and params.items() <= r.params.items()
        ]


Samples = npt.NDArray[Any]
