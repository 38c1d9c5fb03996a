# SPDX-License-Identifier: Apache-2.0
"""Compares two sides, one or several runs each: change, interval and verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.mean_interval import FEW_EFFECTIVE
from kadenz.stats.plain import plain
from kadenz.stats.replicate import ends
from kadenz.stats.samples import Floats
from kadenz.stats.side import Run, Side, side_of
from kadenz.stats.spread import Spread

CONFIDENCE = 0.95
# Replicates are stretched by at most this factor: p-values end at 1e-55.
FARTHEST = 8.0
# A spread (sd) from run to run above this factor counts as impossible until runs show it: three
# runs of 300 us against three of 10,000 us differ, whatever Student's t with two degrees says.
WIDEST = math.log(2.5)

Outcome = Literal["better", "worse", "equivalent", "inconclusive"]


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline for one statistic.

    `difference` = candidate - baseline in the unit of the samples, `ratio` = candidate / baseline
    (None if a side's interval or figure reaches zero). `threshold` is the smallest relative change
    that matters. `p_changed` is the two-sided p-value of "the ratio is 1", `p_beyond` the one-sided
    one of "the candidate is at most `threshold` worse" (None without a ratio). `detectable` is the
    smallest relative change that these data show with 80 % power (None without a ratio).
    `between_runs` is the relative sd between the runs of a side, the larger one of the sides (None
    if unknown). `decidable` is False if the data are worth too few independent samples for valid
    intervals. `reason` explains an inconclusive verdict, `caveat` what the intervals do not
    include.
    """

    statistic: str
    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    ratio: Estimate | None
    threshold: float
    verdict: Outcome
    p_changed: float | None
    p_beyond: float | None
    detectable: float | None
    baseline_runs: int
    candidate_runs: int
    between_runs: float | None = None
    decidable: bool = True
    reason: str = ""
    caveat: str = ""

    @property
    def coarse(self) -> bool:
        """Whether the clock's step is why nothing is decided."""
        return self.reason.startswith(_COARSE)


def compare(
    baseline: Sequence[Run],
    candidate: Sequence[Run],
    *,
    statistic: str | float = "median",
    threshold: float = 0.05,
    between_runs: float = 0.0,
    step: float = 0.0,
    replicates: int = 2000,
    seed: int = 1,
) -> Comparison:
    """Compares two sides. Each side is a sequence of runs, each run (n,) in time order, n >= 10.

    `statistic` is "mean", "median" or a level such as 0.99 (which needs its own n, see replicate).
    A run may be a `LessLoop`, batches with their empty loop. `between_runs` is a known relative sd
    between runs, the minimum that the intervals include. `step` is the clock's, in the unit of the
    samples; both ends of every interval include it.

    Method: with one run per side, block-bootstrap replicates of both (replicate.py), their
    difference and their ratio. With several runs on a side, the runs are the independent units: the
    figure is the geometric mean over runs; its error is that of the runs' logarithms, but at least
    the error within them. The ratio's interval is Student's t with the fewer degrees of freedom of
    both sides (Hsu 1938), because the sides' spreads may differ. It is never wider than for runs
    that differ by a factor of 2.5 (sd), unless they do. Many points of the same runs share degrees
    of freedom: see `judge`, spread.py. Resampling three to five runs (the hierarchical bootstrap)
    was tried and covers too little (docs/explanation/statistics.md). A side with a single run
    against several borrows their relative spread. Assumes independent runs of a stationary series.

    Outcome, from the ratio's interval: "equivalent" if it is wholly inside the open band
    1/(1 + threshold) ... 1 + threshold (a change as large as `threshold` matters); else "worse" if
    it is wholly above 1, "better" if it is wholly below; else "inconclusive". With one run per side
    also "inconclusive" if a side is worth fewer than 30 independent samples, or if the samples
    beyond a percentile come in too few bursts.
    """
    sides = [
        side_of(
            runs,
            statistic=statistic,
            between_runs=between_runs,
            step=step,
            replicates=replicates,
            seed=(seed, number),
        )
        for number, runs in enumerate((baseline, candidate))
    ]
    return judge(
        sides[0],
        sides[1],
        statistic=statistic,
        threshold=threshold,
        between_runs=between_runs,
    )


