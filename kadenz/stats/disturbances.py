# SPDX-License-Identifier: Apache-2.0
"""Disturbances of a cyclic task: periodic ones with their period, the others listed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, stdtrit

from kadenz.stats.cycles import check_span
from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.event_period import (
    FEWEST_PERIODS,
    Indices,
    fundamental,
    in_phase,
    line,
    search,
    spectrum,
)
from kadenz.stats.ordered import order
from kadenz.stats.periodic import DEVIATIONS, LARGEST_SHARE, robust_spread
from kadenz.stats.pulse_train import HARMONICS, search_comb
from kadenz.stats.samples import Array, Floats, as_samples
from kadenz.stats.waves import Wave, find_waves

FEWEST_EVENTS = 6
# Maximum number of periods reported, and of sporadic disturbances listed.
MOST = 8
LISTED = 20
# If a group of events is this significantly periodic, its larger events need no search.
SURE = 1e-9
# Share of a train's strikes that must be at the exact cycle of their slot.
IN_PLACE = 0.9
# The width of a slot is chosen from the data among about this number of widths.
WIDTHS = 4.0
# Among strays, events of one train lie within this part of a turn at the comb's frequency.
PARTS_OF_A_TURN = 64
# The comb's frequency is up to this multiple of theirs; more events show a single line.
LOWEST_FRACTION = 64
MOST_AMONG_STRAYS = 2000
# Samples off by no more than this many cycles are one event: a late wake-up delays the next ones.
NEIGHBOURS = 2


@dataclass(frozen=True)
class Periodic:
    """Short strikes at one period.

    `every` is an Estimate of the period in cycles, with its 95 % interval from the positions of the
    strikes; `first` is the cycle of the first slot. `amplitude` is an Estimate: the median of the
    strikes' extremes from the median of the series, with an interval of order statistics; it covers
    all slots if those without an event are also struck, below the threshold. `largest` is the
    extreme strike; both are signed and in the unit of the samples. `strikes` of `slots` slots were
    struck. `p_value` is corrected for the whole search.
    """

    every: Estimate
    first: float
    amplitude: Estimate
    largest: float
    strikes: int
    slots: int
    p_value: float


@dataclass(frozen=True)
class Sporadic:
    """One event without a period: its first `cycle`, signed `size` and duration in `cycles`."""

    cycle: int
    size: float
    cycles: int


@dataclass(frozen=True, eq=False)
class Disturbances:
    """The disturbances of a series; samples farther than `threshold` from `median` are events.

    `events` is their number; `periodic` are trains of strikes, the most significant first; `waves`
    are smooth periodic disturbances below the threshold; `sporadic` are the largest of the other
    events, `sporadic_events` in all. `alpha`: at most this share of series without a period gets
    one reported. `reason` is set if no period could be detected.
    """

    n: int
    median: float
    threshold: float
    events: int
    periodic: tuple[Periodic, ...]
    waves: tuple[Wave, ...]
    sporadic: tuple[Sporadic, ...]
    sporadic_events: int
    alpha: float
    reason: str = ""


def find_disturbances(
    samples: npt.ArrayLike,
    *,
    cycles: npt.ArrayLike | None = None,
    slowest: float | None = None,
    alpha: float = 0.01,
    step: float = 0.0,
    rounding: float = 0.0,
) -> Disturbances:
    """Finds the disturbances in the jitter `samples` (n,), n >= 64, of the cycles `cycles` (n,)
    (None: every cycle).

    Method: events lie 5 robust standard deviations (MAD and IQR) from the median, and in the outer
    fifth; late and early ones are examined separately. A period is searched among all events, then
    the larger half, quarter, ..., so that rare large strikes are not lost among many small ones:
    once by the largest line of the events' periodogram (event_period.py), once by all harmonics
    together (pulse_train.py). Each period found is recorded and removed, and the search is
    repeated, up to eight times. `alpha` is shared by all searches of a round, so that a series
    without a period gets one reported with at most that probability; simulated shares are in
    docs/explanation/jitter.md. Smooth periodic disturbances below the threshold are lines in the
    spectrum of the other samples (waves.py), with periods up to `slowest` cycles. An event is
    farther from the median than `step`, that of the clock, and a wave larger than `rounding`, the
    numerical error of the samples: neither is a disturbance. A train needs six
    strikes and five full periods. Periods under five cycles, or that drift by more than a quarter
    of a period over the series, are not found. Undefined if `cycles` are not cycle numbers
    (cycles.check_span).
    """
    array = as_samples(samples, "disturbances", needed=64)
    n = array.size
    places = np.arange(n) if cycles is None else np.asarray(cycles)
    if places.shape != (n,) or (np.diff(places) <= 0).any():
        raise Undefined("disturbances", f"cycles are not {n} ascending numbers", cause="cycles")
    check_span(places, "disturbances")
    places = (places - places[0]).astype(np.intp)
    length = int(places[-1]) + 1
    data = order(array)
    median = data.median
    reach = max(DEVIATIONS * robust_spread(data), step, rounding)
    late = max(median + reach, data.quantile(1.0 - LARGEST_SHARE))
    early = min(median - reach, data.quantile(LARGEST_SHARE))
    sides = [
        _events(array, places, np.flatnonzero(array > late), median),
        _events(array, places, np.flatnonzero(array < early), median),
    ]
    searched = max(1, sum(side.cycle.size >= FEWEST_EVENTS for side in sides))
    periodic: list[Periodic] = []
    rest: list[_Events] = []
    for side in sides:
        trains, left = _trains(side, length, alpha / 2.0 / searched)
        periodic += [_of_all_slots(train, array, places, median, reach) for train in trains]
        rest.append(left)
    quiet = np.asarray(np.where((array > late) | (array < early), median, array), dtype=np.float64)
    waves = find_waves(quiet - median, places, length, slowest, alpha / 2.0)
    waves = tuple(wave for wave in waves if wave.amplitude > rounding)
    left = _join(rest)
    largest = np.argsort(-np.abs(left.size))[:LISTED]
    count = sum(side.cycle.size for side in sides)
    return Disturbances(
        n=n,
        median=median,
        threshold=reach,
        events=count,
        periodic=tuple(sorted(periodic, key=lambda train: train.p_value)),
        waves=_not_of(waves, periodic, length),
        sporadic=tuple(
            Sporadic(int(left.cycle[i]), float(left.size[i]), int(left.lasted[i])) for i in largest
        ),
        sporadic_events=int(left.cycle.size),
        alpha=alpha,
        reason=(
            f"{count} events: fewer than {FEWEST_EVENTS}, too few to show a period"
            if count < FEWEST_EVENTS
            else ""
        ),
    )


@dataclass(frozen=True, eq=False)
class _Events:
    """Runs of outliers: first cycle, extreme deviation from the median, cycles spanned."""

    cycle: Indices
    size: Floats
    lasted: Indices

    def only(self, chosen: npt.NDArray[np.bool_] | Indices) -> _Events:
        return _Events(self.cycle[chosen], self.size[chosen], self.lasted[chosen])


def _events(array: Array, places: Indices, outside: Indices, median: float) -> _Events:
    if outside.size == 0:
        return _Events(places[:0], np.zeros(0), places[:0])
    where = places[outside]
    begins = np.flatnonzero(np.diff(where, prepend=-NEIGHBOURS - 1) > NEIGHBOURS)
    off = array[outside].astype(np.float64) - median
    extreme = np.maximum.reduceat(np.abs(off), begins)
    last = where[np.append(begins[1:], where.size) - 1]
    return _Events(
        where[begins], extreme * float(np.sign(off[0])), np.asarray(last - where[begins] + 1)
    )


def _join(sides: list[_Events]) -> _Events:
    return _Events(
        np.concatenate([side.cycle for side in sides]),
        np.concatenate([side.size for side in sides]),
        np.concatenate([side.lasted for side in sides]),
    )


def _trains(events: _Events, length: int, alpha: float) -> tuple[list[Periodic], _Events]:
    """Periodic trains of strikes among `events`, and the other events."""
    trains: list[Periodic] = []
    while len(trains) < MOST and events.cycle.size >= FEWEST_EVENTS:
        best = _surest(events, length)
        if best is None or best.p_value >= alpha:
            break
        struck = best.all_of(events)
        trains.append(_describe(events.only(struck), best, length))
        events = events.only(~struck)
    return trains, events


@dataclass(frozen=True, eq=False)
class _Train:
    """A line through strikes: slots at `first` + `every` * k, strikes within `near` of one."""

    every: float
    first: float
    near: float
    size: float  # typical, without sign
    p_value: float

    def all_of(self, events: _Events) -> npt.NDArray[np.bool_]:
        """Which events belong to it: near a slot, and not much smaller, which would be chance."""
        turns = (events.cycle - self.first) / self.every
        off = np.abs(turns - np.round(turns)) * self.every
        return np.asarray((off <= self.near) & (np.abs(events.size) > 0.25 * self.size))


def _surest(events: _Events, length: int) -> _Train | None:
    """The most significant train; its p-value is corrected for all groups searched."""
    by_size = np.argsort(-np.abs(events.size), kind="stable")
    best: _Train | None = None
    count = events.cycle.size
    searches = 3 * _groups(count)
    while count >= FEWEST_EVENTS:
        group = events.only(np.sort(by_size[:count]))
        power = spectrum(group.cycle, length)
        by_line, by_comb = (
            search(group.cycle, length, None, power),
            search_comb(power, count, length),
        )
        for (p_value, frequency), among_strays in (
            (by_line, False),
            (by_comb, False),
            (by_comb, True),
        ):
            if p_value >= 0.5:
                continue
            train = (
                _among_strays(group, frequency, length, searches)
                if among_strays
                else _train(group, frequency, length, searches)
            )
            if train is not None and (best is None or train.p_value < best.p_value):
                best = train
        if best is not None and best.p_value < SURE:
            break
        count = _next(count)
    return best


def _next(count: int) -> int:
    return count // (4 if count > 64 else 2)


def _groups(count: int) -> int:
    """The number of groups of events to search: all, a part of them, a part of these, ..."""
    return 0 if count < FEWEST_EVENTS else 1 + _groups(_next(count))


def _train(group: _Events, frequency: float, length: int, searches: int) -> _Train | None:
    """The train at about `frequency`, or at its slowest fraction that explains as much."""
    frequency = fundamental(group.cycle, frequency, length)
    train = _through(group, frequency, length, searches)
    if train is None:
        return None
    # Repeat without the strays, which divide gaps and hide the length of the period.
    alone = group.only(train.all_of(group))
    slower = fundamental(alone.cycle, 1.0 / train.every, length)
    if slower < 0.75 * frequency and slower * length >= FEWEST_PERIODS:
        better = _through(alone, slower, length, searches)
        if better is not None:
            chance = _chance(group, better.every, better.first, better.near, length)
            train = replace(better, p_value=min(1.0, chance * searches))
    return train


def _among_strays(group: _Events, frequency: float, length: int, searches: int) -> _Train | None:
    """The train at `frequency` or a fraction of it, if most events do not belong to it.

    Then their mean phase is useless, and the comb's frequency may be any multiple, because a train
    has as many harmonics there. For each fraction, a line starts from the fullest 64th of a turn;
    the most significant line is taken (_chance corrects for all frequencies).
    """
    best: _Train | None = None
    if group.cycle.size > MOST_AMONG_STRAYS:
        return None
    for divisor in range(1, LOWEST_FRACTION + 1):
        lower = frequency / divisor
        if lower * length < FEWEST_PERIODS:
            break
        fullest = _fullest(group.cycle, lower, length * divisor)
        if np.unique(fullest).size < FEWEST_EVENTS:
            continue
        train = _through(group, lower, length, searches, fullest)
        if train is not None and (best is None or train.p_value < best.p_value):
            best = train
    return best


def _fullest(events: Indices, frequency: float, length: int) -> Indices:
    """The events in the fullest 64th of a turn, at the frequency (known to 1/32 of 1 / `length`)
    at which that contains most."""
    best, inside = 0, events[:0]
    width = 1.0 / PARTS_OF_A_TURN
    for nearby in frequency + np.linspace(-1.0, 1.0, 5) / (HARMONICS * length):
        turns = nearby * events % 1.0
        around = np.sort(turns)
        ahead = np.searchsorted(np.concatenate((around, around + 1.0)), around + width)
        held = ahead - np.arange(around.size)
        fullest = int(np.argmax(held))
        if held[fullest] > best:
            best = int(held[fullest])
            inside = events[(turns - around[fullest]) % 1.0 < width]
    return inside


def _through(
    group: _Events, frequency: float, length: int, searches: int, chosen: Indices | None = None
) -> _Train | None:
    """The train at `frequency` through `chosen` events (None: those in the most common phase)."""
    if frequency * length < FEWEST_PERIODS:
        return None
    struck: Indices = group.cycle[in_phase(group.cycle, frequency)] if chosen is None else chosen
    every, first = line(struck, frequency)
    near = 0.0
    # The frequency is known to a fraction of a turn over the series; the fitted line is better.
    for _ in range(4):
        turns = (group.cycle - first) / every
        slot = np.round(turns)
        off = np.abs(turns - slot) * every
        typical = float(np.median(off[np.isin(group.cycle, struck)]))
        near = min(max(1.5, 4.0 * typical), 0.25 * every)
        inside = off <= near
        if np.unique(slot[inside]).size < FEWEST_EVENTS:
            return None
        struck = group.cycle[inside]
        centre = float(slot[inside].mean())
        apart = slot[inside] - centre
        every = float(apart @ struck) / float(apart @ apart)
        first = float(struck.mean()) - every * centre
    if every < 2.0 or length / every < FEWEST_PERIODS:
        return None
    chance = _chance(group, every, first, near, length)
    size = float(np.median(np.abs(group.size[np.isin(group.cycle, struck)])))
    return _Train(every, first % every, near, size, min(1.0, chance * searches))


def _chance(group: _Events, every: float, first: float, near: float, length: int) -> float:
    """Probability that random events are as much in step, corrected for the whole search.

    A share w of the cycles lies within `near` of a slot. Of m separate events, s slots are struck:
    P(binomial(m - 1, w) >= s - 1), times the possible places of the first slot (anchored on an
    event: m) and the frequencies distinguishable at this w (phases may turn by w over the series),
    searched or not: a union bound, so the true probability is smaller.
    """
    share = min(1.0, (2.0 * near + 1.0) / every)
    turns = (group.cycle - first) / every
    slot = np.round(turns)
    inside = np.abs(turns - slot) * every <= near
    struck = np.unique(slot[inside]).size
    # A cluster of events counts as one: all would be near the same slot.
    cells = np.unique(np.floor(group.cycle[~inside] / (2.0 * near + 1.0))).size
    events = struck + cells
    tail = float(bdtrc(max(struck - 2, 0), events - 1, share)) if struck >= 2 else 1.0
    frequencies = 0.5 * length / share
    return float(min(1.0, tail * events * frequencies * WIDTHS))


def _describe(train: _Events, of: _Train, length: int) -> Periodic:
    """The train's figures: its period from a line through the strikes, its size by the median."""
    every, first = of.every, of.first
    slot = np.round((train.cycle - first) / every)
    off = train.cycle - first - every * slot
    centred = slot - slot.mean()
    free = max(1, train.cycle.size - 2)
    # Places are whole cycles: the error is at least that of rounding.
    spread = max(math.sqrt(float(off @ off) / free), math.sqrt(1.0 / 12.0))
    reach = float(stdtrit(free, 0.975)) * spread / max(math.sqrt(float(centred @ centred)), 1.0)
    slots = int((length - 1 - first) // every) + 1
    sizes = order(train.size)
    low, high = _median_ranks(train.size.size)
    middle = sizes.rank((sizes.n + 1) // 2)
    return Periodic(
        every=Estimate(every, every - reach, every + reach, 0.95),
        first=first,
        amplitude=Estimate(middle, sizes.rank(low), sizes.rank(high), 0.95),
        largest=float(train.size[np.argmax(np.abs(train.size))]),
        strikes=int(np.unique(slot).size),
        slots=max(slots, int(np.unique(slot).size)),
        p_value=of.p_value,
    )


def _of_all_slots(
    train: Periodic, array: Array, places: Indices, median: float, threshold: float
) -> Periodic:
    """The same with the amplitude over all slots, if some strikes are below the threshold.

    If a train is about as large as the threshold, only its larger strikes are events, and their
    median is too large. If the samples of the other slots are significantly struck, too (their
    median is 3 standard errors from that of the series), the amplitude is the median over all
    slots. Needs strikes at the exact cycle of their slot.
    """
    slots = np.round(train.first + train.every.value * np.arange(train.slots)).astype(np.intp)
    at = np.minimum(np.searchsorted(places, slots), places.size - 1)
    off = array[at[places[at] == slots]].astype(np.float64) - median
    sign = math.copysign(1.0, train.amplitude.value)
    small = sign * off[sign * off <= threshold]
    if small.size < FEWEST_EVENTS or off.size - small.size < IN_PLACE * train.strikes:
        return train
    spread = threshold / DEVIATIONS
    if float(np.median(small)) < 3.0 * math.sqrt(math.pi / 2.0 / small.size) * spread:
        return train
    sizes = order(off)
    low, high = _median_ranks(sizes.n)
    amplitude = Estimate(
        sizes.rank((sizes.n + 1) // 2),
        sizes.rank(low),
        sizes.rank(high),
        train.amplitude.confidence,
    )
    return replace(train, amplitude=amplitude)


def _median_ranks(n: int) -> tuple[int, int]:
    """Ranks of the order statistics around the median, at 95 % (binomial, normal limit)."""
    low = max(1, math.floor((n + 1) / 2.0 - 0.98 * math.sqrt(n)))
    return low, n + 1 - low


def _not_of(waves: tuple[Wave, ...], trains: list[Periodic], length: int) -> tuple[Wave, ...]:
    """Removes low harmonics of reported trains, which their weak strikes leave."""

    def of(wave: Wave, train: Periodic) -> bool:
        times = train.every.value / wave.every
        return round(times) <= 32 and abs(times - round(times)) < 2.0 * train.every.value / length

    return tuple(wave for wave in waves if not any(of(wave, train) for train in trains))
