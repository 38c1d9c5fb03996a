# SPDX-License-Identifier: Apache-2.0
"""Two sides of runs, benchmark point by benchmark point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kadenz.analysis.batches import ITERATIONS, batch_lanes
from kadenz.analysis.differences import Difference, differences
from kadenz.analysis.results import Samples
from kadenz.analysis.runs import refusal
from kadenz.analysis.units import Unit, unit_of
from kadenz.config.manifest import ClockClass, Manifest, RecordEntry
from kadenz.errors import UsageError
from kadenz.stats.compare import Comparison, compare
from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import order
from kadenz.stats.samples import exact_mean
from kadenz.store import Run

Outcome = Literal["better", "worse", "equivalent", "inconclusive", "not-comparable"]


@dataclass(frozen=True, eq=False)
class PointComparison:
    """One benchmark point on both sides, for one statistic; `lane` is "" where there is only one.

    `figures` are both sides' values, each in its own of the two `units` (None where there is none).
    `comparison`, in those units, is None where none could be made or the clock classes differ;
    `reason` says why.
    """

    target: str
    bench: str
    params: dict[str, int]
    lane: str
    units: tuple[Unit, Unit]
    statistic: str
    outcome: Outcome
    figures: tuple[float | None, float | None]
    comparison: Comparison | None
    classes: tuple[ClockClass, ClockClass]
    reason: str = ""


@dataclass(frozen=True)
class Configurations:
    """What differs between the runs of one target: `labels[i]` names the run of `values[i]`."""

    target: str
    labels: tuple[str, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """All points, what differs between the sides' configurations, and what only one side has."""

    configurations: tuple[Configurations, ...]  # one a target
    points: tuple[PointComparison, ...]
    only_baseline: tuple[str, ...]
    only_candidate: tuple[str, ...]
    partial: tuple[str, ...] = ()  # runs that are partial

    @property
    def regressions(self) -> int:
        """How many points are worse."""
        return sum(point.outcome == "worse" for point in self.points)

    @property
    def inconclusive(self) -> int:
        """How many points these data cannot decide."""
        return sum(point.outcome in ("inconclusive", "not-comparable") for point in self.points)


@dataclass
class _Runs:
    """The same point in every run of a side."""

    runs: list[tuple[Run, RecordEntry]] = field(default_factory=list)


_Key = tuple[str, str, tuple[tuple[str, int], ...]]


def compare_sides(
    baseline: Sequence[Run],
    candidate: Sequence[Run],
    *,
    statistics: Sequence[str | float] = ("median", 0.99),
    threshold: float = 0.05,
    across_classes: bool = False,
) -> SideBySide:
    """Compare every benchmark point both sides have. `statistics` as in `stats.compare`.

    Sides that share targets are matched target by target; sides with one target each, and not the
    same, are matched as they are. Points of different clock classes are refused (UsageError)
    unless `across_classes`; then both figures are shown, without a verdict.
    """
    across_targets = _across_targets(baseline, candidate)
    sides = _points(baseline, across_targets), _points(candidate, across_targets)
    compared: list[PointComparison] = []
    for key in sides[0]:
        if key in sides[1]:
            compared += _compare_point(
                key, sides[0][key], sides[1][key], statistics, threshold, across_classes
            )
    return SideBySide(
        configurations=tuple(_configurations(baseline, candidate, across_targets)),
        points=tuple(compared),
        only_baseline=tuple(_name(key) for key in sides[0] if key not in sides[1]),
        only_candidate=tuple(_name(key) for key in sides[1] if key not in sides[0]),
        partial=tuple(r.path.name for r in (*baseline, *candidate) if r.manifest.partial),
    )


def _configurations(
    baseline: Sequence[Run], candidate: Sequence[Run], across_targets: bool
) -> list[Configurations]:
    """Runs that are compared with each other, target by target, and where they are set apart."""
    groups: dict[str, list[tuple[str, Run]]] = {}
    for side, runs in (("A", baseline), ("B", candidate)):
        for run in runs:
            target = "" if across_targets else _target(run.manifest)
            groups.setdefault(target, []).append((f"{side} {run.path.name}", run))
    return [
        Configurations(
            target=target,
            labels=tuple(label for label, _ in group),
            differences=tuple(differences([run.manifest for _, run in group])),
        )
        for target, group in groups.items()
    ]


def _across_targets(baseline: Sequence[Run], candidate: Sequence[Run]) -> bool:
    left = {_target(run.manifest) for run in baseline}
    right = {_target(run.manifest) for run in candidate}
    if left & right:
        return False
    if len(left) == len(right) == 1:
        return True
    raise UsageError(
        f"the sides have no target in common: {', '.join(sorted(left))} against "
        f"{', '.join(sorted(right))}",
        remedy="Name runs of one target on each side, or runs of the same targets",
    )


def _target(manifest: Manifest) -> str:
    return f"{manifest.target.name} ({manifest.target.instrument})"


def _points(runs: Sequence[Run], across_targets: bool) -> dict[_Key, _Runs]:
    found: dict[_Key, _Runs] = {}
    for run in runs:
        target = "" if across_targets else _target(run.manifest)
        for entry in run.manifest.records:
            if entry.status == "n/a":
                continue
            key = target, entry.bench, tuple(sorted(entry.params.items()))
            found.setdefault(key, _Runs()).runs.append((run, entry))
    return found


def _name(key: _Key) -> str:
    target, bench, params = key
    words = " ".join(f"{k}={v}" for k, v in params)
    return " ".join(word for word in (target, bench, words) if word)


