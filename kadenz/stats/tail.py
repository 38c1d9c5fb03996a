# SPDX-License-Identifier: Apache-2.0
"""Return levels of the tail by peaks over a threshold, or a refusal if the fit fails."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtr, chdtrc, ndtr

from kadenz.stats.clusters import Clusters, clusters_of
from kadenz.stats.errors import TooFew
from kadenz.stats.estimate import Estimate
from kadenz.stats.gpd import Fit, Likelihood, fit_gpd, likelihood
from kadenz.stats.ordered import Ordered
from kadenz.stats.samples import Array, Floats, as_samples
from kadenz.stats.step import step_of

FEWEST = 2000
# Thresholds tried: the lowest has a twentieth of the samples above it, or this number of peaks; the
# highest has the smaller number. With more peaks the limit law does not hold yet: the level of
# normal samples was too low, with an interval that missed it.
SHARE = 0.05
MOST_PEAKS = 500
FEWEST_PEAKS = 60
LADDER = math.sqrt(2.0)
HALF = 0.6
# A fit is accepted from this p-value on, if no higher threshold has a p below the second value: of
# ten thresholds one is below the first by chance.
TAKE = 0.1
REJECT = 0.01
# With ticks coarser than this multiple of the tail's scale, no distribution can be fitted.
COARSE = 0.5
# Return levels are given for these multiples of the measured length.
HORIZONS = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Threshold:
    """One threshold tried: its peaks (clusters) and its fit."""

    threshold: float
    exceedances: int
    extremal_index: float
    fit: Fit


@dataclass(frozen=True)
class Check:
    """An assumption tested: `holds` is p_value >= 0.01."""

    name: str
    p_value: float
    holds: bool
    sentence: str


@dataclass(frozen=True)
class ReturnLevel:
    """The level with a return period of `samples` samples."""

    samples: float
    level: Estimate


@dataclass(frozen=True, eq=False)
class Tail:
    """The `tried` thresholds, lowest first, and the `chosen` one, None if none fits.

    `shape` is an Estimate (profile likelihood), `checks` test the fit and its assumptions. `levels`
    is empty if the tail must not be extrapolated: then `refusal` says why. `peaks` (c,) ascending
    are those of the chosen threshold (of the highest if none fits), in the unit of the samples;
    `tick` is the step of the samples or of their clock, 0 for reals; `run` samples below the
    threshold end a cluster.
    """

    n: int
    tick: float
    tried: tuple[Threshold, ...]
    chosen: Threshold | None
    run: int
    shape: Estimate | None
    peaks: Floats
    checks: tuple[Check, ...]
    levels: tuple[ReturnLevel, ...]
    refusal: str


def fit_tail(
    samples: npt.ArrayLike,
    *,
    tick: float = 0.0,
    confidence: float = 0.95,
    seed: int = 1,
    ordered: Ordered | None = None,
) -> Tail:
    """Fits the upper tail of `samples` (n,), in time order, n >= 2000.

    Method: peaks over threshold (Davison and Smith 1990). Thresholds start at 5 % of the samples or
    500 peaks, each with 1 / sqrt(2) of the exceedances of the previous one, down to 60 peaks. At
    each one the samples are declustered (clusters.py), fitted and tested (gpd.py). The lowest
    threshold that fits (p at least 0.1) without a rejection (p below 0.01) above it is chosen
    (Bader, Yan and Zhang 2018). Assumptions tested there, each at 0.01: the peaks come at an even
    rate and keep their size over the series (stationary), neighbouring peaks are independent, and
    the shape agrees with the highest thresholds. Samples on a grid of ticks (step.py) are spread
    evenly over their tick (seeded); ticks coarser than half the scale are refused. `tick`, in the
    unit of the samples, is the clock's, for samples that were computed from readings (as jitter is
    from times) and show no step themselves. Return levels are for 1, 10 and 100 times the measured
    length, with profile-likelihood intervals; docs/explanation/statistics.md has the simulated
    coverage. A return level is not a worst case: it assumes that nothing new happens after the
    measurement. Pass `ordered` if the samples are already sorted.
    """
    array = as_samples(samples, "tail")
    if array.size < FEWEST:
        raise TooFew("tail", array.size, FEWEST)
    step = step_of(array)
    tick = max(step, tick)
    parts = _tried(array, step, np.random.default_rng(seed), ordered)
    tried = [threshold for threshold, _, _ in parts]
    if not tried:
        return _none(
            array, tick, f"fewer than {FEWEST_PEAKS} separate peaks above every threshold tried"
        )
    number = _choose([threshold.fit for threshold in tried])
    chosen = tried[len(tried) - 1 if number is None else number]
    _, clusters, excess = parts[len(tried) - 1 if number is None else number]
    checks = _checks(array.size, clusters, excess, chosen, tried)
    refusal = _refusal(number, chosen, checks, tick)
    # A threshold that fits by chance makes the interval too narrow: the one with about half the
    # peaks is used, too.
    spare = [
        which
        for which, threshold in enumerate(tried)
        if threshold.fit.n <= HALF * chosen.fit.n and threshold.threshold > chosen.threshold
    ]
    used = [tried.index(chosen), *spare[:1]]
    surfaces = [likelihood(parts[which][2], tried[which].fit) for which in used]
    low, high = surfaces[0].shape(confidence)
    levels = [
        ReturnLevel(
            times * array.size,
            _level(times, [tried[which] for which in used], surfaces, confidence),
        )
        for times in HORIZONS
    ]
    return Tail(
        n=array.size,
        tick=tick,
        tried=tuple(tried),
        chosen=None if number is None else chosen,
        run=clusters.run,
        shape=Estimate(
            chosen.fit.shape, min(low, chosen.fit.shape), max(high, chosen.fit.shape), confidence
        ),
        peaks=np.sort(clusters.peaks.astype(np.float64)),
        checks=checks,
        levels=() if refusal else tuple(levels),
        refusal=refusal,
    )


def _tried(
    array: Array, tick: float, rng: np.random.Generator, ordered: Ordered | None
) -> list[tuple[Threshold, Clusters, Floats]]:
    """Every threshold with enough peaks, lowest first, with its clusters and excesses."""
    tried = []
    thresholds = _thresholds(array, ordered)
    # What is above the lowest threshold: a twentieth of the samples at most.
    at = np.flatnonzero(array > thresholds[0])
    high = array[at]
    for threshold in thresholds:
        above = high > threshold
        exceedances = int(np.count_nonzero(above))
        if exceedances < FEWEST_PEAKS:
            break
        clusters = clusters_of(high[above], at[above])
        if clusters.peaks.size < FEWEST_PEAKS:
            break
        if clusters.peaks.size > MOST_PEAKS:
            continue
        excess = _excesses(clusters, threshold, tick, rng)
        fitted = Threshold(threshold, exceedances, clusters.extremal_index, fit_gpd(excess))
        tried.append((fitted, clusters, excess))
    return tried


def _none(array: Array, tick: float, refusal: str) -> Tail:
    return Tail(array.size, tick, (), None, 0, None, np.zeros(0), (), (), refusal)


def _level(
    times: float, used: list[Threshold], surfaces: list[Likelihood], confidence: float
) -> Estimate:
    """The level that one peak in `times` such series reaches, from the first threshold; the
    interval includes those of all thresholds used."""
    levels = []
    for threshold, surface in zip(used, surfaces, strict=True):
        peaks = times * threshold.fit.n
        excess = surface.level(threshold.fit.level(peaks), peaks, confidence)
        levels.append(
            [threshold.threshold + part for part in (excess.value, excess.low, excess.high)]
        )
    return Estimate(
        levels[0][0], min(part[1] for part in levels), max(part[2] for part in levels), confidence
    )


def _thresholds(array: Array, ordered: Ordered | None) -> list[float]:
    """Distinct values with ever fewer samples above."""
    count = min(SHARE * array.size, 8.0 * MOST_PEAKS)
    ranks = []
    while count >= FEWEST_PEAKS:
        ranks.append(array.size - 1 - int(count))
        count /= LADDER
    values = (np.partition(array, ranks) if ordered is None else ordered.values)[ranks]
    return [float(value) for value in np.unique(values)]


def _excesses(
    clusters: Clusters, threshold: float, tick: float, rng: np.random.Generator
) -> Floats:
    """Positive excesses over the threshold, each spread evenly over its tick."""
    excess = clusters.peaks.astype(np.float64) - threshold
    if tick:
        # The samples begin at the next tick above the threshold; its cell starts half a tick below.
        excess += tick * (rng.random(excess.size) - 1.0)
    return np.maximum(excess, 1e-9 * float(excess.max()))


def _choose(fits: list[Fit]) -> int | None:
    for number, fit in enumerate(fits):
        if fit.p_value >= TAKE and all(later.p_value >= REJECT for later in fits[number:]):
            return number
    return None


def _refusal(number: int | None, chosen: Threshold, checks: tuple[Check, ...], tick: float) -> str:
    if tick > COARSE * chosen.fit.scale:
        return (
            f"the clock's step is {tick / chosen.fit.scale:.2g} of the tail's scale: the samples "
            "above the threshold have too few distinct values for a fit. Use a finer clock"
        )
    if number is None:
        return (
            "no generalised Pareto distribution fits the peaks above any threshold: Anderson-"
            f"Darling p = {chosen.fit.p_value:.2g} at the highest. The tail is a mixture of causes "
            "or ends in a few values: identify and separate them first"
        )
    failed = [check.sentence for check in checks if not check.holds]
    return "; ".join(failed)


def _checks(
    n: int,
    clusters: Clusters,
    excess: Floats,
    chosen: Threshold,
    tried: list[Threshold],
) -> tuple[Check, ...]:
    largest = chosen.fit.above(float(excess.max()))
    reached = -math.expm1(excess.size * math.log1p(-largest)) if largest < 1.0 else 1.0
    return (
        Check(
            "fit",
            chosen.fit.p_value,
            chosen.fit.p_value >= TAKE,
            "a generalised Pareto distribution fits above the threshold (Anderson-Darling, p = "
            f"{chosen.fit.p_value:.2g})",
        ),
        *_stationary(n, clusters),
        _check(
            "independence",
            _spearman(clusters.peaks[:-1], clusters.peaks[1:]),
            "neighbouring peaks are independent (rank correlation",
            "neighbouring peaks still depend on each other after declustering (rank correlation",
        ),
        _check(
            "largest",
            min(1.0, 2.0 * min(reached, 1.0 - reached)),
            "the largest peak is where the fit expects it (",
            "the largest peak is not where the fit expects it (",
        ),
        *_stable(chosen.fit, tried[-1].fit),
    )


def _stationary(n: int, clusters: Clusters) -> Iterator[Check]:
    """Whether the peaks' rate and size stay the same over the series of `n` samples."""
    blocks = int(min(10, clusters.peaks.size // 6))
    counts = np.bincount(np.minimum(clusters.at * blocks // n, blocks - 1), minlength=blocks)
    even = float(((counts - counts.mean()) ** 2).sum() / counts.mean())
    uneven = "more unevenly over" if even > blocks - 1 else "more regularly over"
    yield _check(
        "rate",
        min(1.0, 2.0 * min(float(chdtrc(blocks - 1, even)), float(chdtr(blocks - 1, even)))),
        f"the peaks come evenly over the series ({blocks} parts",
        f"not stationary: peaks come {uneven} the series than by chance ({blocks} parts",
    )
    yield _check(
        "size",
        _spearman(clusters.at.astype(np.float64), clusters.peaks),
        "the peaks keep their size over the series (rank correlation with time",
        "not stationary: the peaks grow or shrink over the series (rank correlation with time",
    )


def _stable(chosen: Fit, last: Fit) -> Iterator[Check]:
    """Whether the shape agrees with that of the highest threshold, if this has few enough peaks.

    The highest threshold is closest to the limit law. The errors of the shapes are those of maximum
    likelihood, (1 + shape) / sqrt(n) (at least 1), for nested samples.
    """
    if last.n > HALF * chosen.n:
        return
    error = max(1.0 + chosen.shape, 1.0 + last.shape, 1.0)
    spread = error * math.sqrt(1.0 / last.n - 1.0 / chosen.n)
    z = (last.shape - chosen.shape) / spread
    yield _check(
        "stable shape",
        float(2.0 * ndtr(-abs(z))),
        f"the shape does not change with the threshold ({last.shape:+.2f} at the highest",
        f"the shape changes with the threshold, {chosen.shape:+.2f} here and "
        f"{last.shape:+.2f} at the highest (",
    )


def _check(name: str, p_value: float, good: str, bad: str) -> Check:
    holds = p_value >= REJECT
    text = (good if holds else bad).rstrip("( ")
    join = ", " if "(" in text else " ("
    return Check(name, p_value, holds, f"{text}{join}p = {p_value:.2g})")


def _spearman(first: Array, second: Array) -> float:
    """Two-sided p-value of Spearman's rank correlation, normal limit."""
    n = first.size
    a, b = _mid_ranks(first), _mid_ranks(second)
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    if size == 0.0:
        return 1.0
    return float(2.0 * ndtr(-abs(float(a @ b)) / size * math.sqrt(n - 1)))


def _mid_ranks(values: Array) -> Floats:
    """Ranks from 1, of ties their mean."""
    ascending = np.sort(values)
    below = np.searchsorted(ascending, values, side="left")
    return np.asarray((below + np.searchsorted(ascending, values, side="right") + 1) / 2.0)
