# SPDX-License-Identifier: Apache-2.0
"""Causes common to the worst samples: recorded events, places, and position in time."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, gammaln, ndtri

from kadenz.stats.cycles import check_span
from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.event_period import FEWEST_PERIODS, fundamental, in_phase, line, search
from kadenz.stats.jittered_train import near_slots, search_around
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.samples import Array, Floats, as_samples

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

SHARE = 0.001
FEWEST = 20  # minimum number of worst samples: three would show nothing
LARGEST_SHARE = 0.1
# Shares of the allowed false alarms for a period and for clusters; the rest is for events.
POSITION_PART = 0.1
FEWEST_EVENTS = 6  # for a period
NEIGHBOURS = 2  # worst samples this many cycles apart are one event
ROUNDED = 0.75  # cycles: a place is whole, a slot is not
SHIFTS, FEWEST_SHIFTS = 1999, 399
LOOK_UPS = 4_000_000  # shifts times worst samples: longer series get fewer shifts
FEWEST_WITH = 3  # of the worst: an event of only two is a coincidence, whatever its p
PLACES = 64  # more places are not tested individually
LEVELS = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class Worst:
    """The samples that count as worst: the largest `share`, at least `fewest`.

    At most `alpha` of series without a cause may show one.
    """

    share: float = SHARE
    alpha: float = 0.05
    fewest: int = FEWEST


@dataclass(frozen=True)
class Factor:
    """One test: how often an event occurred with the worst samples, and with the others.

    The event is "`name` exceeded `above`" for a count, "`name` was `place`" for a place, "the
    sample is marked `name`" for a mark. `odds_ratio` is in [`low`, `high`] (95 %), 0 if none of the
    worst has the event. `fisher_p` is Fisher's exact p, for this test alone and independent
    samples; `p_value` is corrected for all tests and for dependence. `common`: p_value is below its
    limit, and at least three of the worst samples have the event.
    """

    name: str
    kind: Literal["count", "place", "mark"]
    above: float | None
    place: int | None
    worst_with: int
    worst_n: int
    rest_with: int
    rest_n: int
    odds_ratio: float
    low: float
    high: float
    fisher_p: float
    p_value: float
    common: bool

    @property
    def worst_share(self) -> float:
        """Share of the worst samples with the event."""
        return self.worst_with / self.worst_n

    @property
    def rest_share(self) -> float:
        """Share of the other samples with the event."""
        return self.rest_with / self.rest_n


@dataclass(frozen=True)
class Train:
    """A period in cycles that `count` of the worst samples have, up to a cycle off if `loose`."""

    every: float
    count: int
    loose: bool


@dataclass(frozen=True, eq=False)
class CommonCauses:
    """The worst samples at `indices` (`count`,), in time order, none below `threshold`.

    `factors` has one test per companion and mark, the most significant first; `asked` is the number
    of tests; `left_out[name]` says why a companion could not be tested. `near` of the worst come
    within `within` samples of the previous one (`clustered` if more than chance allows, in
    `bursts`); `train` is their period, None if they have none. `smallest_p` is the smallest
    `p_value` that these data can give; if it is not below `limit`, no event can be shown.
    """

    n: int
    count: int
    threshold: float
    indices: Indices
    factors: tuple[Factor, ...]
    asked: int
    left_out: dict[str, str]
    near: int
    within: int
    bursts: int
    clustered: bool
    train: Train | None
    smallest_p: float
    limit: float

    @property
    def share(self) -> float:
        """The share of the worst samples in all samples."""
        return self.count / self.n

    @property
    def common(self) -> tuple[Factor, ...]:
        """The factors common to the worst samples."""
        return tuple(factor for factor in self.factors if factor.common)

    @property
    def nothing(self) -> bool:
        """True if neither an event nor a position is common to them."""
        return not self.common and not self.clustered and self.train is None


@dataclass(frozen=True, eq=False)
class _Question:
    name: str
    kind: Literal["count", "place", "mark"]
    above: float | None = None
    place: int | None = None


@dataclass(frozen=True, eq=False)
class _Answer:
    """One test's counts: samples with the event; worst ones with it, shifted and as observed."""

    question: _Question
    with_event: int
    shifted: npt.NDArray[np.int64]
    observed: int


