# SPDX-License-Identifier: Apache-2.0
"""The answers of several runs: does each variant meet its deadline, and which is faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kadenz.analysis.comparing import THRESHOLD, SideBySide, compare_sides
from kadenz.analysis.deadlines import Asked, Deadline, Misses
from kadenz.analysis.parameters import Points
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.runs import point_misses
from kadenz.analysis.standings import Group, Verdicts, exact, groups_of, standings
from kadenz.analysis.units import Unit
from kadenz.analysis.variants import Variant, variants_of
from kadenz.analysis.verdict import DECIDED, MIDDLE, UNJUDGED, Outcome, Verdict
from kadenz.config.manifest import Nature
from kadenz.config.params import Params
from kadenz.errors import UsageError
from kadenz.store import Run

MOST_PAIRS = 6  # each pair compares every point, which takes seconds
TAIL = "p99"


@dataclass(frozen=True, eq=False)
class Keeping:
    """The misses of one variant at a point; `variant` is its place."""

    variant: int
    misses: Misses
    unit: Unit


@dataclass(frozen=True, eq=False)
class DeadlineAnswer:
    """A benchmark point with a deadline, over all variants that have it."""

    bench: str
    params: Params
    nature: Nature
    deadline: Deadline
    sides: tuple[Keeping, ...]

    @property
    def of_interest(self) -> bool:
        """True for periodic, a deadline set by the user, or a miss. Else the period was met."""
        set_by_somebody = self.deadline.origin != "period"
        missed = any(side.misses.missed or side.misses.undecided for side in self.sides)
        return self.nature == "periodic" or set_by_somebody or missed


@dataclass(frozen=True, eq=False)
class PairAnswer:
    """Two variants by their places. `unjudged` gives the reasons for figures shown without a
    verdict, `reason` why nothing can be compared."""

    baseline: int
    candidate: int
    points: tuple[Verdict, ...]
    threshold: float
    unjudged: tuple[str, ...] = ()
    reason: str = ""

    @property
    def deciding(self) -> tuple[Verdict, ...]:
        """The medians; without any, the statistic that was asked for first."""
        middle = tuple(point for point in self.points if point.is_middle)
        first = self.points[0].statistic if self.points else MIDDLE
        return middle or tuple(point for point in self.points if point.statistic == first)

    def benchmarks(self) -> dict[str, Outcome | None]:
        """The outcome of each benchmark's median; None if its points differ in it."""
        by_bench: dict[str, set[Outcome]] = {}
        for point in self.deciding:
            by_bench.setdefault(point.bench, set()).add(point.outcome)
        return {
            bench: next(iter(outcomes)) if len(outcomes) == 1 else None
            for bench, outcomes in by_bench.items()
        }


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to both questions. `pairs` compare other variants with the first of their group;
    `left_out` is the number of variants not compared. `groups` is the table of several systems: ()
    for one system, and for two sides of a change, whose pair says more."""

    variants: tuple[Variant, ...]
    deadlines: tuple[DeadlineAnswer, ...]
    pairs: tuple[PairAnswer, ...]
    left_out: int = 0
    groups: tuple[Group, ...] = ()


def answer(
    runs: Sequence[Run], results: Sequence[RunResult], deadlines: Sequence[Asked] = ()
) -> Answers:
    """The answers of `runs`, analysed as `results` in the same order. `deadlines` override those
    of the runs."""
    variants = variants_of([run.manifest for run in runs])
    sides = [[runs[place] for place in variant.runs] for variant in variants]
    asked = _pairs_to_compare(variants, results)
    pairs = tuple(
        _compared(left, right, sides[left], sides[right], deadlines)
        for left, right in asked[:MOST_PAIRS]
    )
    several = len(variants) > 2 or len({result.name for result in results}) > 1
    return Answers(
        variants=tuple(variants),
        deadlines=tuple(_deadlines(runs, results, variants, deadlines)),
        pairs=pairs,
        left_out=max(0, len(asked) - MOST_PAIRS),
        groups=standings(variants, results, _verdicts(runs, pairs)) if several else (),
    )


def _pairs_to_compare(
    variants: Sequence[Variant], results: Sequence[RunResult]
) -> list[tuple[int, int]]:
    """The first system of each unit with every other one. Three or more systems whose figures are
    exact need no interval: their order is in the table."""
    groups = [members for _, members in groups_of(variants, results)]
    return [
        (members[0], other)
        for members in groups
        if len(members) == 2 or not exact(results, members, variants)
        for other in members[1:]
    ]


def _verdicts(runs: Sequence[Run], pairs: Sequence[PairAnswer]) -> Verdicts:
    """The outcome of each compared variant's median at a point."""
    same = Points(record for run in runs for record in run.manifest.records)
    return {
        (pair.candidate, point.bench, same.of(point.bench, point.params)): point.outcome
        for pair in pairs
        for point in pair.points
        if point.is_middle
    }