def _compare_point(
    key: _Key,
    left: _Runs,
    right: _Runs,
    statistics: Sequence[str | float],
    threshold: float,
    across_classes: bool,
) -> list[PointComparison]:
    target, bench, params = key
    units = [unit_of(entry.unit, run.manifest.clock) for run, entry in (*left.runs, *right.runs)]
    classes = units[0].clock_class, units[-1].clock_class
    different = len({unit.clock_class for unit in units}) > 1
    if different and not across_classes:
        raise UsageError(
            f"{_name(key)}: clock class `{classes[0]}` against `{classes[1]}`: absolute figures of "
            "different classes are not compared",
            remedy="Pass --across-classes to see both figures side by side, without a verdict",
        )
    lanes = [lane.name for lane in left.runs[0][1].series]
    # The empty loop of a batch is no result.
    if batch_lanes(left.runs[0][1]) is not None:
        lanes = ["per iteration"]
    made = []
    for number, lane in enumerate(lanes):
        for statistic in statistics:
            verdict = _decide(left, right, number, statistic, threshold, different)
            made.append(
                PointComparison(
                    target=target or f"{_only_target(left)} → {_only_target(right)}",
                    bench=bench,
                    params=dict(params),
                    lane=lane if len(left.runs[0][1].series) > 1 else "",
                    units=(units[0], units[-1]),
                    statistic=statistic if isinstance(statistic, str) else f"p{100 * statistic:g}",
                    outcome=verdict.outcome,
                    figures=verdict.figures,
                    comparison=verdict.comparison,
                    classes=classes,
                    reason=verdict.reason,
                )
            )
    return made


def _only_target(point: _Runs) -> str:
    return point.runs[0][0].manifest.target.name


@dataclass(frozen=True, eq=False)
class _Verdict:
    outcome: Outcome
    reason: str
    figures: tuple[float | None, float | None] = (None, None)
    comparison: Comparison | None = None


def _decide(
    left: _Runs,
    right: _Runs,
    lane: int,
    statistic: str | float,
    threshold: float,
    different: bool,
) -> _Verdict:
    sides: list[list[Samples]] = []
    for side in (left, right):
        series, refused = _series(side, lane)
        if refused:
            return _Verdict("not-comparable", refused)
        sides.append(series)
    figures = _figure(sides[0], statistic), _figure(sides[1], statistic)
    if different:
        return _Verdict("not-comparable", "clock classes differ: no verdict", figures)
    same = _deterministic(left, right) and _identical(sides)
    try:
        made = compare(sides[0], sides[1], statistic=statistic, threshold=threshold)
    except Undefined as error:
        if same:
            return _Verdict("equivalent", "sample by sample the same", figures)
        return _Verdict("inconclusive", error.reason, figures)
    figures = made.baseline.value, made.candidate.value
    if same:
        return _Verdict("equivalent", "sample by sample the same", figures, made)
    return _Verdict(made.verdict, made.reason or made.caveat, figures, made)


def _series(side: _Runs, lane: int) -> tuple[list[Samples], str]:
    """The samples of every run of a side, or why there are none to compare."""
    found: list[Samples] = []
    for run, entry in side.runs:
        refused = refusal(entry)
        if not refused and lane >= len(entry.series):
            refused = "it has fewer lanes"
        if refused:
            return [], f"{run.path.name}: {refused}"
        found.append(_in_unit(run, entry, lane))
    return found, ""


def _figure(runs: list[Samples], statistic: str | float) -> float | None:
    """The statistic of a side, averaged over its runs; None where a run has too few samples."""
    found = []
    for series in runs:
        if series.size == 0:
            return None
        if statistic == "mean":
            found.append(exact_mean(series))
        elif statistic == "median":
            found.append(order(series).median)
        else:
            level = float(statistic)
            if series.size * min(level, 1.0 - level) < 1.0:
                return None
            found.append(order(series).quantile(level))
    return math.fsum(found) / len(found)


def _deterministic(left: _Runs, right: _Runs) -> bool:
    """Emulation repeats itself (rule 8 of the method): what is equal once is equal always."""
    return all(
        run.manifest.target.tier in ("emulated", "rtl") for run, _ in (*left.runs, *right.runs)
    )


def _identical(sides: list[list[Samples]]) -> bool:
    first = sides[0][0]
    return all(np.array_equal(first, series) for side in sides for series in side)


def _in_unit(run: Run, entry: RecordEntry, lane: int) -> Samples:
    """Warm samples in the record's unit: clocks of different rate meet here and nowhere else."""
    unit = unit_of(entry.unit, run.manifest.clock)
    warm = run.samples(entry, entry.series[lane])[entry.cold :]
    lanes = batch_lanes(entry)
    if lanes is not None and lane == lanes[0]:
        return _per_iteration(run, entry, warm, lanes[1]) * np.float64(unit.scale)
    # Integers stay integers where nothing has to be scaled: stats count them exactly.
    return warm if unit.scale == 1.0 else np.asarray(warm * np.float64(unit.scale))


def _per_iteration(run: Run, entry: RecordEntry, batch: Samples, empty_lane: int) -> Samples:
    """Each repetition's (batch - empty) / iterations, in ticks (mazzi2021, equation 1).

    `empty` is the median of the empty loops, as in `batch_result`; its own spread is left out of
    the interval. Empty where no empty loop was measured: a raw total compares the loop as well.
    """
    empty = run.samples(entry, entry.series[empty_lane])[entry.cold :]
    if empty.size == 0:
        return np.empty(0, dtype=np.float64)
    return np.asarray((batch - np.median(empty)) / entry.params[ITERATIONS], dtype=np.float64)
