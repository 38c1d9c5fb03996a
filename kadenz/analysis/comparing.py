# SPDX-License-Identifier: Apache-2.0
"""Compares two sides of runs, point by point."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.cycles_missed import (
    MISSES,
    asks_for_deadlines,
    question_of_misses,
    rates,
)
from kadenz.analysis.deadlines import Asked, Misses
from kadenz.analysis.differences import Difference, differences
from kadenz.analysis.exact import exact_verdicts, one_sided
from kadenz.analysis.history import Histories
from kadenz.analysis.judging import Point, Question, by_figures, decide, question, spreads
from kadenz.analysis.matching import Key, Matched, SameRuns, match
from kadenz.analysis.sides import Series, as_figures, both_sides, figure_of, lanes_of
from kadenz.analysis.structures import is_population, unjudged
from kadenz.analysis.systems import changes
from kadenz.analysis.units import Unit, unit_of
from kadenz.analysis.verdict import Figures, Outcome, Verdict, statistic_name
from kadenz.analysis.work import same_work
from kadenz.stats.errors import Undefined
from kadenz.stats.holm import holm
from kadenz.stats.superiority import Superiority, superiority
from kadenz.store import Run

THRESHOLD = 0.05  # smaller relative changes are none that anybody acts on
ALPHA = 0.05  # probability that any change is reported although there is none


@dataclass(frozen=True)
class Configurations:
    """Differences between runs that are compared: `labels[i]` names the run of `values[i]`."""

    target: str
    labels: tuple[str, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """All points, the sides' configuration differences, and points that only one side has."""

    configurations: tuple[Configurations, ...]  # one for each target and load
    points: tuple[Verdict, ...]
    only_baseline: tuple[Key, ...]
    only_candidate: tuple[Key, ...]
    partial: tuple[str, ...] = ()  # runs that are partial
    unmatched: tuple[Run, ...] = ()  # of the candidate: no point of theirs is judged

    @property
    def regressions(self) -> int:
        """The number of comparisons that are worse."""
        return self.count("worse")

    @property
    def inconclusive(self) -> int:
        """The number of comparisons that these data cannot decide."""
        return self.count("inconclusive") + self.count("not-comparable")

    @property
    def judged(self) -> bool:
        """True if at least one comparison is not just context."""
        return self.count("context") < len(self.points)

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """Benchmarks that are not judged because their figure carries a note, and the note."""
        return tuple(
            dict.fromkeys(
                (point.bench, point.reason)
                for point in self.points
                if point.outcome == "context" and point.nature != "context"
            )
        )

    def count(self, outcome: Outcome) -> int:
        """The number of comparisons with this outcome."""
        return sum(point.outcome == outcome for point in self.points)


def compare_sides(
    baseline: Sequence[Run],
    candidate: Sequence[Run],
    *,
    statistics: Sequence[str | float] = ("median", 0.99),
    threshold: float = THRESHOLD,
    together: bool = True,
    between_runs: float = 0.0,
    deadlines: Sequence[Asked] | None = (),
) -> SideBySide:
    """Compares every benchmark point that both sides have. `statistics` and others as in `stats`.

    If a point has a deadline to judge (`cycles_missed.asks_for_deadlines`), the maximum and the
    miss rate are compared too; `deadlines` are the command line's, None to compare neither.
    `matching.match` matches the sides. Figures of two clock classes, and instructions of two
    instruction sets, are shown without ratio and verdict (`not-comparable`). Points of that
    nature, and those that carry a note, are `context`. With `together`, a change counts if it is
    significant after Holm correction over all comparisons: the probability of any false alarm is
    then 5 %, whatever their number.
    """
    matched = match(baseline, candidate)
    histories = Histories([*baseline, *candidate])
    opened: list[_Open] = []
    for key, left in matched.baseline.items():
        right = matched.candidate.get(key)
        if right is not None:
            misses = None if deadlines is None else asks_for_deadlines(left, right, deadlines)
            asked = [*statistics, "max"] if misses is not None else statistics
            opened += _open_point(key, left, right, asked, threshold, between_runs, histories)
            if misses is not None:
                opened += _open_misses(key, left, right, misses, between_runs)
    compared = _judged(opened, threshold)
    if together:
        compared = _all_together(compared)
    return SideBySide(
        configurations=tuple(_configurations(baseline, candidate, matched)),
        points=tuple(compared),
        only_baseline=tuple(k for k in matched.baseline if k not in matched.candidate),
        only_candidate=tuple(k for k in matched.candidate if k not in matched.baseline),
        partial=tuple(r.path.name for r in (*baseline, *candidate) if r.manifest.partial),
        unmatched=_unmatched(candidate, matched),
    )


