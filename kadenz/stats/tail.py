# SPDX-License-Identifier: Apache-2.0
"""How far the tail reaches: peaks over a threshold, and when not to say it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtr, chdtrc, ndtr

from kadenz.stats.clusters import Clusters, decluster
from kadenz.stats.errors import TooFew
from kadenz.stats.estimate import Estimate
from kadenz.stats.gpd import Fit, Likelihood, fit_gpd, likelihood
from kadenz.stats.samples import Array, Floats, as_samples
from kadenz.stats.step import step_of

FEWEST = 2000
# Thresholds tried: the lowest has a twentieth of the samples above it, or so many; the highest
# leaves so many peaks. More peaks would lie where the limit law does not hold yet: the level of
# normal samples came out too low, with an interval that missed it.
SHARE = 0.05
MOST_PEAKS = 500
FEWEST_PEAKS = 60
LADDER = math.sqrt(2.0)
HALF = 0.6
# A fit is taken where chance alone would fit worse so often, and no higher threshold fits worse
# than the second figure: of ten of them one would by chance at the first.
TAKE = 0.1
REJECT = 0.01
# Ticks coarser than this many scales of the tail leave no distribution to fit.
COARSE = 0.5
# Levels are given for series so many times as long as the one measured.
HORIZONS = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Threshold:
    """One threshold tried: its peaks (clusters) and what the fit there says."""

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
    """The level that is expected to be exceeded once in `samples` samples."""

    samples: float
    level: Estimate


@dataclass(frozen=True, eq=False)
class Tail:
    """`tried` thresholds, lowest first; `chosen` of them, None where none fits.

    `shape` Estimate (profile likelihood), `checks` of fit and assumptions, `levels` empty where the
    tail is not to be extrapolated: then `refusal` says why. `peaks` (c,) ascending, those of the
    chosen threshold (of the highest where none fits), unit of the samples; `tick` the step of the
    samples or of the clock they came from, 0 for reals; `run` samples below the threshold end a
    cluster.
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
    samples: npt.ArrayLike, *, tick: float = 0.0, confidence: float = 0.95, seed: int = 1
) -> Tail:
    """Fit the upper tail of `samples` (n,), in time order, n >= 2000.

    Method: peaks over threshold (Davison and Smith 1990). Thresholds from 5 % of the samples or
    500 peaks up, each with 1 / sqrt(2) of the exceedances of the one before, down to 60 peaks;
    declustered at each (clusters.py), fitted and tested there (gpd.py). Chosen is the lowest that
    fits (p at least 0.1) with no rejection (p below 0.01) above it (Bader, Yan and Zhang 2018).
    Assumptions tested there, each at 0.01: the peaks come at an even rate and keep their size over
    the series (stationary), neighbouring peaks are independent, the shape is that of the highest
    thresholds. Samples on a grid of ticks (step.py) are spread evenly over their tick (seeded);
    ticks coarser than half the scale are refused. `tick` is that of the clock where the samples
    were computed of what was read off it, as jitter is of times, and show no step themselves; in
    their unit. Levels for 1, 10 and 100 times the length measured, with
    profile-likelihood intervals; the simulated coverage is in docs/explanation/statistics.md. A
    return level is no worst case: it assumes that nothing happens later which did not happen in the
    measurement.
    """
    array = as_samples(samples, "tail")
    if array.size < FEWEST:
        raise TooFew("tail", array.size, FEWEST)
    own = step_of(array)
    tick = max(own, tick)
    rng = np.random.default_rng(seed)
    tried: list[Threshold] = []
    parts: list[tuple[Clusters, Floats]] = []
    for threshold in _thresholds(array):
        exceedances = int(np.count_nonzero(array > threshold))
        if exceedances < FEWEST_PEAKS:
            break
        clusters = decluster(array, threshold)
        if clusters.peaks.size < FEWEST_PEAKS:
            break
        if clusters.peaks.size > MOST_PEAKS:
            continue
        excess = _excesses(clusters, threshold, own, rng)
        tried.append(
            Threshold(
                threshold,
                exceedances,
                clusters.extremal_index,
                fit_gpd(excess),
            )
        )
        parts.append((clusters, excess))
    if not tried:
        return _none(
            array, tick, f"fewer than {FEWEST_PEAKS} separate peaks above any threshold tried"
        )
    number = _choose([one.fit for one in tried])
    chosen = tried[len(tried) - 1 if number is None else number]
    clusters, excess = parts[len(tried) - 1 if number is None else number]
    checks = _checks(array.size, clusters, excess, chosen, tried)
    refusal = _refusal(number, chosen, checks, tick)
    # A threshold that fits by chance alone makes an interval too narrow: the one with about half
    # the peaks has its say, too.
    spare = [
        which
        for which, one in enumerate(tried)
        if one.fit.n <= HALF * chosen.fit.n and one.threshold > chosen.threshold
    ]
    used = [tried.index(chosen), *spare[:1]]
    surfaces = [likelihood(parts[which][1], tried[which].fit) for which in used]
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


def _none(array: Array, tick: float, refusal: str) -> Tail:
    return Tail(array.size, tick, (), None, 0, None, np.zeros(0), (), (), refusal)


