# SPDX-License-Identifier: Apache-2.0
"""Two sides, one or several runs each: how far apart, how sure, and what that means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.mean_interval import FEW_EFFECTIVE
from kadenz.stats.replicate import Replicated, replicate

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline for one statistic.

    `difference` = candidate - baseline in the unit of the samples, `ratio` = candidate / baseline
    (None where the baseline's interval reaches zero). `threshold` is the relative change that
    matters. `detectable` is the smallest relative change these data would have shown with 80 %
    power (None where no ratio exists). `reason` explains an inconclusive verdict, `caveat` what the
    intervals leave out.
    """

    statistic: str
    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    ratio: Estimate | None
    threshold: float
    verdict: Verdict
    detectable: float | None
    baseline_runs: int
    candidate_runs: int
    reason: str = ""
    caveat: str = ""


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

    def variance_of_run(self) -> float:
        """Variance of one run's statistic: between runs, and at least what is within them."""
        within = math.fsum(run.standard_error**2 for run in self.runs) / self.count
        between = float(np.var([run.value for run in self.runs], ddof=1)) if self.count > 1 else 0.0
        return max(within, between)


def compare(
    baseline: Sequence[npt.ArrayLike],
    candidate: Sequence[npt.ArrayLike],
    *,
    statistic: str | float = "median",
    threshold: float = 0.05,
    confidence: float = 0.95,
    lower_is_better: bool = True,
    replicates: int = 2000,
    seed: int = 1,
) -> Comparison:
    """Compare two sides. Each side is a sequence of runs, each run (n,) in time order, n >= 10.

    `statistic` is "mean", "median" or a level such as 0.99 (which needs its own n, see replicate).

    Method: with one run a side, block-bootstrap replicates of both (replicate.py), their difference
    and their ratio. With several runs on a side the runs are the independent units: the statistic
    is averaged over runs, its variance is that between runs, never less than within them, and the
    interval is Welch's t with Satterthwaite's degrees of freedom; the ratio is treated on the
    logarithm. Resampling three to five runs (the hierarchical bootstrap) was tried and covers too
    little (docs/explanation/statistics.md). A side with a single run against several borrows their
    relative spread. Assumes independent runs of a stationary series.

    Verdict, from the ratio's interval against the band 1/(1 + threshold) ... 1 + threshold: wholly
    above "worse" (or "better" unless `lower_is_better`), wholly below the contrary, inside
    "equivalent", else "inconclusive".
    """
    if threshold < 0.0 or not 0.0 < confidence < 1.0:
        raise Undefined("comparison", f"threshold {threshold} or confidence {confidence} is absurd")
    sides = []
    for number, runs in enumerate((baseline, candidate)):
        if not runs:
            raise Undefined("comparison", "a side without runs. Give at least one run a side")
        sides.append(
            _Side(
                [
                    replicate(run, statistic, replicates, np.random.default_rng([seed, number, i]))
                    for i, run in enumerate(runs)
                ]
            )
        )
    base, cand = sides
    if base.count == cand.count == 1:
        parts = _from_replicates(base.runs[0], cand.runs[0], confidence)
        caveat = "one run a side: the spread between runs is not known and not included"
        worth = min(base.runs[0].effective_n, cand.runs[0].effective_n)
        if worth < FEW_EFFECTIVE:
            caveat += f"; a side is worth only {worth:.0f} independent samples"
    else:
        parts = _from_runs(base, cand, confidence)
        caveat = (
            "one side has a single run: its spread between runs is taken from the other side"
            if min(base.count, cand.count) == 1
            else ""
        )
    if base.constant and cand.constant:
        caveat = "neither side varies: the intervals have no width and say nothing of other runs"
    base_estimate, cand_estimate, difference, ratio = parts
    verdict, reason = _verdict(difference, ratio, threshold, lower_is_better)
    return Comparison(
        statistic=str(statistic),
        baseline=base_estimate,
        candidate=cand_estimate,
        difference=difference,
        ratio=ratio,
        threshold=threshold,
        verdict=verdict,
        detectable=_detectable(ratio, threshold, confidence),
        baseline_runs=base.count,
        candidate_runs=cand.count,
        reason=reason,
        caveat=caveat,
    )


_Parts = tuple[Estimate, Estimate, Estimate, Estimate | None]


def _from_replicates(base: Replicated, cand: Replicated, confidence: float) -> _Parts:
    both = base.constant and cand.constant
    difference = Replicated(
        cand.value - base.value, cand.values - base.values, 0.0, both, base.effective_n
    )
    ratio = None
    if min(base.interval(confidence)[0], base.value) > 0.0 and cand.interval(confidence)[0] > 0.0:
        # A replicate beyond the interval may be below zero: a millionth keeps its rank.
        below = np.maximum(base.values, 1e-6 * base.value)
        ratio = _estimate(
            Replicated(cand.value / base.value, cand.values / below, 0.0, both, base.effective_n),
            confidence,
        )
    return (
        _estimate(base, confidence),
        _estimate(cand, confidence),
        _estimate(difference, confidence),
        ratio,
    )


def _estimate(replicated: Replicated, confidence: float) -> Estimate:
    low, high = replicated.interval(confidence)
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
    if base.value > 0.0 and cand.value > 0.0 and base_parts[1] > 0.0:
        relative = [variances[0] / base.value**2, variances[1] / cand.value**2]
        logs = _around(math.log(cand.value / base.value), relative, freedom, upper)
        value, low, high = (math.exp(log) for log in logs)
        ratio = Estimate(value, low, high, confidence, both)
    return (
        Estimate(*base_parts, confidence, base.constant),
        Estimate(*cand_parts, confidence, cand.constant),
        Estimate(*difference, confidence, both),
        ratio,
    )


def _around(
    value: float, variances: list[float], freedom: list[int], upper: float
) -> tuple[float, float, float]:
    """Value and ends of Welch's t interval; freedom by Satterthwaite (1946)."""
    total = math.fsum(variances)
    if total == 0.0:
        return value, value, value
    shares = math.fsum(term**2 / df for term, df in zip(variances, freedom, strict=True))
    half = float(stdtrit(total**2 / shares, upper)) * math.sqrt(total)
    return value, value - half, value + half


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
    upper = 1.0 + threshold
    lower = 1.0 / upper
    # A hair of tolerance, so that exp(log(1.05)) counts as 1.05.
    hair = 1e-12
    if ratio.low > upper + hair:
        return ("worse" if lower_is_better else "better"), ""
    if ratio.high < lower - hair:
        return ("better" if lower_is_better else "worse"), ""
    if ratio.low >= lower - hair and ratio.high <= upper + hair:
        return "equivalent", ""
    return "inconclusive", (
        f"the ratio lies between {ratio.low:.4g} and {ratio.high:.4g}, and the limits of "
        f"{lower:.4g} and {upper:.4g} are not both on one side of it. Measure longer, "
        f"or more runs, or accept a larger threshold"
    )


def _detectable(ratio: Estimate | None, threshold: float, confidence: float) -> float | None:
    """threshold + (half width at `confidence` + 80 % normal quantile * standard error)."""
    if ratio is None:
        return None
    half = (math.log(ratio.high) - math.log(ratio.low)) / 2.0
    normal = float(ndtri(1.0 - (1.0 - confidence) / 2.0))
    return (1.0 + threshold) * math.exp(half * (1.0 + float(ndtri(0.8)) / normal)) - 1.0