def _unmatched(candidate: Sequence[Run], matched: Matched) -> tuple[Run, ...]:
    """The runs of which the baseline has no point, besides context."""
    judged = {
        run.path
        for key, right in matched.candidate.items()
        if key in matched.baseline and not _context(matched.baseline[key], right)
        for run, _ in right.runs
    }
    return tuple(run for run in candidate if run.path not in judged)


def _all_together(points: list[Verdict]) -> list[Verdict]:
    """Withdraws changes that are not significant after Holm correction."""
    asked = [i for i, point in enumerate(points) if point.in_question]
    adjusted = holm([_p_changed(points[i]) or 0.0 for i in asked])
    corrected = list(points)
    for i, p in zip(asked, adjusted.tolist(), strict=True):
        point = dataclasses.replace(points[i], p_together=p)
        if point.outcome in ("better", "worse") and p > ALPHA and point.repeats:
            threshold = point.comparison.threshold if point.comparison is not None else 0.0
            point = by_figures(point, threshold, point.reason)
        elif point.outcome in ("better", "worse") and p > ALPHA:
            point = dataclasses.replace(
                point,
                outcome="inconclusive",
                reason=f"{point.outcome} on its own, but not significant after Holm correction "
                f"over {len(asked)} comparisons: chance gives one like it in {100.0 * p:.0f} % of "
                "such calls. Measure more rounds",
            )
        corrected[i] = point
    return corrected


def _p_changed(point: Verdict) -> float | None:
    return point.comparison.p_changed if point.comparison is not None else None


def _configurations(
    baseline: Sequence[Run], candidate: Sequence[Run], matched: Matched
) -> list[Configurations]:
    """The differences between runs that are compared with each other, group by group."""
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
        if {label[0] for label, _ in members} == {"A", "B"}
    ]


@dataclass(frozen=True, eq=False)
class _Open:
    """A verdict without its outcome yet; `asked` is the question to judge, if any."""

    verdict: Verdict
    asked: Question | None
    family: tuple[str, ...] = ()  # the same runs, the same statistic


def _open_point(
    key: Key,
    left: SameRuns,
    right: SameRuns,
    statistics: Sequence[str | float],
    threshold: float,
    between_runs: float,
    histories: Histories,
) -> list[_Open]:
    """Every lane; beside a population the other samples only show that it disturbed none."""
    across, context = _across(left, right), _context(left, right)
    first = left.runs[0][1]
    populations = [lane.name for lane in first.series if is_population(first, lane)]
    runs = tuple(str(run.path) for run, _ in (*left.runs, *right.runs))
    opened = []
    for lane in populations or lanes_of(first):
        series, refused = both_sides(left, right, lane)
        open_ = _template(key, left, right, lane, context or refused or across)
        if open_.reason:
            for statistic in dict.fromkeys(statistics):
                figures = (None, None) if refused else _figures(series, statistic)
                name = statistic_name(statistic)
                opened.append(
                    _Open(dataclasses.replace(open_, statistic=name, figures=figures), None)
                )
        elif populations:
            exact = exact_verdicts(open_, (left, right), series, statistics, threshold)
            opened += [_Open(verdict, None) for verdict in exact]
        else:
            point = Point(left, right, series)
            if point.alone and not between_runs:
                point.history = [histories.series(same, lane) for same in (left, right)]
            open_ = dataclasses.replace(open_, effect=_effect(series))
            asked = [question(point, each, threshold, between_runs) for each in statistics]
            opened += _questions(open_, asked, runs)
    return opened


def _template(key: Key, left: SameRuns, right: SameRuns, lane: str, reason: str) -> Verdict:
    """The verdict on a lane, without a statistic; `reason`: why it is not judged."""
    units = [unit_of(entry.unit, run.manifest.clock) for run, entry in (*left.runs, *right.runs)]
    (left_run, first), (right_run, entry) = left.runs[0], right.runs[0]
    return Verdict(
        target=_title(key.group, left, right),
        bench=key.bench,
        params=dict(key.params),
        lane=lane if len(first.series) > 1 else "",
        units=(units[0], units[-1]),
        statistic="",
        outcome="context" if _context(left, right) else "not-comparable",
        figures=(None, None),
        comparison=None,
        classes=(units[0].clock_class, units[-1].clock_class),
        nature=left.nature,
        reason=reason,
        measured=right,
        unlike=not same_work((left_run.manifest, first), (right_run.manifest, entry)),
    )


