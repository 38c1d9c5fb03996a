# SPDX-License-Identifier: Apache-2.0
"""The generalised Pareto distribution: fit, test and likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.gpd_table import LEVELS, QUANTILES, SHAPES
from kadenz.stats.samples import Floats, as_samples

FEWEST = 30
# Range of shapes for intervals: from a tail with an end (likelihood theory ends at -0.5) to one
# without a mean.
LOWEST_SHAPE, HIGHEST_SHAPE = -0.9, 1.5
GRID = 121


@dataclass(frozen=True)
class Fit:
    """P(excess > y) = (1 + shape * y / scale)^(-1 / shape) for `n` excesses.

    `scale` is in the unit of the excesses. `distance` is the Anderson-Darling statistic, `p_value`
    its probability under this distribution with both parameters estimated.
    """

    n: int
    shape: float
    scale: float
    distance: float
    p_value: float

    def above(self, excess: float) -> float:
        """P(a peak exceeds the threshold by more than `excess`)."""
        if abs(self.shape) < 1e-9:
            return math.exp(-excess / self.scale)
        inner = 1.0 + self.shape * excess / self.scale
        return inner ** (-1.0 / self.shape) if inner > 0.0 else 0.0

    def level(self, peaks: float) -> float:
        """The excess that one of `peaks` peaks is expected to reach, `peaks` > 0."""
        return growth(self.shape, peaks) * self.scale


def growth(shape: float, peaks: float) -> float:
    """(peaks^shape - 1) / shape, at shape 0 its limit ln(peaks)."""
    if abs(shape) < 1e-9:
        return math.log(peaks)
    return math.expm1(shape * math.log(peaks)) / shape


def fit_gpd(excesses: npt.ArrayLike) -> Fit:
    """Fits excesses over a threshold (n,), all positive, in any order, n >= 30.

    Method: the quasi-Bayesian estimator of Zhang and Stephens (2009): a weighted mean over the
    profile likelihood, which always exists, unlike its maximum, and is almost as efficient.
    Goodness of fit: Anderson-Darling against the simulated distribution of the statistic of this
    estimator (gpd_table.py), as Choulakian and Stephens (2001) do for maximum likelihood.
    """
    y = np.sort(as_samples(excesses, "tail fit").astype(np.float64))
    if y.size < FEWEST:
        raise TooFew("tail fit (excesses)", y.size, FEWEST)
    if y[0] <= 0.0 or y[0] == y[-1]:
        raise Undefined("tail fit", "the excesses are not positive, or all are equal")
    shape, scale = (float(part[0]) for part in estimate(y[np.newaxis, :]))
    distance = float(anderson_darling(y[np.newaxis, :], np.array([shape]), np.array([scale]))[0])
    return Fit(y.size, shape, scale, distance, p_value(distance, shape))


def estimate(rows: Floats) -> tuple[Floats, Floats]:
    """Shapes and scales (b,) of the ascending rows of `rows` (b, n), by Zhang and Stephens."""
    n = rows.shape[1]
    m = 20 + math.floor(math.sqrt(n))
    j = np.arange(1, m + 1)
    quartile = rows[:, max(math.floor(n / 4.0 + 0.5), 1) - 1 : max(math.floor(n / 4.0 + 0.5), 1)]
    quartile = np.maximum(quartile, 1e-12 * rows[:, -1:])
    theta = 1.0 / rows[:, -1:] + (1.0 - np.sqrt(m / (j - 0.5))) / (3.0 * quartile)
    theta = np.where(np.abs(theta) < 1e-12 / rows[:, -1:], 1e-12 / rows[:, -1:], theta)
    k = np.empty_like(theta)
    for number in range(m):
        k[:, number] = -np.log1p(-theta[:, number : number + 1] * rows).mean(axis=1)
    likelihood = n * (np.log(theta / k) + k - 1.0)
    weight = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    best = (theta * weight).sum(axis=1)
    best = np.where(np.abs(best) < 1e-12 / rows[:, -1], 1e-12 / rows[:, -1], best)
    k_best = -np.log1p(-best[:, np.newaxis] * rows).mean(axis=1)
    return np.asarray(-k_best), np.asarray(k_best / best)


def anderson_darling(rows: Floats, shapes: Floats, scales: Floats) -> Floats:
    """A^2 (b,) of ascending rows (b, n) against the given distributions."""
    n = rows.shape[1]
    shape = shapes[:, np.newaxis]
    safe = np.where(np.abs(shape) < 1e-9, 1e-9, shape)
    inner = np.maximum(safe * rows / scales[:, np.newaxis], -1.0 + 1e-12)
    log_above = -np.log1p(inner) / safe
    log_below = np.log(np.maximum(-np.expm1(log_above), 1e-300))
    odd = 2.0 * np.arange(1, n + 1) - 1.0
    return np.asarray(-n - (odd * (log_below + log_above[:, ::-1])).mean(axis=1))


def p_value(distance: float, shape: float) -> float:
    """p-value of an Anderson-Darling statistic, log-linear between simulated quantiles."""
    quantiles = [float(np.interp(shape, SHAPES, column)) for column in zip(*QUANTILES, strict=True)]
    logs = np.log(LEVELS)
    if distance >= quantiles[-1]:  # beyond the table the tail is exponential
        slope = (logs[-1] - logs[-3]) / (quantiles[-1] - quantiles[-3])
        return float(np.exp(max(logs[-1] + slope * (distance - quantiles[-1]), -700.0)))
    return float(np.exp(np.interp(distance, quantiles, logs)))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Log-likelihood on a grid of shapes and scales: `value` (s, t), its largest `best`."""

    n: int
    shapes: Floats
    scales: Floats
    value: Floats
    best: float

    def shape(self, confidence: float = 0.95) -> tuple[float, float]:
        """Profile-likelihood interval of the shape."""
        inside = self.inside(confidence)
        return float(self.shapes[inside].min()), float(self.shapes[inside].max())

    def inside(self, confidence: float) -> npt.NDArray[np.bool_]:
        """The cells not rejected by the likelihood ratio with one degree of freedom.

        The extremes of any one quantity over them are the ends of its profile interval.
        """
        return np.asarray(self.value >= self.best - 0.5 * float(chdtri(1, 1.0 - confidence)))

    def level(self, value: float, peaks: float, confidence: float = 0.95) -> Estimate:
        """Profile-likelihood interval of the excess that one of `peaks` peaks reaches."""
        inside = self.inside(confidence)
        shape = np.where(np.abs(self.shapes) < 1e-9, 1e-9, self.shapes)[inside]
        levels = np.expm1(shape * math.log(peaks)) / shape * self.scales[inside]
        low, high = float(levels.min()), float(levels.max())
        return Estimate(value, min(low, value), max(high, value), confidence)


