# SPDX-License-Identifier: Apache-2.0
"""Two sides, one or several runs each: how far apart, how sure, and what that means."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.mean_interval import FEW_EFFECTIVE
from kadenz.stats.replicate import (
    LessLoop,
    Replicated,
    ends,
    replicate,
    replicate_less_loop,
    varied_between_runs,
)
from kadenz.stats.samples import Floats

# Replicates are stretched to at most so many times their distance: p-values end at 1e-55.
FARTHEST = 8.0

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline for one statistic.

    `difference` = candidate - baseline in the unit of the samples, `ratio` = candidate / baseline
    (None where the baseline's interval reaches zero). `threshold` is the smallest relative change
    that matters. `p_changed` is the two-sided p-value of "the ratio is 1", `p_beyond` the one-sided
    one of "the candidate is at most `threshold` worse" (None without a ratio). `detectable` is the
    smallest relative change these data would have shown with 80 % power (None where no ratio
    exists). `between_runs` is the relative sd between the runs of a side, the larger of the sides
    (None with one run a side). Not `decidable` is what is worth too few independent samples for its
    intervals to hold. `reason` explains an inconclusive verdict, `caveat` what the
    intervals leave out.
    """

    statistic: str
    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    ratio: Estimate | None
    threshold: float
    verdict: Verdict
    p_changed: float | None
    p_beyond: float | None
    detectable: float | None
    baseline_runs: int
    candidate_runs: int
    between_runs: float | None = None
    decidable: bool = True
    reason: str = ""
    caveat: str = ""


Run = npt.ArrayLike | LessLoop


@dataclass(frozen=True, eq=False)
class _Side:
    """One side's runs: their statistic, and its standard error for the mean over runs."""

    runs: list[Replicated]

    @property
    def count(self) -> int:
        return len(self.runs)

    @property
    def value(self) -> float:
        return math.fsum(run.value for run in self.runs) / self.count

    @property
    def constant(self) -> bool:
        """No spread within runs nor between them."""
        return all(run.constant and run.value == self.runs[0].value for run in self.runs)

    def between(self) -> float:
        """Variance of the statistic between runs, 0 for a single one."""
        return float(np.var([run.value for run in self.runs], ddof=1)) if self.count > 1 else 0.0

    def variance_of_run(self) -> float:
        """Variance of one run's statistic: between runs, and at least what is within them."""
        within = math.fsum(run.standard_error**2 for run in self.runs) / self.count
        return max(within, self.between())


def compare(
    baseline: Sequence[Run],
    candidate: Sequence[Run],
    *,
    statistic: str | float = "median",
    threshold: float = 0.05,
    confidence: float = 0.95,
    lower_is_better: bool = True,
    between_runs: float = 0.0,
    replicates: int = 2000,
    seed: int = 1,
) -> Comparison:
    """Compare two sides. Each side is a sequence of runs, each run (n,) in time order, n >= 10.

    `statistic` is "mean", "median" or a level such as 0.99 (which needs its own n, see replicate).
    A run may be a `LessLoop`, batches with their empty loop. `between_runs` is a relative sd
    between runs known from elsewhere; the intervals then include at least that.

    Method: with one run a side, block-bootstrap replicates of both (replicate.py), their difference
    and their ratio. With several runs on a side the runs are the independent units: the statistic
    is averaged over runs, its variance is that between runs, never less than within them, and the
    interval is Welch's t with Satterthwaite's degrees of freedom; the ratio is treated on the
    logarithm. Resampling three to five runs (the hierarchical bootstrap) was tried and covers too
    little (docs/explanation/statistics.md). A side with a single run against several borrows their
    relative spread. Assumes independent runs of a stationary series.

    Verdict, from the ratio's interval: "equivalent" when it lies wholly inside the band
    1/(1 + threshold) ... 1 + threshold, whose ends are outside (a change as large as `threshold`
    matters); else "worse" when it lies wholly above 1 ("better" unless `lower_is_better`), the
    contrary below; else "inconclusive". With one run a side also "inconclusive" where a side is
    worth less than 30 independent samples.
    """
    if threshold < 0.0 or not 0.0 < confidence < 1.0 or between_runs < 0.0:
        raise Undefined(
            "comparison",
            f"threshold {threshold}, confidence {confidence} or spread {between_runs} is absurd",
        )
    base, cand = (
        _side(runs, number, statistic, between_runs, replicates, seed)
        for number, runs in enumerate((baseline, candidate))
    )
    alone = base.count == cand.count == 1
    parts = (_from_replicates if alone else _from_runs)(base, cand, confidence)
    ratio = parts.ratio
    verdict, reason = _verdict(parts.difference, ratio, threshold, lower_is_better)
    worth = min(base.runs[0].effective_n, cand.runs[0].effective_n)
    decidable = not alone or worth >= FEW_EFFECTIVE or (base.constant and cand.constant)
    if not decidable and verdict != "inconclusive":
        verdict = "inconclusive"
        reason = (
            f"a side is worth only {worth:.0f} independent samples, and an interval can be trusted "
            f"from {FEW_EFFECTIVE:.0f} on. Measure longer, or more runs"
        )
    above, below = (
        (parts.p_above, parts.p_below)
        if lower_is_better
        else (
            parts.p_below,
            parts.p_above,
        )
    )
    limit = 1.0 + threshold if lower_is_better else 1.0 / (1.0 + threshold)
    return Comparison(
        statistic=str(statistic),
        baseline=parts.baseline,
        candidate=parts.candidate,
        difference=parts.difference,
        ratio=ratio,
        threshold=threshold,
        verdict=verdict,
        p_changed=None if ratio is None else min(1.0, 2.0 * min(above(1.0), below(1.0))),
        p_beyond=None if ratio is None else above(limit),
        detectable=_detectable(ratio, threshold, confidence),
        baseline_runs=base.count,
        candidate_runs=cand.count,
        between_runs=None if alone else _relative_spread(base, cand),
        decidable=decidable,
        reason=reason,
        caveat=_caveat(base, cand, between_runs),
    )


