# SPDX-License-Identifier: Apache-2.0
"""Cost over message size: a fixed part and a part per byte."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.replicate import replicate
from kadenz.stats.samples import Array, Floats, as_samples, is_integer

ALPHA_LINEAR = 0.01


@dataclass(frozen=True, eq=False)
class SizeFit:
    """time(size) = fixed + per_byte * size.

    `sizes` (k,) bytes ascending, `centres` (k,) the per-size statistic with its interval `low`,
    `high`, `fitted` and `residuals` (k,), all in the unit of the samples. `linear` is False if the
    residuals have a pattern that noise does not explain; `p_linear` is that test's p-value (None if
    impossible), `worst_size` the size with the largest deviation.
    """

    fixed: Estimate
    per_byte: Estimate
    statistic: str
    sizes: Floats
    centres: Floats
    low: Floats
    high: Floats
    fitted: Floats
    residuals: Floats
    r_squared: float | None
    linear: bool
    p_linear: float | None
    worst_size: float
    reason: str = ""


def fit_size(
    sizes_bytes: Sequence[float],
    samples: Sequence[npt.ArrayLike],
    *,
    statistic: str = "median",
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: int = 1,
) -> SizeFit:
    """Fit over k >= 3 distinct sizes; `samples[i]` (n_i,), n_i >= 10, belong to `sizes_bytes[i]`.

    `statistic` is "median" (robust against outliers among the samples) or "mean".

    Method: least squares on the statistic of each size, equally weighted; the intervals come from
    block-bootstrap replicates of each size's statistic (replicate.py), so neither equal variances
    over sizes nor independent samples are assumed. For integer samples the rounding to the clock's
    step, uniform over +-1/2 step, is added. Linearity: the sum of squared residuals against the
    same sum of the replicates (a distribution-free lack-of-fit test, alpha 0.01). If it fails, the
    scatter of the sizes around the line is the larger error, and the interval is widened to
    Student's t with HC3 standard errors (MacKinnon and White 1985), k >= 4; `residuals` then shows
    the step or bend, and the two figures describe the measured range, not a law. Assumes that the
    sizes were measured independently.
    """
    sizes, ascending = _sorted_sizes(sizes_bytes, len(samples))
    parts = []
    draws = np.empty((sizes.size, replicates))
    for row, which in enumerate(ascending):
        rng = np.random.default_rng([seed, row])
        array = as_samples(samples[which], "size fit", needed=10)
        parts.append(replicate(array, statistic, replicates, rng))
        step = _clock_step(array)
        draws[row] = parts[-1].values + step * (rng.random(replicates) - 0.5)
    centres = np.array([part.value for part in parts])
    ends = np.array([part.interval(confidence) for part in parts])
    design = np.column_stack((np.ones(sizes.size), sizes))
    solve = np.linalg.pinv(design)
    coefficients = solve @ centres
    fitted = design @ coefficients
    residuals = centres - fitted
    # Residuals below the rounding of the solution count as zero, so that an exact line is linear.
    real = np.where(np.abs(residuals) > 1e-12 * np.abs(centres).max(), residuals, 0.0)
    p_linear = _lack_of_fit(real, draws - centres[:, np.newaxis], design @ solve)
    linear = p_linear >= ALPHA_LINEAR
    spread = np.zeros(2)
    if not linear and sizes.size >= 4:
        leverage = np.einsum("ij,ji->i", design, solve)
        spread = np.sqrt(((solve * (residuals / (1.0 - leverage))) ** 2).sum(axis=1))
        spread *= float(stdtrit(sizes.size - 2, 1.0 - (1.0 - confidence) / 2.0))
    estimates = [
        _coefficient(float(coefficients[i]), solve[i] @ draws, float(spread[i]), confidence)
        for i in range(2)
    ]
    worst = int(np.argmax(np.abs(residuals)))
    total = float(((centres - centres.mean()) ** 2).sum())
    return SizeFit(
        fixed=estimates[0],
        per_byte=estimates[1],
        statistic=statistic,
        sizes=sizes,
        centres=centres,
        low=ends[:, 0],
        high=ends[:, 1],
        fitted=fitted,
        residuals=residuals,
        r_squared=1.0 - float((residuals**2).sum()) / total if total > 0.0 else None,
        linear=linear,
        p_linear=p_linear,
        worst_size=float(sizes[worst]),
        reason=(
            ""
            if linear
            else f"not a straight line: {residuals[worst]:+.4g} off at {sizes[worst]:g} bytes"
        ),
    )


def _sorted_sizes(sizes_bytes: Sequence[float], arrays: int) -> tuple[Floats, list[int]]:
    """The sizes (k,) ascending, and their places among the arguments; Undefined if they misfit."""
    sizes = np.asarray(sizes_bytes, dtype=np.float64)
    if sizes.size != arrays:
        raise Undefined("size fit", f"{sizes.size} sizes, but {arrays} arrays of samples")
    if np.unique(sizes).size != sizes.size:
        raise Undefined("size fit", "a size occurs twice. Join its samples or choose one record")
    if sizes.size < 3:
        raise TooFew("size fit (sizes)", int(sizes.size), 3)
    ascending = np.argsort(sizes)
    return sizes[ascending], [int(which) for which in ascending]


def _coefficient(value: float, draws: Floats, spread: float, confidence: float) -> Estimate:
    tail = (1.0 - confidence) / 2.0
    low, high = (float(end) for end in np.quantile(draws, (tail, 1.0 - tail)))
    low, high = min(low, value, value - spread), max(high, value, value + spread)
    return Estimate(value, low, high, confidence, low == high)


def _lack_of_fit(residuals: Floats, noise: Floats, hat: Floats) -> float:
    """Share of noise replicates with residuals as large: (1 + count) / (1 + replicates)."""
    observed = float((residuals**2).sum())
    null = ((noise - hat @ noise) ** 2).sum(axis=0)
    return float((1 + np.count_nonzero(null >= observed)) / (1 + null.size))


def _clock_step(array: Array) -> float:
    """The clock's step, as the common divisor of 10,000 samples; 0 for reals.

    For samples that do not vary, 1 tick is assumed.
    """
    if not is_integer(array):
        return 0.0
    head = array[:10_000].astype(np.int64)
    return float(math.gcd(*np.unique(head - head.min()).tolist())) or 1.0