def common_causes(
    samples: npt.ArrayLike,
    companions: Mapping[str, npt.ArrayLike],
    *,
    places: Collection[str] = (),
    marks: Mapping[str, npt.ArrayLike] | None = None,
    cycles: npt.ArrayLike | None = None,
    worst: Worst = Worst(),  # noqa: B008 (frozen)
    seed: int = 1,
    ordered: Ordered | None = None,
) -> CommonCauses:
    """Causes common to the `worst` of `samples` (n,), n >= 10 * worst.fewest.

    `companions` by name, (n,) each, are counts of events since the previous sample or, if named in
    `places`, the place where the sample was taken. `marks` by name are indices (m,). `cycles` (n,),
    ascending, number the samples (None: every cycle was taken). If many of the worst share the
    smallest of their values, only those above it count.

    Method: a count is an event if it exceeds its median, 90th or 99th percentile; every place is
    an event. Each 2x2 table gets Fisher's exact one-sided p (more often with the worst).
    Correction for all tests and for clusters in time: all of the worst are rotated through the
    series together by up to 1,999 distances (Besag and Diggle 1977), each time with the smallest p
    over all tests; p_value = (1 + shifts whose smallest p is as small) / (1 + shifts) (min-p,
    Westfall and Young 1993), and never below Fisher's p. The odds ratio has Woolf's interval with
    1/2 added (Gart 1966), its variance multiplied by that of the shifted counts over the
    hypergeometric one. Clusters: gaps of at most 5 % of the mean gap, compared with uniform places;
    period: the test of `periodic`, and that of events up to a cycle early or late among strays
    (jittered_train.py), each at half of the level. Of series without a cause at most
    alpha show one (0.8 of it for events, 0.1 each for clusters and for a period). Assumes a
    stationary series: a common drift of samples and companion is a common cause. Shows correlation,
    not which came first.
    """
    array = as_samples(samples, "common causes", needed=10 * worst.fewest)
    data = order(array) if ordered is None else ordered
    threshold, indices = _worst(array, data, worst)
    left_out: dict[str, str] = {}
    for_events = (1.0 - 2.0 * POSITION_PART) * worst.alpha
    shifts = _shifts(array.size, indices.size, for_events, seed)
    answers = [
        _Answer(
            question,
            int(np.count_nonzero(mask)),
            _shifted_counts(mask, indices, shifts),
            int(np.count_nonzero(mask[indices])),
        )
        for question, mask in _questions(companions, places, marks or {}, array.size, left_out)
    ]
    factors = _factors(answers, array.size, indices.size, for_events)
    within, near, p_clustered = _clusters(indices, array.size)
    return CommonCauses(
        n=int(array.size),
        count=int(indices.size),
        threshold=threshold,
        indices=indices,
        factors=tuple(factors),
        asked=len(answers),
        left_out=left_out,
        near=near,
        within=within,
        bursts=int(indices.size - near),
        clustered=p_clustered < POSITION_PART * worst.alpha,
        train=_train(indices, array.size, cycles, POSITION_PART * worst.alpha),
        smallest_p=1.0 / (1 + shifts.size),
        limit=for_events,
    )


def _worst(array: Array, data: Ordered, which: Worst) -> tuple[float, Indices]:
    """The smallest of the worst values, and the indices of all of them."""
    what, share, fewest = "common causes", which.share, which.fewest
    if not 0.0 < share <= LARGEST_SHARE:
        raise Undefined(what, f"a share of {share:g} is outside 0 ... {LARGEST_SHARE:g}")
    if fewest < 2:
        raise TooFew(f"{what} (worst samples)", fewest, 2)
    wanted = max(fewest, math.ceil(share * data.n))
    threshold = data.values[data.n - wanted]
    first = int(np.searchsorted(data.values, threshold, side="left"))
    if data.n - first > 2 * wanted:
        tied = data.n - first
        first = int(np.searchsorted(data.values, threshold, side="right"))
        if data.n - first < fewest / 2:
            raise Undefined(
                what,
                f"{tied:,} samples share the largest values: none stands out",
            )
        threshold = data.values[first]
    return float(threshold), np.flatnonzero(array >= threshold)