def judge(
    base: Side,
    cand: Side,
    *,
    statistic: str | float,
    threshold: float,
    between_runs: float = 0.0,
    spreads: tuple[Spread | None, Spread | None] | None = None,
) -> Comparison:
    """Compares sides made by `side_of`; `spreads` are those of `moderated`, None: their own.

    A spread for a single run per side (the machine's history) makes the runs the units there too.
    """
    if threshold < 0.0 or between_runs < 0.0:
        raise Undefined("comparison", f"threshold {threshold} or spread {between_runs} is negative")
    alone = base.count == cand.count == 1
    if spreads is None:
        spreads = (None if alone else _run_spread(base), None if alone else _run_spread(cand))
    replicated = alone and spreads == (None, None)
    parts = (
        _from_replicates(base, cand, CONFIDENCE)
        if replicated
        else _from_runs(base, cand, spreads, CONFIDENCE)
    )
    ratio = parts.ratio
    verdict, reason = _verdict(parts.difference, ratio, threshold)
    if verdict == "inconclusive":
        reason = _step_words(base, cand, threshold) or reason
    if ratio is None and reason and min(base.value, cand.value) <= 0.0:
        reason = _NO_RATIO
    few = _too_few(base, cand) if replicated else ""
    decidable = not few or (base.constant and cand.constant)
    if not decidable and verdict != "inconclusive":
        verdict = "inconclusive"
        reason = f"{few.removesuffix('. Measure longer')}. Measure longer, or more runs"
    above, below = parts.p_above, parts.p_below
    return Comparison(
        statistic=str(statistic),
        baseline=parts.baseline,
        candidate=parts.candidate,
        difference=parts.difference,
        ratio=ratio,
        threshold=threshold,
        verdict=verdict,
        p_changed=None if ratio is None else min(1.0, 2.0 * min(above(1.0), below(1.0))),
        p_beyond=None if ratio is None else above(1.0 + threshold),
        detectable=_detectable(ratio, threshold, CONFIDENCE),
        baseline_runs=base.count,
        candidate_runs=cand.count,
        between_runs=_relative_spread(base, cand),
        decidable=decidable,
        reason=reason,
        caveat=_caveat(base, cand, between_runs, replicated),
    )


def _too_few(base: Side, cand: Side) -> str:
    """Why the samples are too few for an interval; "" if they are enough."""
    few = base.runs[0].few or cand.runs[0].few
    worth = min(base.runs[0].effective_n, cand.runs[0].effective_n)
    if few or worth >= FEW_EFFECTIVE:
        return few
    return (
        f"a side is worth only {worth:.0f} independent samples; an interval needs at least "
        f"{FEW_EFFECTIVE:.0f}"
    )


def estimate(
    runs: Sequence[Run],
    *,
    statistic: str | float = "median",
    between_runs: float = 0.0,
    step: float = 0.0,
    replicates: int = 2000,
    seed: int = 1,
) -> Estimate:
    """One side alone: the figure over `runs`, with the interval that `compare` gives it.

    Arguments, method and assumptions are those of `compare`.
    """
    side = side_of(
        runs,
        statistic=statistic,
        between_runs=between_runs,
        step=step,
        replicates=replicates,
        seed=(seed, 0),
    )
    if side.count == 1:
        return _estimate(side, CONFIDENCE)
    return _of_runs(side, _run_spread(side), CONFIDENCE)


def _run_spread(side: Side) -> Spread | None:
    logs = side.logs
    return None if logs is None else logs.spread


_COARSE = "the clock's step"
_NO_RATIO = (
    "the figure of a side is not above zero, so that no relative change is defined. Judge the "
    "figure by a limit: kadenz gate --limit"
)


def _step_words(base: Side, cand: Side, threshold: float) -> str:
    """Why the clock is too coarse to decide; "" if it is not."""
    share = max(side.step / side.value if side.value > 0.0 else 0.0 for side in (base, cand))
    if share < 1.0 and (1.0 + share) / (1.0 - share) <= 1.0 + threshold:
        return ""
    return (
        f"{_COARSE} moves the figure by up to {plain(100.0 * share, 2)} %, more than the "
        "threshold. Use a finer clock, or a larger threshold"
    )


def _caveat(base: Side, cand: Side, between_runs: float, replicated: bool) -> str:
    if base.constant and cand.constant and not base.step:
        return "neither side varies: the intervals have zero width and do not describe other runs"
    if base.count == cand.count == 1:
        if not replicated:
            return "one run per side: the spread between runs comes from other runs of this system"
        return (
            f"one run per side: a spread between runs of {100.0 * between_runs:g} % was assumed"
            if between_runs
            else "one run per side: the spread between runs is unknown and not included"
        )
    if min(base.count, cand.count) == 1 and not (base.history or cand.history):
        return "one side has a single run: its spread between runs is taken from the other side"
    return ""