def _questions(open_: Verdict, asked: Sequence[Question], runs: tuple[str, ...]) -> list[_Open]:
    """Verdicts with their questions; statistics that stand for each other are asked once."""
    named: dict[str, Question] = {}
    for each in asked:
        named.setdefault(statistic_name(each.statistic), each)
    return [
        _Open(
            dataclasses.replace(open_, statistic=name, figures=each.figures, repeats=each.repeats),
            each,
            (*runs, name),
        )
        for name, each in named.items()
    ]


def _open_misses(
    key: Key, left: SameRuns, right: SameRuns, misses: list[list[Misses]], between_runs: float
) -> list[_Open]:
    """The miss rate of a point, all lanes together."""
    across, context = _across(left, right), _context(left, right)
    asked = None if across or context else question_of_misses(left, right, misses, between_runs)
    kinds = [same.runs[0][0].manifest.clock.clock_class for same in (left, right)]
    units = [Unit("% of cycles", "percent_of_cycles", 1.0, kind, False) for kind in kinds]
    verdict = Verdict(
        target=_title(key.group, left, right),
        bench=key.bench,
        params=dict(key.params),
        lane="",
        units=(units[0], units[1]),
        statistic=MISSES,
        outcome="context" if context else "not-comparable",
        figures=(rates(misses[0]), rates(misses[1])),
        comparison=None,
        classes=(kinds[0], kinds[1]),
        nature=left.nature,
        reason=context or across,
        repeats=asked is not None and asked.repeats,
        measured=right,
    )
    runs = tuple(str(run.path) for run, _ in (*left.runs, *right.runs))
    return [_Open(verdict, asked, (*runs, MISSES))]


def _figures(series: list[list[Series]], statistic: str | float) -> Figures:
    return figure_of(series[0], statistic), figure_of(series[1], statistic)


def _judged(opened: Sequence[_Open], threshold: float) -> list[Verdict]:
    """Every verdict with its outcome; points of the same runs share their spread."""
    families: dict[tuple[str, ...], list[int]] = {}
    for i, pending in enumerate(opened):
        if pending.asked is not None:
            families.setdefault(pending.family, []).append(i)
    judged = [pending.verdict for pending in opened]
    for members in families.values():
        questions = [asked for i in members if (asked := opened[i].asked) is not None]
        for i, asked, spread in zip(members, questions, spreads(questions), strict=True):
            judged[i] = decide(judged[i], asked, spread, threshold)
    return judged


def _across(left: SameRuns, right: SameRuns) -> str:
    """Why the figures of both sides have no ratio; "" if they have one."""
    manifests = [run.manifest for run, _ in (*left.runs, *right.runs)]
    classes = list(dict.fromkeys(manifest.clock.clock_class for manifest in manifests))
    if len(classes) > 1:
        return f"clock classes {' and '.join(classes)} have no common unit"
    sets = list(dict.fromkeys(manifest.target.arch for manifest in manifests))
    if classes == ["instruction"] and len(sets) > 1:
        return f"instructions of {' and '.join(sets)} are not the same work"
    models = list(
        dict.fromkeys(manifest.clock.model.name for manifest in manifests if manifest.clock.model)
    )
    if len(models) > 1:
        return f"cycles of the models {' and '.join(models)} are not the same cycles"
    return ""


def _context(left: SameRuns, right: SameRuns) -> str:
    """Why a point is never judged: its nature, or a note that a run has on it."""
    for run, entry in (*left.runs, *right.runs):
        note = run.manifest.benchmark_notes.get(entry.bench)
        if note:
            return note
        if why := unjudged(entry):
            return why
    if left.nature == "context":
        return "a property of the clock or of the machine"
    return one_sided(left, right)


def _title(group: str, left: SameRuns, right: SameRuns) -> str:
    """The target; both sides' names if they differ, or the other condition that was varied."""
    first, other = left.runs[0][0].manifest, right.runs[0][0].manifest
    if first.target.name != other.target.name:
        return f"{first.target.name} → {other.target.name}"
    return ", ".join([group or first.target.name, *changes(first, other)])


def _effect(sides: list[list[Series]]) -> Superiority | None:
    """The effect size; None if a run has too few samples."""
    try:
        return superiority(*([as_figures(run) for run in side] for side in sides))
    except Undefined:
        return None