def _questions(
    companions: Mapping[str, npt.ArrayLike],
    places: Collection[str],
    marks: Mapping[str, npt.ArrayLike],
    n: int,
    left_out: dict[str, str],
) -> Iterator[tuple[_Question, Bools]]:
    for name, values in companions.items():
        beside = as_samples(values, f"companion {name}", needed=0)
        if beside.size != n:
            raise Undefined(f"companion {name}", f"{beside.size} values for {n} samples")
        if beside.min() == beside.max():
            left_out[name] = f"{float(beside[0]):g} at every sample"
        elif name in places:
            yield from _places(name, beside, left_out)
        else:
            yield from _levels(name, beside)
    for name, indices in marks.items():
        mask = np.zeros(n, dtype=bool)
        marked = np.asarray(indices, dtype=np.int64)
        mask[marked[(marked >= 0) & (marked < n)]] = True
        if mask.any():
            yield _Question(name, "mark"), mask


def _levels(name: str, beside: Array) -> Iterator[tuple[_Question, Bools]]:
    some = order(beside[:: max(1, beside.size // 1_000_000)])
    for level in dict.fromkeys(float(some.quantile(share)) for share in LEVELS):
        mask = beside > level
        if mask.any():
            yield _Question(name, "count", above=level), mask


def _places(
    name: str, beside: Array, left_out: dict[str, str]
) -> Iterator[tuple[_Question, Bools]]:
    values, counts = np.unique(beside, return_counts=True)
    if values.size > PLACES:
        left_out[name] = f"{values.size:,} different values, at most {PLACES} can be tested"
        return
    for place in values[np.argsort(counts, kind="stable")]:
        yield _Question(name, "place", place=int(place)), beside == place


def _shifts(n: int, worst: int, alpha: float, seed: int) -> Indices:
    """Shift distances, enough to give a p well below `alpha`."""
    wanted = min(SHIFTS, max(FEWEST_SHIFTS, LOOK_UPS // worst))
    wanted = min(n - 1, max(wanted, math.ceil(10.0 / alpha)))
    rng = np.random.default_rng(seed)
    if n - 1 <= 4 * wanted:
        return np.asarray(rng.permutation(n - 1)[:wanted] + 1, dtype=np.intp)
    drawn = np.unique(rng.integers(1, n, 2 * wanted))
    return np.asarray(rng.permutation(drawn)[:wanted], dtype=np.intp)


def _shifted_counts(mask: Bools, worst: Indices, shifts: Indices) -> npt.NDArray[np.int64]:
    """The number of the worst with the event after each shift, (shifts,)."""
    counts = np.empty(shifts.size, dtype=np.int64)
    rows = max(1, (1 << 20) // worst.size)
    for start in range(0, shifts.size, rows):
        moved = worst[np.newaxis, :] + shifts[start : start + rows, np.newaxis]
        np.subtract(moved, mask.size, out=moved, where=moved >= mask.size)
        counts[start : start + rows] = mask[moved].sum(axis=1)
    return counts


def _factors(answers: list[_Answer], n: int, worst: int, alpha: float) -> list[Factor]:
    """One factor per name: its most significant test, corrected for all tests."""
    if not answers:
        return []
    tails = [_fisher(n, answer.with_event, worst) for answer in answers]
    least = np.min([t[a.shifted] for t, a in zip(tails, answers, strict=True)], axis=0)
    best: dict[str, Factor] = {}
    for answer, tail in zip(answers, tails, strict=True):
        question, worst_with = answer.question, answer.observed
        single = float(tail[worst_with])
        # A small tolerance, so that equal tables count as equal.
        as_small = int(np.count_nonzero(least <= single * (1.0 + 1e-9)))
        p_value = max((1 + as_small) / (1 + least.size), single)
        odds, low, high = _odds(answer, worst, n)
        factor = Factor(
            name=question.name,
            kind=question.kind,
            above=question.above,
            place=question.place,
            worst_with=worst_with,
            worst_n=worst,
            rest_with=answer.with_event - worst_with,
            rest_n=n - worst,
            odds_ratio=odds,
            low=low,
            high=high,
            fisher_p=single,
            p_value=p_value,
            common=p_value < alpha and worst_with >= FEWEST_WITH,
        )
        known = best.get(question.name)
        if known is None or (factor.p_value, factor.fisher_p) < (known.p_value, known.fisher_p):
            best[question.name] = factor
    return sorted(best.values(), key=lambda f: (f.p_value, f.fisher_p, -f.odds_ratio))


def _fisher(n: int, with_event: int, worst: int) -> Floats:
    """P(at least k of `worst` draws have the event), k = 0 ... worst: the hypergeometric tail."""
    k = np.arange(worst + 1, dtype=np.float64)
    possible = (k <= with_event) & (worst - k <= n - with_event)
    inside = k[possible]
    log = (
        _choose(with_event, inside)
        + _choose(n - with_event, worst - inside)
        - float(_choose(n, np.array([float(worst)]))[0])
    )
    chance = np.zeros(worst + 1)
    chance[possible] = np.exp(log)
    tail: Floats = np.cumsum(chance[::-1])[::-1]
    return np.minimum(tail, 1.0)


def _choose(n: float, k: Floats) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _odds(answer: _Answer, worst: int, n: int) -> tuple[float, float, float]:
    """Odds ratio and its 95 % interval, widened by the dependence that the shifts show."""
    worst_with, others = answer.observed, answer.with_event - answer.observed
    a, b, c, d = worst_with + 0.5, worst - worst_with + 0.5, others + 0.5, n - worst - others + 0.5
    rate = answer.with_event / n
    chance = worst * rate * (1.0 - rate) * (n - worst) / (n - 1)
    inflation = max(1.0, float(answer.shifted.var()) / chance) if chance > 0.0 else 1.0
    log = math.log(a * d / (b * c))
    reach = float(ndtri(0.975)) * math.sqrt(inflation * (1 / a + 1 / b + 1 / c + 1 / d))
    if worst_with == 0:  # the added 1/2 would give a ratio above 0
        return 0.0, 0.0, math.exp(log + reach)
    return math.exp(log), math.exp(log - reach), math.exp(log + reach)


def _clusters(worst: Indices, n: int) -> tuple[int, int, float]:
    """A short gap, the number of gaps up to it, and the p-value of that number at uniform places.

    Gaps between uniform places are negatively associated, so the binomial tail errs on the safe
    side.
    """
    gaps = np.diff(worst)
    within = max(1, round(0.05 * n / worst.size))
    near = int(np.count_nonzero(gaps <= within))
    m = np.array([float(worst.size)])
    short = -math.expm1(float(_choose(n - within, m)[0] - _choose(n, m)[0]))
    return within, near, 1.0 if near == 0 else float(bdtrc(near - 1, gaps.size, short))


def _train(worst: Indices, n: int, cycles: npt.ArrayLike | None, alpha: float) -> Train | None:
    """The period of the worst samples, None if they have none; neighbours are one event."""
    numbers = np.arange(n) if cycles is None else np.asarray(cycles, dtype=np.int64)
    check_span(numbers, "common causes")
    place, length = numbers[worst] - numbers[0], int(numbers[-1] - numbers[0]) + 1
    begins = np.diff(place, prepend=-NEIGHBOURS - 1) > NEIGHBOURS
    events = place[begins]
    if events.size < FEWEST_EVENTS:
        return None
    p_line, frequency = search(events, length, None)
    p_around, around = search_around(events, length, alpha / 2.0)
    if min(p_line, p_around) >= alpha / 2.0:
        return None
    if p_around < p_line:
        struck = near_slots(events, around)
        every, first = line(events[struck], around)
    else:
        frequency = fundamental(events, frequency, length)
        if frequency * length < FEWEST_PERIODS:
            return None
        struck = in_phase(events, frequency)
        every, first = line(events, frequency)
    off = (events[struck] - first + every / 2.0) % every - every / 2.0
    loose = p_around < p_line and bool(np.abs(off).max() > ROUNDED)
    return Train(every, int(struck[np.cumsum(begins) - 1].sum()), loose)