def _relative_spread(base: Side, cand: Side) -> float | None:
    """Relative sd between runs, the larger one of the sides, regardless of the error within."""
    spreads = [
        math.expm1(float(logs.values.std(ddof=1)))
        for logs in (base.logs, cand.logs)
        if logs is not None
    ]
    return max(spreads, default=None)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Estimates of both sides; p-values of "the ratio is at most / at least this limit"."""

    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    ratio: Estimate | None
    p_above: Callable[[float], float]
    p_below: Callable[[float], float]


def _from_replicates(left: Side, right: Side, confidence: float) -> _Parts:
    base, cand = left.runs[0], right.runs[0]
    both = left.constant and right.constant and not left.step
    sides = _estimate(left, confidence), _estimate(right, confidence)
    gap = cand.value - base.value
    with np.errstate(invalid="ignore"):
        gaps = cand.stretched(1.0) - base.stretched(1.0)
    low, high = ends(gaps, confidence)
    step = left.step + right.step
    difference = Estimate(gap, min(low, gap) - step, max(high, gap) + step, confidence, both)
    ratio = None
    if min(sides[0].low, base.value) > 0.0 and sides[1].low > 0.0:
        value = cand.value / base.value
        low = ends(_ratios(left, right, 1.0, -1.0), confidence)[0]
        high = ends(_ratios(left, right, 1.0, 1.0), confidence)[1]
        ratio = Estimate(value, min(low, value), max(high, value), confidence, both)
    level = 1.0 - (1.0 - confidence) / 2.0
    normal = float(ndtri(level))

    def p_above(limit: float) -> float:
        def above(factor: float) -> bool:
            return ends(_ratios(left, right, factor, -1.0), confidence)[0] > limit

        least = (cand.value - right.step) / (base.value + left.step)
        return _p_value(above, least > limit, normal)

    def p_below(limit: float) -> float:
        def below(factor: float) -> bool:
            return ends(_ratios(left, right, factor, 1.0), confidence)[1] < limit

        below_step = base.value <= left.step
        most = math.inf if below_step else (cand.value + right.step) / (base.value - left.step)
        return _p_value(below, most < limit, normal)

    return _Parts(*sides, difference, ratio, p_above, p_below)


def _ratios(base: Side, cand: Side, factor: float, steps: float) -> Floats:
    """Replicates of the ratio, with the sides moved apart (1) or together (-1) by the step."""
    base_run, cand_run = base.runs[0], cand.runs[0]
    # A replicate beyond the interval may be negative: a millionth keeps its rank.
    below = np.maximum(base_run.stretched(factor) - steps * base.step, 1e-6 * base_run.value)
    with np.errstate(invalid="ignore"):
        return np.asarray((cand_run.stretched(factor) + steps * cand.step) / below)


def _p_value(beyond: Callable[[float], bool], on_that_side: bool, normal: float) -> float:
    """One-sided p-value: how far replicates stretch until their interval reaches the limit.

    2000 replicates cannot show a p-value of 1e-4, which many simultaneous comparisons need. So the
    interval's own replicates are stretched by k, and p = 1 - Phi(k * z): exact at the interval's
    confidence, a normal tail beyond it. `beyond(k)`: the stretched interval is beyond the limit.
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


def _estimate(side: Side, confidence: float) -> Estimate:
    run = side.runs[0]
    low, high = run.open_interval(confidence)
    zero = run.constant and not side.step
    return Estimate(run.value, low - side.step, high + side.step, confidence, zero)


@dataclass(frozen=True)
class _Error:
    """Error of a logarithm over runs: interval and p-value, by Student's t and a widest spread."""

    variance: float  # from the runs
    widest: float  # at the widest possible spread
    freedom: float

    def half(self, confidence: float) -> float:
        upper = 1.0 - (1.0 - confidence) / 2.0
        student = float(stdtrit(self.freedom, upper)) * math.sqrt(self.variance)
        return min(student, float(ndtri(upper)) * math.sqrt(self.widest))

    def p_value(self, distance: float) -> float:
        """One-sided p-value of a value `distance` (>= 0) beyond the limit."""
        if self.variance == 0.0:
            return 0.0 if distance > 0.0 else 0.5
        student = float(stdtr(self.freedom, -distance / math.sqrt(self.variance)))
        return min(student, float(ndtr(-distance / math.sqrt(self.widest))))


def _error(*parts: tuple[Side, Spread]) -> _Error:
    """Error of the sum or the difference of the sides' logarithms."""
    variances = [max(spread.variance, side.within) for side, spread in parts]
    counts = [side.count for side, _ in parts]
    widest = (max(v, WIDEST**2 if v else 0.0) for v in variances)
    return _Error(
        math.fsum(v / n for v, n in zip(variances, counts, strict=True)),
        math.fsum(v / n for v, n in zip(widest, counts, strict=True)),
        min(spread.freedom for _, spread in parts),
    )


def _of_runs(side: Side, spread: Spread | None, confidence: float) -> Estimate:
    """The figure of a side over its runs; without logarithms, by Student's t of the figures."""
    zero = side.constant and not side.step
    if spread is None or not side.positive:
        values = np.array([run.value for run in side.runs])
        within = math.fsum(run.standard_error**2 for run in side.runs) / side.count
        variance = max(within, float(values.var(ddof=1)) if side.count > 1 else 0.0) / side.count
        freedom = max(1.0, side.count - 1.0)
        half = float(stdtrit(freedom, 1.0 - (1.0 - confidence) / 2.0)) * math.sqrt(variance)
        low, high = side.value - half, side.value + half
    else:
        half = _error((side, spread)).half(confidence)
        low, high = side.value * _exp(-half), side.value * _exp(half)
    return Estimate(side.value, low - side.step, high + side.step, confidence, zero)


