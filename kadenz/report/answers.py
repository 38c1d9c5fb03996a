# SPDX-License-Identifier: Apache-2.0
"""The answers in words, one sentence per question: for the page, `run` and `compare`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.answers import (
    TAIL,
    Answers,
    DeadlineAnswer,
    Keeping,
    PairAnswer,
)
from kadenz.analysis.change import change_words
from kadenz.analysis.verdict import Verdict
from kadenz.report import digits, labels
from kadenz.stats.plain import plain

# Points that get their own sentence; the others are only counted.
MOST_POINTS = 2
TIMES_FROM = 2.0  # larger changes are given as a factor, smaller ones in percent
# Statistics with a plainer name than their key.
_NAMES = {"max": "maximum", "misses": "miss rate"}
FINER = "The clock's step hides a change: use a finer clock."
LONGER = "For a clearer answer, measure more samples: kadenz run --set samples=N."
MORE_ROUNDS = "For a clearer answer, measure longer or in more rounds: kadenz run --rounds 5."


@dataclass(frozen=True)
class Sentence:
    """A question and its answer."""

    question: str
    answer: str


def sentences(answers: Answers, names: Sequence[str]) -> list[Sentence]:
    """`names` are the variants' names, in order; a single variant is not named."""
    who = [
        f"{variant.letter} ({name})" if name else variant.letter
        for variant, name in zip(answers.variants, names, strict=True)
    ]
    if len(who) == 1:
        who = ["it"]
    questions = _deadlines(answers.deadlines, who)
    for pair in answers.pairs:
        questions += compared(pair, who[pair.baseline], who[pair.candidate])
    if more := answers.left_out:
        hint = f"{more} more variant{'s' * (more > 1)}: name two to kadenz compare."
        questions.append(Sentence("And the others?", hint))
    return questions


def _deadlines(every: Sequence[DeadlineAnswer], who: Sequence[str]) -> list[Sentence]:
    """One question per deadline; points that met their period are only counted."""
    shown = [answer for answer in every if answer.of_interest][:MOST_POINTS]
    by_deadline: dict[str, list[DeadlineAnswer]] = {}
    for answer in shown:
        by_deadline.setdefault(labels.quantity(answer.deadline.quantity), []).append(answer)
    questions = [
        Sentence(
            f"Does it meet its deadline of {deadline}?",
            " ".join(
                f"{_named(answer, every)}: {'; '.join(_kept(s, who) for s in answer.sides)}."
                for answer in group
            ),
        )
        for deadline, group in by_deadline.items()
    ]
    missing = [answer for answer in every if answer.of_interest][MOST_POINTS:]
    kept = [answer for answer in every if not answer.of_interest]
    rest = []
    if missing:
        rest.append(f"{_points(missing, every)} more with a deadline are in the tables.")
    if kept:
        cycles = sum(side.misses.asked for answer in kept for side in answer.sides)
        period = "its period" if len(kept) == 1 else "their periods"
        rest.append(f"{_points(kept, every)} met {period} in all {cycles:,} cycles.")
    if rest:
        question = "And the others?" if questions else "Does it meet its deadline?"
        questions.append(Sentence(question, " ".join(rest)))
    return questions


def _points(points: Sequence[DeadlineAnswer], every: Sequence[DeadlineAnswer]) -> str:
    """ "3 points", "itc/queue, 60 bytes"."""
    return _named(points[0], every) if len(points) == 1 else f"{len(points):,} points"


def _named(
    point: DeadlineAnswer | Verdict, every: Sequence[DeadlineAnswer] | Sequence[Verdict]
) -> str:
    """Names a point by its benchmark, size and period, and by what tells it from the others."""
    others = [other.params for other in every if other.bench == point.bench]
    shown = {
        key: value
        for key, value in point.params.items()
        if key in ("size_bytes", "period_us") or any(params.get(key) != value for params in others)
    }
    return ", ".join(word for word in (point.bench, labels.parameters(shown)) if word)


def compared(pair: PairAnswer, left: str, right: str) -> list[Sentence]:
    """Which of two variants is faster; `left` is the baseline."""
    question = f"Which {' '.join(_comparative(pair))}, {left} or {right}?"
    if pair.reason:
        return [Sentence(question, f"Not compared: {pair.reason.rstrip('.')}.")]
    by_point: dict[object, list[Verdict]] = {}
    for point in pair.points:
        key = point.bench, tuple(sorted(point.params.items()))
        by_point.setdefault(key, []).append(point)
    groups = list(by_point.values())
    shown = [g for g in groups if g[0].nature == "periodic"] if len(groups) > 2 else groups
    parts = [_point(group, pair, left, right) for group in shown[:MOST_POINTS]]
    if len(groups) > len(parts):
        parts.append(_counted(pair, left, right))
    undecided = [point for point in pair.points if point.outcome == "inconclusive"]
    if undecided:
        coarse = [
            comparison is not None and comparison.coarse
            for comparison in (point.comparison for point in undecided)
        ]
        classes = {name for point in undecided for name in point.classes}
        # Another round of counted instructions or cycles repeats the samples to the byte.
        longer = MORE_ROUNDS if classes & {"hardware", "hosted"} else LONGER
        parts += [FINER] * any(coarse) + [longer] * (not all(coarse))
    if pair.unjudged:
        parts.append(f"Shown without a verdict: {pair.unjudged[0]}.")
    return [Sentence(question, " ".join(parts))] if parts else []