def _level(
    times: float, used: list[Threshold], surfaces: list[Likelihood], confidence: float
) -> Estimate:
    """What one of the peaks of `times` such series reaches, by the first threshold; the interval
    holds those of all thresholds used."""
    found = []
    for one, surface in zip(used, surfaces, strict=True):
        peaks = times * one.fit.n
        excess = surface.level(one.fit.level(peaks), peaks, confidence)
        found.append([one.threshold + part for part in (excess.value, excess.low, excess.high)])
    return Estimate(
        found[0][0], min(part[1] for part in found), max(part[2] for part in found), confidence
    )


def _thresholds(array: Array) -> list[float]:
    """Values with ever fewer samples above, each once."""
    count = min(SHARE * array.size, 8.0 * MOST_PEAKS)
    ranks = []
    while count >= FEWEST_PEAKS:
        ranks.append(array.size - 1 - int(count))
        count /= LADDER
    values = np.partition(array, ranks)[ranks]
    return [float(value) for value in np.unique(values)]


def _excesses(
    clusters: Clusters, threshold: float, tick: float, rng: np.random.Generator
) -> Floats:
    """Above the threshold, positive; each spread evenly over the tick it was rounded to."""
    excess = clusters.peaks.astype(np.float64) - threshold
    if tick:
        # The next tick above the threshold is where the samples begin: its own cell starts half a
        # tick below.
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
            "above the threshold have too few values to fit a distribution to. Use a finer clock"
        )
    if number is None:
        return (
            "no generalised Pareto distribution fits the peaks above any threshold: Anderson-"
            f"Darling p = {chosen.fit.p_value:.2g} at the highest. The tail is a mixture of causes "
            "or ends in a few values: name and separate them first"
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
    peaks, at = clusters.peaks, clusters.at
    checks = [
        Check(
            "fit",
            chosen.fit.p_value,
            chosen.fit.p_value >= TAKE,
            "a generalised Pareto distribution fits above the threshold (Anderson-Darling, p = "
            f"{chosen.fit.p_value:.2g})",
        )
    ]
    blocks = int(min(10, peaks.size // 6))
    counts = np.bincount(np.minimum(at * blocks // n, blocks - 1), minlength=blocks)
    even = float(((counts - counts.mean()) ** 2).sum() / counts.mean())
    p_rate = min(1.0, 2.0 * min(float(chdtrc(blocks - 1, even)), float(chdtr(blocks - 1, even))))
    uneven = "more unevenly over" if even > blocks - 1 else "more regularly over"
    checks.append(
        _check(
            "rate",
            p_rate,
            f"the peaks come evenly over the series ({blocks} parts",
            f"not stationary: peaks come {uneven} the series than chance has it ({blocks} parts",
        )
    )
    checks.append(
        _check(
            "size",
            _spearman(at.astype(np.float64), peaks),
            "the peaks keep their size over the series (rank correlation with time",
            "not stationary: the peaks grow or shrink over the series (rank correlation with time",
        )
    )
    checks.append(
        _check(
            "independence",
            _spearman(peaks[:-1], peaks[1:]),
            "neighbouring peaks are independent (rank correlation",
            "neighbouring peaks still depend on each other after declustering (rank correlation",
        )
    )
    largest = chosen.fit.above(float(excess.max()))
    reached = -math.expm1(excess.size * math.log1p(-largest)) if largest < 1.0 else 1.0
    checks.append(
        _check(
            "largest",
            min(1.0, 2.0 * min(reached, 1.0 - reached)),
            "the largest peak is where the fit expects it (",
            "the largest peak is not where the fit expects it (",
        )
    )
    # The highest threshold with peaks enough is closest to the limit law; errors of the shapes are
    # those of maximum likelihood, (1 + shape) / sqrt(n) (1 at least), of nested samples.
    last = tried[-1].fit
    if last.n <= HALF * chosen.fit.n:
        error = max(1.0 + chosen.fit.shape, 1.0 + last.shape, 1.0)
        spread = error * math.sqrt(1.0 / last.n - 1.0 / chosen.fit.n)
        z = (last.shape - chosen.fit.shape) / spread
        checks.append(
            _check(
                "stable shape",
                float(2.0 * ndtr(-abs(z))),
                f"the shape stays with the threshold ({last.shape:+.2f} at the highest",
                f"the shape changes with the threshold, {chosen.fit.shape:+.2f} here and "
                f"{last.shape:+.2f} at the highest (",
            )
        )
    return tuple(checks)


def _check(name: str, p_value: float, good: str, bad: str) -> Check:
    holds = p_value >= REJECT
    words = (good if holds else bad).rstrip("( ")
    join = ", " if "(" in words else " ("
    return Check(name, p_value, holds, f"{words}{join}p = {p_value:.2g})")


def _spearman(first: Array, second: Array) -> float:
    """Two-sided p-value of Spearman's rank correlation, normal limit."""
    from scipy.stats import rankdata  # here: its import takes 0.2 s, and few commands need it

    n = first.size
    a, b = rankdata(first), rankdata(second)
    a, b = a - a.mean(), b - b.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    if size == 0.0:
        return 1.0
    return float(2.0 * ndtr(-abs(float(a @ b)) / size * math.sqrt(n - 1)))
