# SPDX-License-Identifier: Apache-2.0
"""A scale-free effect size: how often a sample of one side exceeds one of the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from kadenz.stats.effective import effective_size
from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.samples import Floats, as_samples

NEEDED = 10
Magnitude = Literal["negligible", "small", "medium", "large"]


@dataclass(frozen=True)
class Superiority(Estimate):
    """P(candidate > baseline) + P(equal) / 2: 0.5 is no effect, 1 is every sample above all."""

    @property
    def magnitude(self) -> Magnitude:
        """Vargha and Delaney's terms: from 0.56 (or 0.44) small, 0.64 medium, 0.71 large."""
        distance = abs(self.value - 0.5)
        if distance < 0.06:
            return "negligible"
        return "small" if distance < 0.14 else "medium" if distance < 0.21 else "large"


def superiority(
    baseline: Sequence[npt.ArrayLike],
    candidate: Sequence[npt.ArrayLike],
    *,
    confidence: float = 0.95,
) -> Superiority:
    """Effect size of two sides, each a sequence of runs (n,) in time order, n >= 10.

    Method: the measure A of Vargha and Delaney (2000), (1 + Cliff's delta) / 2: robust, independent
    of scale, ties counted half. Its interval comes from the placements of each side's samples among
    the other's (DeLong, DeLong and Clarke-Pearson 1988), with their long-run variance
    (effective.py), which allows for dependence. With several runs on a side, the variance is that
    between the runs' mean placements, at least that within them, with Student's t and the fewest
    degrees of freedom. The interval is computed on the logit scale, so it stays inside 0 ... 1.
    Assumes stationary series. Sides that do not overlap give an interval of zero width, marked.
    """
    sides = [
        [as_samples(run, "effect size", needed=NEEDED) for run in side]
        for side in (baseline, candidate)
    ]
    if not all(sides):
        raise Undefined("effect size", "a side without runs. Give at least one run per side")
    ordered = [np.sort(np.concatenate(side)) for side in sides]
    above = [_placements(run, ordered[0]) for run in sides[1]]
    value = float(np.concatenate(above).mean())
    below = [_placements(run, ordered[1]) for run in sides[0]]
    variance = _variance(above) + _variance(below)
    if variance == 0.0 or not 0.0 < value < 1.0:
        return Superiority(value, value, value, confidence, zero_width=True)
    tail = 1.0 - (1.0 - confidence) / 2.0
    freedom = [len(side) - 1 for side in sides if len(side) > 1]
    far = float(stdtrit(min(freedom), tail)) if freedom else float(ndtri(tail))
    half = far * math.sqrt(variance) / (value * (1.0 - value))
    logit = math.log(value / (1.0 - value))
    low, high = (1.0 / (1.0 + math.exp(-end)) for end in (logit - half, logit + half))
    return Superiority(value, low, high, confidence)


def _placements(run: npt.NDArray[np.generic], others: npt.NDArray[np.generic]) -> Floats:
    """For each sample of `run` (n,) the share of `others` (m,), sorted, below it; ties half."""
    below = np.searchsorted(others, run, side="left")
    up_to = np.searchsorted(others, run, side="right")
    return np.asarray((below + up_to) / (2.0 * others.size))


def _variance(runs: list[Floats]) -> float:
    """Variance of the mean placement of a side."""
    means = [float(run.mean()) for run in runs]
    within = math.fsum(effective_size(run).long_run_sd ** 2 / run.size for run in runs)
    within /= len(runs)
    between = float(np.var(means, ddof=1)) if len(runs) > 1 else 0.0
    return max(within, between) / len(runs)
