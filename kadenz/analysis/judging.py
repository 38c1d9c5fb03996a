# SPDX-License-Identifier: Apache-2.0
"""Judges one statistic of one point, in steps, because points share their spread.

`question` takes each side's figure in every run. `spreads` then estimates the spread from run to
run from all points of the same runs together. Only then is each point judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kadenz.analysis.change import change_words
from kadenz.analysis.matching import SameRuns
from kadenz.analysis.shown_step import shown_step
from kadenz.analysis.sides import Series, as_figures, figure_of, identical, repeated
from kadenz.analysis.units import TIME_CLASSES
from kadenz.analysis.verdict import ONE_RUN, Figures, Outcome, Verdict
from kadenz.config.manifest import REPEATABLE
from kadenz.stats.compare import Comparison, judge
from kadenz.stats.errors import Undefined
from kadenz.stats.plain import plain
from kadenz.stats.replicate import LessLoop
from kadenz.stats.side import Side, side_of
from kadenz.stats.spread import RunLogs, Spread, moderated
from kadenz.store import Run

SAME = "all samples are equal"


@dataclass(frozen=True, eq=False)
class Question:
    """One statistic of one lane on both sides. `sides` is None if it is undefined: see `why`.

    `instead` says why the statistic is not the requested one. `alone`: one run per side on a
    target whose runs differ by an unknown amount.
    """

    statistic: str | float
    figures: Figures
    repeats: bool
    same: bool
    alone: bool
    between_runs: float
    sides: tuple[Side, Side] | None
    why: str = ""
    instead: str = ""


@dataclass
class Point:
    """The samples of one lane on both sides, `series[s][r]`, and of runs that show the spread."""

    left: SameRuns
    right: SameRuns
    series: list[list[Series]]
    history: list[list[Series]] = field(default_factory=lambda: [[], []])

    @property
    def repeats(self) -> bool:
        """True if both sides' runs are byte-identical, and would be again."""
        return repeated(self.left, self.series[0]) and repeated(self.right, self.series[1])

    @property
    def alone(self) -> bool:
        """True for one run per side of a target whose runs differ."""
        runs = [run for run, _ in (*self.left.runs, *self.right.runs)]
        return all(len(side) == 1 for side in self.series) and any(map(varies, runs))

    def steps(self) -> tuple[float, float]:
        """The step of each side's clock, in the unit of figures; 0 for counts."""
        left, right = (
            _step(same, series)
            for same, series in zip((self.left, self.right), self.series, strict=True)
        )
        return left, right


def varies(run: Run) -> bool:
    """Whether runs of a target differ from each other: all that files alone do not decide."""
    return run.manifest.target.tier not in REPEATABLE


def _step(same: SameRuns, series: Sequence[Series]) -> float:
    """The clock's step; readings of a real clock are multiples of it, which the manifest bounds."""
    run, entry = same.runs[0]
    clock = run.manifest.clock
    if clock.clock_class not in TIME_CLASSES or entry.unit != "ticks":
        return 0.0
    scale = 1e6 / clock.seconds_hz if clock.hz else 1.0
    seen = clock.resolution.min * scale if clock.resolution is not None else math.inf
    if run.manifest.target.instrument == "capture" and math.isfinite(seen):
        return seen  # of all its edges, of which the samples are few
    first = series[0]
    if isinstance(first, LessLoop):
        # A batch has the steps of its total and its loop, divided by the iterations.
        return 2.0 * min(seen, scale) / (first.per * scale)
    values = np.concatenate([np.asarray(samples)[:10_000] for samples in series])
    if values.min() == values.max():
        return seen if math.isfinite(seen) else scale
    return min(shown_step(values, values - values.min()), seen)


def question(
    point: Point, statistic: str | float, threshold: float, between_runs: float
) -> Question:
    """The sides' figures and errors. The mean replaces a median that the clock's step hides."""
    repeats = point.repeats
    steps = (0.0, 0.0) if repeats else point.steps()
    figures = _figures(point, statistic)
    instead = why = ""
    share = max(
        (step / figure for step, figure in zip(steps, figures, strict=True) if figure), default=0.0
    )
    if statistic == "median" and share >= threshold > 0.0 and not _locked(point):
        statistic, figures = "mean", _figures(point, "mean")
        instead = f"the clock's step is {plain(100.0 * share, 2)} % of the median"
    told = 0.0 if repeats else between_runs
    sides = None
    if statistic == "max" and not repeats and max(map(len, point.series)) == 1:
        why = (
            "one run per side shows no spread of the maximum. Measure with `kadenz run --rounds 3`"
        )
    elif statistic == "max" and not _as_many(point):
        why = "the sides have different numbers of samples, and a maximum grows with their number"
    try:
        base, cand = (
            side_of(
                runs,
                statistic=statistic,
                between_runs=told,
                step=steps[number],
                history=point.history[number],
                seed=(1, number),
            )
            for number, runs in enumerate(point.series)
        )
        figures = base.value, cand.value
        sides = None if why else (base, cand)
    except Undefined as error:
        why = error.reason
    return Question(
        statistic=statistic,
        figures=figures,
        repeats=repeats,
        same=repeats and identical([*point.series[0], *point.series[1]]),
        alone=point.alone and not told and not any(point.history),
        between_runs=told,
        sides=sides,
        why=why,
        instead=instead,
    )