def _comparative(pair: PairAnswer) -> tuple[str, str]:
    of = [point.units[0] for point in pair.deciding]
    return labels.comparative(of[0]) if of else ("is", "faster")


def _kept(side: Keeping, who: Sequence[str]) -> str:
    """ "B misses 18 % [15, 21] of 20,000 cycles", "A none of 20,000 cycles (at most 0.015 %)"."""
    of, name = side.misses, who[side.variant]
    cycles = f"{of.asked:,} cycles"
    if of.late is None:
        return f"{name} undecided: {of.reason or 'late cycles were not counted'}"
    if of.undecided:
        return f"{name} misses {of.share_text} of {cycles}: {of.reason}"
    if not of.missed:
        bound = f" (at most {share(of.rate.high)})" if of.rate is not None else ""
        return f"{name} misses none of {cycles}{bound}"
    sentence = f"{name} misses {share(of.missed / of.asked)}"
    if of.rate is None:
        return (
            f"{sentence} of {cycles}; the long-run rate is undecided ({of.reason}): measure longer"
        )
    return f"{sentence} [{_percent(of.rate.low)}, {_percent(of.rate.high)}] of {cycles}"


def share(value: float) -> str:
    """0.18 as "18 %", two significant digits."""
    return f"{_percent(value)} %"


def _percent(value: float) -> str:
    percent = 100.0 * value
    if percent == 0.0:
        return "0"
    digits = 1 - math.floor(math.log10(percent))
    return f"{percent:.{max(digits, 0)}f}" if percent < 99.5 else plain(percent, 4)


def _point(group: Sequence[Verdict], pair: PairAnswer, left: str, right: str) -> str:
    """The tail first, then the median, if the data decide it."""
    ordered = sorted(group, key=lambda point: point.statistic != TAIL)
    parts = [_statistic(point, pair, left, right) for point in ordered]
    return f"{_named(ordered[0], pair.points)}: {'; '.join(parts)}."


def _statistic(point: Verdict, pair: PairAnswer, left: str, right: str) -> str:
    name = _NAMES.get(point.statistic, point.statistic)
    if point.outcome == "equivalent":
        return f"{name} equal within {100.0 * pair.threshold:g} %"
    if point.outcome == "inconclusive":
        where = f" on {point.lane}" if point.lanes > 1 and point.lane else ""
        return f"{name} undecided{where}{_why(point, left, right)}"
    every = " on every lane" if point.lanes > 1 else ""
    return f"{_changed(point, left, right)}{every}"


def _why(point: Verdict, left: str, right: str) -> str:
    """The interval of the ratio, or the reason the data do not decide."""
    change = point.change
    comparison = point.comparison
    if (
        change is not None
        and comparison is not None
        and comparison.decidable
        and comparison.ratio is not None
    ):
        _, low, high = change
        if low > 0.0 and math.isfinite(high):
            ratio = f"{_short(right)} / {_short(left)}"
            return f" ({ratio} is {plain(low)} to {plain(high)})"
    why = point.reason.partition(". ")[0].rstrip(".")
    return f" ({why})" if why else ""


def _short(name: str) -> str:
    """ "A" of "A (load none)"."""
    return name.partition(" ")[0]


def _changed(point: Verdict, left: str, right: str) -> str:
    """ "B’s p99 is 12.0 % [8.40, 15.3] higher", of the baseline A; from twice on "A’s p99 is 14.0
    [9.00, 21.0] times lower". Exact figures have no interval, a change from zero has no factor."""
    name = _NAMES.get(point.statistic, point.statistic)
    faster = left if point.outcome == "worse" else right
    change = point.change
    if change is None:
        return f"{_short(faster)}’s {name} is lower"
    value, low, high = change
    if max(value, 1.0 / value) >= TIMES_FROM:
        if value < 1.0:
            value, low, high = 1.0 / value, 1.0 / high, 1.0 / low if low else math.inf
        return f"{_short(faster)}’s {name} is {digits.factor(value, low, high)} times lower"
    ends = [_size(end) for end in sorted((low, high), key=lambda end: abs(end - 1.0))]
    interval = "" if low == high else f" [{', '.join(ends)}]"
    word = "higher" if value > 1.0 else "lower"
    return f"{_short(right)}’s {name} is {_size(value)} %{interval} {word}"


def _size(ratio: float) -> str:
    """ "9.11" for 1.0911 and for 0.9089."""
    return change_words(ratio).lstrip("+-").removesuffix(" %")


def _counted(pair: PairAnswer, left: str, right: str) -> str:
    """The benchmarks of a pair, each counted once by its median."""
    outcomes = list(pair.benchmarks().values())
    total = f"of {len(outcomes):,} benchmark{'s' * (len(outcomes) > 1)}"
    parts = [
        f"{_short(right)} {' '.join(_comparative(pair))} at {outcomes.count('better'):,}",
        f"{_short(left)} at {outcomes.count('worse'):,}",
        f"{outcomes.count('equivalent'):,} equal within {100.0 * pair.threshold:g} %",
        f"{outcomes.count('inconclusive'):,} undecided",
    ]
    if mixed := outcomes.count(None):
        parts.append(f"{mixed:,} with an order that depends on the point")
    which = "the medians" if pair.deciding[0].is_middle else pair.deciding[0].statistic
    return f"By {which} {total}: {', '.join(parts)}."
