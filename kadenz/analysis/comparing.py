# SPDX-License-Identifier: Apache-2.0
"""Two sides of runs, benchmark point by benchmark point."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kadenz.analysis.batches import ITERATIONS, batch_lanes
from kadenz.analysis.differences import Difference, differences
from kadenz.analysis.matching import Key, Matched, SameRuns, changed, match
from kadenz.analysis.results import Samples
from kadenz.analysis.runs import described, refusal
from kadenz.analysis.units import Unit, unit_of
from kadenz.config.manifest import REPEATABLE, ClockClass, RecordEntry
from kadenz.errors import UsageError
from kadenz.stats.compare import Comparison, compare
from kadenz.stats.errors import Undefined
from kadenz.stats.holm import holm
from kadenz.stats.ordered import order
from kadenz.stats.replicate import LessLoop
from kadenz.stats.samples import exact_mean
from kadenz.stats.superiority import Superiority, superiority
from kadenz.store import Run

Outcome = Literal["better", "worse", "equivalent", "inconclusive", "not-comparable"]
ALPHA = 0.05  # the chance that any change is called although there is none
BATCH_LANE = "per iteration"
SAME = "sample by sample the same"
Series = Samples | LessLoop


@dataclass(frozen=True, eq=False)
class PointComparison:
    """One benchmark point on both sides, for one statistic; `lane` is "" where there is only one.

    `figures` are both sides' values, each in its own of the two `units` (None where there is none).
    `comparison`, in those units, is None where none could be made or the clock classes differ;
    `reason` says why. `effect` is the effect size of the whole point, whatever the statistic;
    `p_together` the p-value of a change among all comparisons made at once. `repeats`: the runs of
    each side are the same to the byte and would be again, so that both figures are exact for this
    plan; `exact`: the outcome is by them, because no interval decides it.
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
    effect: Superiority | None = None
    p_together: float | None = None
    repeats: bool = False
    exact: bool = False