def pair(result: SideBySide, threshold: float) -> PairAnswer:
    """The answer of an existing comparison."""
    return _pair(0, 1, result, threshold)


def _deadlines(
    runs: Sequence[Run],
    results: Sequence[RunResult],
    variants: Sequence[Variant],
    asked: Sequence[Asked],
) -> list[DeadlineAnswer]:
    """Every point with a deadline: those of interest first, starting with periodic work."""
    same = Points(record for run in runs for record in run.manifest.records)
    keepings: dict[object, list[Keeping]] = {}
    names: dict[object, RecordResult] = {}
    for number, variant in enumerate(variants):
        points: dict[object, list[tuple[int, RecordResult]]] = {}
        for place in variant.runs:
            for record in results[place].records:
                of = record.misses
                noted = record.bench in results[place].manifest.benchmark_notes
                if record.usable and not noted and of is not None and of.deadline is not None:
                    quantity = str(of.deadline.quantity)
                    point = record.bench, same.of(record.bench, record.params), quantity
                    points.setdefault(point, []).append((place, record))
        for key, members in points.items():
            misses = (
                members[0][1].misses
                if len(members) == 1
                else point_misses([(runs[place], record.entry) for place, record in members], asked)
            )
            if misses is not None:
                names.setdefault(key, members[0][1])
                keepings.setdefault(key, []).append(Keeping(number, misses, members[0][1].unit))
    answers = [
        DeadlineAnswer(
            bench=names[key].bench,
            params=names[key].params,
            nature=names[key].nature,
            deadline=sides[0].misses.deadline,
            sides=tuple(sides),
        )
        for key, sides in keepings.items()
        if sides[0].misses.deadline is not None
    ]
    return sorted(answers, key=lambda answer: (not answer.of_interest, answer.nature != "periodic"))


def _compared(
    left: int,
    right: int,
    baseline: Sequence[Run],
    candidate: Sequence[Run],
    deadlines: Sequence[Asked],
) -> PairAnswer:
    try:
        result = compare_sides(baseline, candidate, deadlines=deadlines)
    except UsageError as error:
        return PairAnswer(left, right, (), 0.0, reason=error.message)
    if not result.points:
        return PairAnswer(left, right, (), 0.0, reason="they share no benchmark point")
    return _pair(left, right, result, THRESHOLD)


def _pair(left: int, right: int, result: SideBySide, threshold: float) -> PairAnswer:
    groups: dict[object, list[Verdict]] = {}
    for point in result.points:
        if point.outcome not in UNJUDGED:
            key = point.target, point.bench, tuple(sorted(point.params.items())), point.statistic
            groups.setdefault(key, []).append(point)
    unjudged = [p.reason for p in result.points if p.outcome == "not-comparable"]
    answers = [_point(lanes) for lanes in groups.values()]
    answers.sort(key=lambda answer: answer.nature != "periodic")
    return PairAnswer(left, right, tuple(answers), threshold, tuple(dict.fromkeys(unjudged)))


def _point(lanes: Sequence[Verdict]) -> Verdict:
    """All lanes as one: the outcome that holds for each of them."""
    undecided = [lane for lane in lanes if lane.outcome not in DECIDED]
    weakest = min(lanes, key=lambda lane: lane.distance)
    if len({lane.outcome for lane in lanes}) == 1:
        return replace(weakest, lanes=len(lanes))
    if undecided:
        weakest = undecided[0]  # otherwise faster on one lane and not on another
    return replace(weakest, outcome="inconclusive", lanes=len(lanes))