def _as_many(point: Point) -> bool:
    """Whether all runs have about the same number of samples."""
    counts = [as_figures(run).size for side in point.series for run in side]
    return max(counts) <= 1.1 * min(counts)


def _figures(point: Point, statistic: str | float) -> Figures:
    return figure_of(point.series[0], statistic), figure_of(point.series[1], statistic)


def _locked(point: Point) -> bool:
    """Whether a side has only one reading: then stamps may not fall evenly between ticks."""
    return any(
        all(np.ptp(np.asarray(run)) == 0 for run in side if not isinstance(run, LessLoop))
        for side in point.series
    )


def spreads(questions: Sequence[Question]) -> list[tuple[Spread | None, Spread | None] | None]:
    """The spread from run to run of each question, estimated from all: same statistic and runs.

    None for questions that repeat themselves or show no spread.
    """
    pairs: list[list[Spread | None]] = [[None, None] for _ in questions]
    numbered: list[list[tuple[int, RunLogs]]] = [[], []]
    for number, asked in enumerate(questions):
        if asked.sides is None or asked.repeats:
            continue
        for place, side in enumerate(asked.sides):
            if side.logs is not None:
                numbered[place].append((number, side.logs))
    # Points that only one side has would have no partner on the other.
    both = {number for number, _ in numbered[0]} & {number for number, _ in numbered[1]}
    if numbered[0] and numbered[1]:
        numbered = [
            [(number, logs) for number, logs in side if number in both] for side in numbered
        ]
    for place, lent in enumerate(moderated([[logs for _, logs in side] for side in numbered])):
        for (number, _), spread in zip(numbered[place], lent, strict=True):
            pairs[number][place] = spread
    return [(pair[0], pair[1]) if any(pair) else None for pair in pairs]


def decide(
    open_: Verdict,
    asked: Question,
    spread: tuple[Spread | None, Spread | None] | None,
    threshold: float,
) -> Verdict:
    """The verdict on one question alone; `open_` says of what."""
    comparison: Comparison | None = None
    why = asked.why
    if asked.sides is not None:
        comparison = judge(
            *asked.sides,
            statistic=asked.statistic,
            threshold=threshold,
            between_runs=asked.between_runs,
            spreads=spread,
        )
        why = comparison.reason or comparison.caveat
    verdict = replace(open_, figures=asked.figures, comparison=comparison)
    if asked.same:
        return replace(verdict, outcome="equivalent", reason=asked.why or SAME)
    if asked.repeats and (comparison is None or comparison.verdict == "inconclusive"):
        return by_figures(verdict, threshold, why)
    if asked.alone:
        return replace(verdict, outcome="inconclusive", reason=ONE_RUN)
    outcome = comparison.verdict if comparison is not None else "inconclusive"
    reason = "; ".join(part for part in (asked.instead, why) if part)
    return replace(verdict, outcome=outcome, reason=reason)


def by_figures(verdict: Verdict, threshold: float, otherwise: str) -> Verdict:
    """The verdict for runs that repeat themselves: no interval decides; the figures are exact."""
    base, cand = verdict.figures
    outcome: Outcome = "equivalent"
    if base is not None and cand is not None and not otherwise and (base == 0.0) != (cand == 0.0):
        outcome = "worse" if cand else "better"
    elif base is None or cand is None or (base != cand and min(base, cand) <= 0.0):
        return replace(verdict, outcome="inconclusive", reason=otherwise, exact=False)
    elif base != cand and max(cand / base, base / cand) >= 1.0 + threshold:
        outcome = "worse" if cand > base else "better"
    return replace(verdict, outcome=outcome, reason=exact_words(verdict.comparison), exact=True)


def exact_words(comparison: Comparison | None) -> str:
    """Why the exact figures decide, and what an interval would have said."""
    ratio = comparison.ratio if comparison is not None and comparison.decidable else None
    if ratio is None or (ratio.low <= 0.0 and math.isinf(ratio.high)):
        return "exact for this plan: emulation repeats itself; too few samples for an interval"
    return (
        "exact for this plan: emulation repeats itself; the interval of similar samples "
        f"is [{change_words(ratio.low)}, {change_words(ratio.high)}]"
    )
