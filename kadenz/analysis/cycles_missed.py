# SPDX-License-Identifier: Apache-2.0
"""Compares two sides by their deadline misses: the miss rate, run by run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from kadenz.analysis.deadlines import Asked, Misses
from kadenz.analysis.judging import Question, varies
from kadenz.analysis.matching import SameRuns
from kadenz.analysis.runs import point_misses, refusal
from kadenz.analysis.verdict import Figures
from kadenz.config.manifest import REPEATABLE
from kadenz.stats.replicate import Replicated
from kadenz.stats.side import Side

MISSES = "misses"
NONE = "no cycle missed on either side"


def asks_for_deadlines(
    left: SameRuns, right: SameRuns, deadlines: Sequence[Asked]
) -> list[list[Misses]] | None:
    """The misses of every run of both sides; None if there is no deadline to judge.

    Deadlines are judged for periodic work, if the user set one, and if a cycle missed. For other
    benchmarks a period alone is not a deadline. Also None if the late cycles are unknown.
    """
    sides: list[list[Misses]] = [[], []]
    for side, same in zip(sides, (left, right), strict=True):
        for run, entry in same.runs:
            misses = None if refusal(entry) else point_misses([(run, entry)], deadlines)
            if misses is None or misses.late is None or misses.share is None:
                return None
            side.append(misses)
    every = [*sides[0], *sides[1]]
    periodic = left.nature == "periodic"
    stated = any(
        run_misses.deadline is not None and run_misses.deadline.origin != "period"
        for run_misses in every
    )
    return sides if periodic or stated or any(run_misses.missed for run_misses in every) else None


def rates(side: Sequence[Misses]) -> float:
    """The share of a side's requested cycles that missed, in percent."""
    return 100.0 * sum(misses.missed for misses in side) / sum(misses.asked for misses in side)


def question_of_misses(
    left: SameRuns, right: SameRuns, sides: list[list[Misses]], between_runs: float
) -> Question:
    """The miss rates of both sides with their errors.

    Method: the logarithm of (missed + 1/2) / (asked + 1) of every run. Its error within the run
    comes from the rate's interval, which accounts for bursts (miss_rate.py); if that is unknown,
    from a single occasion, or half an occasion if no cycle missed.
    """
    figures: Figures = rates(sides[0]), rates(sides[1])
    runs = [run for run, _ in (*left.runs, *right.runs)]
    repeats = all(run.manifest.target.tier in REPEATABLE for run in runs) and all(
        len({(misses.missed, misses.asked) for misses in side}) == 1 for side in sides
    )
    single = all(len(side) == 1 for side in sides)
    none = not any(misses.missed for side in sides for misses in side)
    base, cand = (Side([_run(misses, between_runs) for misses in side]) for side in sides)
    why = NONE if none else ""
    if single and not repeats and not none:
        why = "one run per side shows no spread of the rate. Measure with `kadenz run --rounds 3`"
    return Question(
        statistic=MISSES,
        figures=figures,
        repeats=repeats,
        same=none,
        alone=single and not none and any(map(varies, runs)) and not between_runs,
        between_runs=between_runs,
        sides=None if none or repeats or single else (base, cand),
        why=why,
    )


def _run(misses: Misses, between_runs: float) -> Replicated:
    value = 100.0 * (misses.missed + 0.5) / (misses.asked + 1.0)
    rate = misses.rate
    if rate is not None and rate.low > 0.0:
        sigma = math.log(rate.high / rate.low) / (2.0 * float(ndtri(0.5 + rate.confidence / 2.0)))
    else:
        sigma = 1.0 if misses.missed else math.sqrt(2.0)
    error = value * math.expm1(math.hypot(sigma, between_runs))
    return Replicated(value, lambda _: np.full(2, value), error, False, float(misses.asked))