def likelihood(excesses: npt.ArrayLike, fit: Fit) -> Likelihood:
    """Maps the log-likelihood around `fit`: shapes -0.9 ... 1.5, scales six errors either way.

    Method: all data enter through S(theta) = sum log(1 + theta y), theta = shape / scale, which is
    tabulated once and interpolated by cubic spline in log(theta + 1 / y_max).
    """
    from scipy.interpolate import CubicSpline  # here: its import takes 0.1 s, and few need it

    y = np.sort(as_samples(excesses, "tail likelihood", needed=FEWEST).astype(np.float64))
    top = float(y[-1])
    error = 3.0 / math.sqrt(y.size)
    reach = max(0.25, 2.0 * error) + 0.25
    shapes = np.linspace(
        max(LOWEST_SHAPE, fit.shape - reach), min(HIGHEST_SHAPE, fit.shape + reach), GRID
    )
    spread = min(1.2, 2.2 * error + 0.1)
    scales = fit.scale * np.exp(np.linspace(-spread, spread, GRID))
    shape, scale = np.meshgrid(shapes, scales, indexing="ij")
    theta = shape / scale
    possible = theta > -1.0 / top * (1.0 - 1e-9)
    largest = float(theta.max())
    knots = np.linspace(math.log(1e-9 / top), math.log(largest + 1.0 / top) + 1e-9, 600)
    tabulated = np.exp(knots) - 1.0 / top
    sums = np.array(
        [float(np.log1p(np.maximum(theta_k * y, -1.0 + 1e-15)).sum()) for theta_k in tabulated]
    )
    at = np.log(np.where(possible, theta, 0.0) + 1.0 / top)
    total = CubicSpline(knots, sums)(at)
    near_zero = np.abs(shape) < 1e-4
    # At shape 0 the density is exp(-y / scale) / scale; near it, to second order in shape.
    ratio = y / fit.scale
    first, second = float(ratio.sum()), float((ratio**2).sum())
    factor = fit.scale / scale
    limit = factor * first + shape * (factor * first - 0.5 * factor**2 * second)
    safe = np.where(near_zero, 1.0, shape)
    value = -y.size * np.log(scale) - np.where(near_zero, limit, (1.0 + 1.0 / safe) * total)
    value = np.where(possible, value, -np.inf)
    return Likelihood(y.size, shape, scale, value, float(value.max()))