def estimate(
    runs: Sequence[Run],
    *,
    statistic: str | float = "median",
    confidence: float = 0.95,
    between_runs: float = 0.0,
    replicates: int = 2000,
    seed: int = 1,
) -> Estimate:
    """One side by itself: the statistic averaged over `runs`, with the interval `compare` gives it.

    Arguments, method and assumptions are those of `compare`.
    """
    side = _side(runs, 0, statistic, between_runs, replicates, seed)
    if side.count == 1:
        return _estimate(side.runs[0], confidence)
    upper = 1.0 - (1.0 - confidence) / 2.0
    variance = side.variance_of_run() / side.count
    return Estimate(
        *_around(side.value, [variance], [side.count - 1], upper), confidence, side.constant
    )


def _side(
    runs: Sequence[Run],
    number: int,
    statistic: str | float,
    between_runs: float,
    replicates: int,
    seed: int,
) -> _Side:
    if not runs:
        raise Undefined("comparison", "a side without runs. Give at least one run a side")
    made = []
    for i, run in enumerate(runs):
        rng = np.random.default_rng([seed, number, i])
        one = (
            replicate_less_loop(run, statistic, replicates, rng)
            if isinstance(run, LessLoop)
            else replicate(run, statistic, replicates, rng)
        )
        made.append(varied_between_runs(one, between_runs, rng) if between_runs else one)
    return _Side(made)


def _caveat(base: _Side, cand: _Side, between_runs: float) -> str:
    if base.constant and cand.constant:
        return "neither side varies: the intervals have no width and say nothing of other runs"
    if base.count == cand.count == 1:
        return (
            f"one run a side: a spread between runs of {100.0 * between_runs:g} % was assumed"
            if between_runs
            else "one run a side: the spread between runs is not known and not included"
        )
    if min(base.count, cand.count) == 1:
        return "one side has a single run: its spread between runs is taken from the other side"
    return ""