def _from_runs(
    base: Side,
    cand: Side,
    spreads: tuple[Spread | None, Spread | None],
    confidence: float,
) -> _Parts:
    # A side without a spread borrows the other's.
    spread = spreads[0] or spreads[1], spreads[1] or spreads[0]
    sides = [
        _of_runs(side, side_spread, confidence)
        for side, side_spread in zip((base, cand), spread, strict=True)
    ]
    both = base.constant and cand.constant and not base.step
    difference = _apart(sides[0], sides[1], both)
    if spread[0] is None or spread[1] is None or not (base.positive and cand.positive):
        return _Parts(sides[0], sides[1], difference, None, lambda _: 1.0, lambda _: 1.0)
    error = _error((base, spread[0]), (cand, spread[1]))
    least = _log_ratio(cand.value - cand.step, base.value + base.step)
    most = -_log_ratio(base.value - base.step, cand.value + cand.step)
    half = error.half(confidence)
    ratio = Estimate(
        cand.value / base.value, _exp(least - half), _exp(most + half), confidence, both
    )

    def p_above(limit: float) -> float:
        distance = least - math.log(limit)
        return error.p_value(distance) if distance >= 0.0 else 1.0 - error.p_value(-distance)

    def p_below(limit: float) -> float:
        distance = math.log(limit) - most
        return error.p_value(distance) if distance >= 0.0 else 1.0 - error.p_value(-distance)

    return _Parts(sides[0], sides[1], difference, ratio, p_above, p_below)


def _log_ratio(value: float, other: float) -> float:
    """log(value / other), -inf if the clock's step leaves nothing of `value`."""
    return math.log(value / other) if value > 0.0 else -math.inf


def _exp(value: float) -> float:
    """exp(), infinite on overflow."""
    return math.exp(value) if value < 700.0 else math.inf


def _apart(base: Estimate, cand: Estimate, zero: bool) -> Estimate:
    """Candidate minus baseline from both intervals (MOVER: Donner and Zou 2012)."""
    value = cand.value - base.value
    low = value - math.hypot(cand.value - cand.low, base.high - base.value)
    high = value + math.hypot(cand.high - cand.value, base.value - base.low)
    return Estimate(value, low, high, cand.confidence, zero)


def _verdict(difference: Estimate, ratio: Estimate | None, threshold: float) -> tuple[Outcome, str]:
    if ratio is None:
        if difference.low == difference.high == 0.0:
            return "equivalent", ""
        return "inconclusive", (
            "the interval of a side reaches zero, so that no relative change is defined: its "
            "samples are too few, or spread too far. Measure longer, or more runs"
        )
    # A small tolerance, so that exp(log(1.05)) counts as 1.05.
    hair = 1e-12
    upper = 1.0 + threshold
    lower = 1.0 / upper
    inside = ratio.low > lower + hair and ratio.high < upper - hair
    if inside or abs(ratio.low - 1.0) + abs(ratio.high - 1.0) < hair:
        return "equivalent", ""
    if ratio.low > 1.0 + hair:
        return "worse", ""
    if ratio.high < 1.0 - hair:
        return "better", ""
    return "inconclusive", _undecided(ratio, lower, upper)


def _undecided(ratio: Estimate, lower: float, upper: float) -> str:
    """Why the interval of a ratio decides nothing; it may have no end."""
    if not (ratio.low > 0.0 and math.isfinite(ratio.high)):
        return (
            "runs or samples spread so far that the ratio has no limit. Measure longer, or more "
            "runs"
        )
    interval, band = (
        f"{plain(low, 4)} and {plain(high, 4)}"
        for low, high in ((ratio.low, ratio.high), (lower, upper))
    )
    return (
        f"the ratio is between {interval}: neither distinct from 1 nor within {band}. Measure "
        "longer, or more runs, or accept a larger threshold"
    )


def _detectable(ratio: Estimate | None, threshold: float, confidence: float) -> float | None:
    """The change whose interval excludes 1 and is not inside the band, with 80 % (normal) power."""
    if ratio is None or ratio.low <= 0.0 or math.isinf(ratio.high):
        return None
    half = (math.log(ratio.high) - math.log(ratio.low)) / 2.0
    error = half / float(ndtri(1.0 - (1.0 - confidence) / 2.0))
    power = float(ndtri(0.8)) * error
    return math.exp(max(half + power, math.log1p(threshold) - half + power)) - 1.0