@dataclass(frozen=True)
class Configurations:
    """What differs between runs that are compared: `labels[i]` names the run of `values[i]`."""

    target: str
    labels: tuple[str, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """All points, what differs between the sides' configurations, and what only one side has."""

    configurations: tuple[Configurations, ...]  # one for each target and load
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


def compare_sides(
    baseline: Sequence[Run],
    candidate: Sequence[Run],
    *,
    statistics: Sequence[str | float] = ("median", 0.99),
    threshold: float = 0.05,
    across_classes: bool = False,
    together: bool = True,
    between_runs: float = 0.0,
) -> SideBySide:
    """Compare every benchmark point both sides have. `statistics` and `between_runs` as in `stats`.

    Sides are matched as `matching.match` says. Points of different clock classes are refused
    (UsageError) unless `across_classes`; then both figures are shown, without a verdict. With
    `together` a change counts only where it stands among all comparisons made (Holm's adjustment),
    so that the chance of any false alarm is 5 % whatever their number.
    """
    matched = match(baseline, candidate)
    compared: list[PointComparison] = []
    for key, left in matched.baseline.items():
        right = matched.candidate.get(key)
        if right is not None:
            compared += _compare_point(
                key, left, right, statistics, threshold, across_classes, between_runs
            )
    if together:
        compared = _all_together(compared)
    return SideBySide(
        configurations=tuple(_configurations(baseline, candidate, matched)),
        points=tuple(compared),
        only_baseline=tuple(k.name for k in matched.baseline if k not in matched.candidate),
        only_candidate=tuple(k.name for k in matched.candidate if k not in matched.baseline),
        partial=tuple(r.path.name for r in (*baseline, *candidate) if r.manifest.partial),
    )


def _all_together(points: list[PointComparison]) -> list[PointComparison]:
    """Takes back what is apart from 1 on its own, but not among so many."""
    asked = [
        i for i, point in enumerate(points) if _p_changed(point) is not None and not point.exact
    ]
    adjusted = holm([_p_changed(points[i]) or 0.0 for i in asked])
    made = list(points)
    for i, p in zip(asked, adjusted.tolist(), strict=True):
        point = dataclasses.replace(points[i], p_together=p)
        if point.outcome in ("better", "worse") and p > ALPHA and point.repeats:
            threshold = point.comparison.threshold if point.comparison is not None else 0.0
            settled = _exact(point.figures, threshold, point.comparison, point.reason)
            point = dataclasses.replace(
                point, outcome=settled.outcome, reason=settled.reason, exact=settled.exact
            )
        elif point.outcome in ("better", "worse") and p > ALPHA:
            point = dataclasses.replace(
                point,
                outcome="inconclusive",
                reason=f"{point.outcome} on its own, but not among {len(asked)} comparisons: one "
                f"like it is expected by chance in {100.0 * p:.0f} % of such calls. Measure longer",
            )
        made[i] = point
    return made


def _p_changed(point: PointComparison) -> float | None:
    return point.comparison.p_changed if point.comparison is not None else None


def _configurations(
    baseline: Sequence[Run], candidate: Sequence[Run], matched: Matched
) -> list[Configurations]:
    """Runs that are compared with each other, group by group, and where they are set apart."""
    groups: dict[str, list[tuple[str, Run]]] = {}
    for side, runs in (("A", baseline), ("B", candidate)):
        for run in runs:
            group = matched.group_of(run.manifest)
            groups.setdefault(group, []).append((f"{side} {run.path.name}", run))
    return [
        Configurations(
            target=group,
            labels=tuple(label for label, _ in members),
            differences=tuple(differences([run.manifest for _, run in members])),
        )
        for group, members in groups.items()
    ]


def _compare_point(
    key: Key,
    left: SameRuns,
    right: SameRuns,
    statistics: Sequence[str | float],
    threshold: float,
    across_classes: bool,
    between_runs: float,
) -> list[PointComparison]:
    units = [unit_of(entry.unit, run.manifest.clock) for run, entry in (*left.runs, *right.runs)]
    classes = units[0].clock_class, units[-1].clock_class
    different = len({unit.clock_class for unit in units}) > 1
    if different and not across_classes:
        raise UsageError(
            f"{key.name}: clock class `{classes[0]}` against `{classes[1]}`: absolute figures of "
            "different classes are not compared",
            remedy="Pass --across-classes to see both figures side by side, without a verdict",
        )
    first = left.runs[0][1]
    lanes = [lane.name for lane in first.series]
    # The empty loop of a batch is no result.
    if batch_lanes(first) is not None:
        lanes = [BATCH_LANE]
    made = []
    for lane in lanes:
        sides, refused = _both(left, right, lane)
        effect = None if refused or different else _effect(sides)
        repeats = not refused and repeated(left, sides[0]) and repeated(right, sides[1])
        for statistic in statistics:
            verdict = (
                _Verdict("not-comparable", refused)
                if refused
                else _decide(sides, statistic, threshold, different, repeats, between_runs)
            )
            made.append(
                PointComparison(
                    target=_title(key.group, left, right),
                    bench=key.bench,
                    params=dict(key.params),
                    lane=lane if len(first.series) > 1 else "",
                    units=(units[0], units[-1]),
                    statistic=statistic_name(statistic),
                    outcome=verdict.outcome,
                    figures=verdict.figures,
                    comparison=verdict.comparison,
                    classes=classes,
                    reason=verdict.reason,
                    effect=effect,
                    repeats=repeats,
                    exact=verdict.exact,
                )
            )
    return made


def statistic_name(statistic: str | float) -> str:
    """ "median", or "p99.9" for 0.999."""
    return statistic if isinstance(statistic, str) else f"p{round(100.0 * statistic, 6):g}"


def _title(group: str, left: SameRuns, right: SameRuns) -> str:
    """The target; both sides' names, where they are of two targets, or what else was varied."""
    first, other = left.runs[0][0].manifest, right.runs[0][0].manifest
    if first.target.name != other.target.name:
        return f"{first.target.name} → {other.target.name}"
    return ", ".join([group or first.target.name, *changed(first, other)])


@dataclass(frozen=True, eq=False)
class _Verdict:
    outcome: Outcome
    reason: str
    figures: tuple[float | None, float | None] = (None, None)
    comparison: Comparison | None = None
    exact: bool = False


def _decide(
    sides: list[list[Series]],
    statistic: str | float,
    threshold: float,
    different: bool,
    repeats: bool,
    between_runs: float,
) -> _Verdict:
    figures = figure_of(sides[0], statistic), figure_of(sides[1], statistic)
    if different:
        return _Verdict("not-comparable", "clock classes differ: no verdict", figures)
    made: Comparison | None
    try:
        made = compare(
            sides[0],
            sides[1],
            statistic=statistic,
            threshold=threshold,
            between_runs=0.0 if repeats else between_runs,
        )
    except Undefined as error:
        made, why = None, error.reason
    else:
        figures = made.baseline.value, made.candidate.value
        why = made.reason or made.caveat
    if repeats and _identical([*sides[0], *sides[1]]):
        return _Verdict("equivalent", SAME, figures, made)
    if repeats and (made is None or made.verdict == "inconclusive"):
        return _exact(figures, threshold, made, why)
    return _Verdict(made.verdict if made is not None else "inconclusive", why, figures, made)


def _exact(
    figures: tuple[float | None, float | None],
    threshold: float,
    made: Comparison | None,
    otherwise: str,
) -> _Verdict:
    """Of runs that repeat themselves: no interval decides, and the figures are exact."""
    base, cand = figures
    if base is None or cand is None or (base != cand and min(base, cand) <= 0.0):
        return _Verdict("inconclusive", otherwise, figures, made)
    outcome: Outcome = "equivalent"
    if base != cand and max(cand / base, base / cand) >= 1.0 + threshold:
        outcome = "worse" if cand > base else "better"
    return _Verdict(outcome, exact_words(made), figures, made, exact=True)


def exact_words(made: Comparison | None) -> str:
    """Why an outcome is by the exact figures, and what the interval would have said."""
    ratio = made.ratio if made is not None and made.decidable else None
    if ratio is None or (ratio.low <= 0.0 and math.isinf(ratio.high)):
        return "exact for this plan: emulation repeats itself; too few samples for an interval"
    return (
        "exact for this plan: emulation repeats itself; the interval of other samples like these "
        f"is [{_change(ratio.low)}, {_change(ratio.high)}]"
    )


def _change(ratio: float) -> str:
    return "…" if not 0.0 < ratio < math.inf else f"{100.0 * (ratio - 1.0):+.3g} %"


def _effect(sides: list[list[Series]]) -> Superiority | None:
    """The effect size; None where a run has too few samples."""
    try:
        return superiority([_figures(run) for run in sides[0]], [_figures(run) for run in sides[1]])
    except Undefined:
        return None


def _both(left: SameRuns, right: SameRuns, lane: str) -> tuple[list[list[Series]], str]:
    """Every run's samples of a lane on both sides, or why there are none to compare."""
    sides = []
    for side in (left, right):
        found: list[Series] = []
        for run, entry in side.runs:
            refused, series = series_of(run, entry, lane)
            if refused or series is None:
                return [], f"{run.path.name}: {refused}"
            found.append(series)
        sides.append(found)
    return sides, ""


def series_of(run: Run, entry: RecordEntry, lane: str) -> tuple[str, Series | None]:
    """Warm samples of a lane in the unit of figures, or why there are none.

    Clocks of different rate meet here and nowhere else. A batch is its total less the empty loop,
    by iteration (mazzi2021, equation 1), the loop's repetitions beside it.
    """
    refused = refusal(entry)
    if refused:
        return refused, None
    scale = unit_of(entry.unit, run.manifest.clock).scale
    batch = batch_lanes(entry)
    if lane == BATCH_LANE:
        if batch is None:
            return "it is no batch there", None
        whole, loop = (run.samples(entry, entry.series[i])[entry.cold :] for i in batch)
        if whole.size == 0 or loop.size == 0:
            return "a batch without its empty loop: the total alone compares the loop as well", None
        return "", LessLoop(whole, loop, entry.params[ITERATIONS] / scale)
    known = {one.name: one for one in entry.series}
    if lane not in known:
        return f"it has no lane {lane}", None
    warm = described(run, entry, known[lane])
    # Integers stay integers where nothing has to be scaled: stats count them exactly.
    return "", warm if scale == 1.0 else np.asarray(warm * np.float64(scale))


def _figures(run: Series) -> Samples:
    """Samples as figures: of a batch, with the median of the empty loop taken off."""
    if not isinstance(run, LessLoop):
        return run
    return np.asarray((np.asarray(run.samples) - np.median(np.asarray(run.loop))) / run.per)


def figure_of(runs: Sequence[Series], statistic: str | float) -> float | None:
    """The statistic of a side, averaged over its runs; None where a run has too few samples."""
    found = []
    for run in runs:
        series = _figures(run)
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


def repeated(same: SameRuns, series: Sequence[Series]) -> bool:
    """The runs of a side repeat themselves, by their tier and by their samples `series` of a lane.

    What is equal once is equal always there (rule 8 of the method). Runs that are not the same, of
    two images say, repeat nothing.
    """
    return all(run.manifest.target.tier in REPEATABLE for run, _ in same.runs) and _identical(
        series
    )


def _identical(series: Sequence[Series]) -> bool:
    first = _figures(series[0])
    return all(np.array_equal(first, _figures(one)) for one in series[1:])