def _relative_spread(base: _Side, cand: _Side) -> float | None:
    found = [math.sqrt(side.between()) / side.value for side in (base, cand) if side.value > 0.0]
    return max(found, default=None)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Estimates of both sides; p-values of "the ratio is at most / at least this limit"."""

    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    ratio: Estimate | None
    p_above: Callable[[float], float]
    p_below: Callable[[float], float]


def _from_replicates(left: _Side, right: _Side, confidence: float) -> _Parts:
    base, cand = left.runs[0], right.runs[0]
    both = base.constant and cand.constant
    sides = _estimate(base, confidence), _estimate(cand, confidence)
    gap = cand.value - base.value
    with np.errstate(invalid="ignore"):
        gaps = cand.stretched(1.0) - base.stretched(1.0)
    low, high = ends(gaps, confidence)
    difference = Estimate(gap, min(low, gap), max(high, gap), confidence, both)
    ratio = None
    if min(sides[0].low, base.value) > 0.0 and sides[1].low > 0.0:
        value = cand.value / base.value
        low, high = ends(_ratios(base, cand, 1.0), confidence)
        ratio = Estimate(value, min(low, value), max(high, value), confidence, both)
    level = 1.0 - (1.0 - confidence) / 2.0
    normal = float(ndtri(level))

    def p_above(limit: float) -> float:
        def above(factor: float) -> bool:
            return ends(_ratios(base, cand, factor), confidence)[0] > limit

        return _p_value(above, cand.value > limit * base.value, normal)

    def p_below(limit: float) -> float:
        def below(factor: float) -> bool:
            return ends(_ratios(base, cand, factor), confidence)[1] < limit

        return _p_value(below, cand.value < limit * base.value, normal)

    return _Parts(*sides, difference, ratio, p_above, p_below)


def _ratios(base: Replicated, cand: Replicated, factor: float) -> Floats:
    # A replicate beyond the interval may be below zero: a millionth keeps its rank.
    below = np.maximum(base.stretched(factor), 1e-6 * base.value)
    with np.errstate(invalid="ignore"):
        return np.asarray(cand.stretched(factor) / below)


def _p_value(beyond: Callable[[float], bool], on_that_side: bool, normal: float) -> float:
    """One-sided: how far replicates may be stretched until their interval reaches the limit.

    2000 replicates cannot show a p-value of 1e-4, which many comparisons at once ask for. So the
    interval's own replicates are stretched by k, and p = 1 - Phi(k * z): exact at the confidence
    the interval has, a normal tail beyond it. `beyond(k)`: the stretched interval is.
    """
    if not on_that_side:
        return 1.0
    if beyond(FARTHEST):
        return float(ndtr(-FARTHEST * normal))
    low, high = (1.0, FARTHEST) if beyond(1.0) else (0.0, 1.0)
    for _ in range(8):
        middle = (low + high) / 2.0
        low, high = (middle, high) if beyond(middle) else (low, middle)
    return float(ndtr(-low * normal))


def _estimate(replicated: Replicated, confidence: float) -> Estimate:
    low, high = replicated.open_interval(confidence)
    return Estimate(replicated.value, low, high, confidence, replicated.constant)


def _from_runs(base: _Side, cand: _Side, confidence: float) -> _Parts:
    upper = 1.0 - (1.0 - confidence) / 2.0
    variances, freedom = [], []
    for side, other in ((base, cand), (cand, base)):
        own = side.variance_of_run()
        if side.count == 1 and other.value != 0.0:
            own = max(own, other.variance_of_run() * (side.value / other.value) ** 2)
        variances.append(own / side.count)
        freedom.append((side if side.count > 1 else other).count - 1)

    both = base.constant and cand.constant
    base_parts = _around(base.value, variances[:1], freedom[:1], upper)
    cand_parts = _around(cand.value, variances[1:], freedom[1:], upper)
    difference = _around(cand.value - base.value, variances, freedom, upper)
    ratio = None
    log, relative = 0.0, [0.0, 0.0]
    if base.value > 0.0 and cand.value > 0.0 and base_parts[1] > 0.0:
        log = math.log(cand.value / base.value)
        relative = [variances[0] / base.value**2, variances[1] / cand.value**2]
        value, low, high = (math.exp(end) for end in _around(log, relative, freedom, upper))
        ratio = Estimate(value, low, high, confidence, both)
    error = math.sqrt(math.fsum(relative))

    def p_above(limit: float) -> float:
        distance = log - math.log(limit)
        if error == 0.0:
            return 0.0 if distance > 0.0 else 1.0
        return float(stdtr(_freedom(relative, freedom), -distance / error))

    return _Parts(
        Estimate(*base_parts, confidence, base.constant),
        Estimate(*cand_parts, confidence, cand.constant),
        Estimate(*difference, confidence, both),
        ratio,
        p_above,
        lambda limit: 1.0 - p_above(limit),
    )


def _around(
    value: float, variances: list[float], freedom: list[int], upper: float
) -> tuple[float, float, float]:
    """Value and ends of Welch's t interval."""
    total = math.fsum(variances)
    if total == 0.0:
        return value, value, value
    half = float(stdtrit(_freedom(variances, freedom), upper)) * math.sqrt(total)
    return value, value - half, value + half


def _freedom(variances: list[float], freedom: list[int]) -> float:
    """Degrees of freedom of a sum of variances (Satterthwaite 1946)."""
    shares = math.fsum(term**2 / df for term, df in zip(variances, freedom, strict=True))
    return math.fsum(variances) ** 2 / shares


def _verdict(
    difference: Estimate, ratio: Estimate | None, threshold: float, lower_is_better: bool
) -> tuple[Verdict, str]:
    if ratio is None:
        if difference.low == difference.high == 0.0:
            return "equivalent", ""
        return "inconclusive", (
            "the interval of a side reaches zero, so no relative change is defined. "
            "Judge the difference in its unit"
        )
    # A hair of tolerance, so that exp(log(1.05)) counts as 1.05.
    hair = 1e-12
    upper = 1.0 + threshold
    lower = 1.0 / upper
    inside = ratio.low > lower + hair and ratio.high < upper - hair
    if inside or abs(ratio.low - 1.0) + abs(ratio.high - 1.0) < hair:
        return "equivalent", ""
    if ratio.low > 1.0 + hair:
        return ("worse" if lower_is_better else "better"), ""
    if ratio.high < 1.0 - hair:
        return ("better" if lower_is_better else "worse"), ""
    return "inconclusive", (
        f"the ratio lies between {ratio.low:.4g} and {ratio.high:.4g}: neither apart from 1 nor "
        f"within {lower:.4g} and {upper:.4g}. Measure longer, or more runs, or accept a larger "
        "threshold"
    )


def _detectable(ratio: Estimate | None, threshold: float, confidence: float) -> float | None:
    """The interval excludes 1, and does not lie inside the band, with 80 % (normal) power."""
    if ratio is None or ratio.low <= 0.0 or math.isinf(ratio.high):
        return None
    half = (math.log(ratio.high) - math.log(ratio.low)) / 2.0
    error = half / float(ndtri(1.0 - (1.0 - confidence) / 2.0))
    power = float(ndtri(0.8)) * error
    return math.exp(max(half + power, math.log1p(threshold) - half + power)) - 1.0
