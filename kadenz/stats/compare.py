"""Two sides, one or several runs each: how far apart, how sure, and what that means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy.typing as npt

from kadenz.stats.estimate import Estimate

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline for one statistic.

    `difference` = candidate - baseline in the unit of the samples, `ratio` = candidate / baseline
    (None where the baseline's interval reaches zero). `threshold` is the relative change that
    matters. `detectable` is the smallest relative change these data would have shown with 80 %
    power (None where the baseline is 0). `reason` explains an inconclusive verdict.
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

    `statistic` is "mean", "median" or a level such as 0.99.
    """
    raise NotImplementedError
