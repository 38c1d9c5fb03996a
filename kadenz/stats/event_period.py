# SPDX-License-Identifier: Apache-2.0
"""The period of events: searched, tested against chance, distinguished from its harmonics."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.fft

from kadenz.stats.samples import Array, Floats

Indices = npt.NDArray[np.intp]

# A spectral line needs this number of periods to be distinguished from slow wander ...
FEWEST_CYCLES = 8
# ... and the fundamental, whose harmonic the line may be, this number.
FEWEST_PERIODS = 5
# Two crystals differ by at most this (50 ppm each), so a tick may be this far off its rate.
TICK_TOLERANCE = 100e-6
TICK_HARMONICS = 3
# Frequencies over which the local level of the spectrum is taken.
NEIGHBOURS = 64
# The first ordinates use blocks of a quarter of that.
LOW_END = 1024


def spectrum(events: Indices, length: int) -> Array:
    """Periodogram of `events` (m,) on an even grid of `length`, padded to a fast size: ordinates
    of 0 ... 0.5 cycles per sample."""
    mask = np.zeros(padded(length), dtype=np.float32)
    mask[events] = 1.0
    return np.asarray(np.abs(scipy.fft.rfft(mask)) ** 2)


def padded(length: int) -> int:
    """Length of the transform of a grid of `length`."""
    return int(scipy.fft.next_fast_len(length, real=True))


def search(
    events: Indices, length: int, rate: float | None, power: Array | None = None
) -> tuple[float, float]:
    """The most significant frequency in cycles per sample, and its p-value over the whole search.

    `events` (m,) are places on an even grid of `length`; `rate` is the tick's in cycles per sample.
    `power` is their `spectrum`, if the caller has it. It is divided by its local level; the largest
    ordinate is tested with a correction for all of them, the tick's lines separately. The frequency
    may be a harmonic.
    """
    power = spectrum(events, length) if power is None else power
    bins = padded(length)
    relative = power / local_level(power, 0.5 * events.size)
    relative[: FEWEST_CYCLES * bins // length + 1] = 0.0
    best = int(np.argmax(relative))
    p_all = _tail(float(relative[best]), relative.size)
    frequency = _lowest_peak(relative, best) / bins
    if rate is None:
        return p_all, frequency
    tick = _tick_bins(rate, bins, length)
    if tick.size == 0:
        return min(1.0, 2.0 * p_all), frequency
    tick_best = int(tick[np.argmax(relative[tick])])
    p_tick = _tail(float(relative[tick_best]), tick.size)
    # Two searches: each gets half of alpha.
    if p_tick < p_all:
        return min(1.0, 2.0 * p_tick), tick_best / bins
    return min(1.0, 2.0 * p_all), frequency


def _lowest_peak(relative: Floats, best: int) -> int:
    """The lowest ordinate that stands out like the largest one.

    The harmonics of short strikes are about equally high, and the highest of them is random;
    between two bins an ordinate loses up to 60 %.
    """
    floor = max(0.35 * float(relative[best]), math.log(relative.size / 0.01))
    high = np.flatnonzero(relative[: best + 1] >= floor)
    if high.size == 0:
        return best
    # The first bin of a peak may be its flank.
    first = int(high[0])
    return first + int(np.argmax(relative[first : first + 3]))


def local_level(power: Array, least: float) -> Floats:
    """Upper estimate of the spectrum's local mean: median / ln 2 of blocks, at least `least` (for
    events half of the expected value).

    Takes the largest of a block and its two neighbours, because clusters make the spectrum fall
    steeply; blocks are short at the low end, where it falls most.
    """
    head = min(power.size, LOW_END)
    sizes = [NEIGHBOURS // 4, NEIGHBOURS] if power.size > head else [NEIGHBOURS // 4]
    parts = [
        _block_medians(part, size)
        for part, size in zip((power[:head], power[head:]), sizes, strict=False)
    ]
    medians = np.concatenate(parts)
    around = np.concatenate((medians[:1], medians, medians[-1:]))
    medians = np.maximum(np.maximum(around[:-2], around[1:-1]), around[2:]) / math.log(2.0)
    lengths = np.repeat(sizes, [part.size for part in parts])
    level: Floats = np.repeat(np.maximum(medians, least), lengths)
    # The short blocks cover `head` exactly or are all there is.
    return level[: power.size]


def _block_medians(power: Array, length: int) -> Floats:
    """Medians of consecutive blocks; a shorter last one takes the last `length` ordinates."""
    whole = power.size // length
    # Sorting short rows is eight times as quick as numpy's median of each.
    rows = np.sort(power[: whole * length].reshape(whole, length), axis=1)
    medians = (rows[:, (length - 1) // 2] + rows[:, length // 2]) / 2
    if whole * length < power.size:
        medians = np.append(medians, np.median(power[-length:]))
    return np.asarray(medians, dtype=np.float64)


def _tail(largest: float, searched: int) -> float:
    """P(the largest of `searched` unit exponentials exceeds `largest`)."""
    return -math.expm1(searched * math.log1p(-math.exp(-largest))) if largest > 0.0 else 1.0


def _alias(rate: float) -> float:
    """Aliased frequency of `rate` cycles per sample: 0 ... 0.5."""
    return abs(rate - round(rate))


def _tick_lines(rate: float, length: int) -> list[tuple[float, float]]:
    """Frequency and tolerance of the tick and its harmonics as sampled, if distinguishable.

    If the sampling is in step with the tick, as closely as two crystals can be, there is no line:
    any slow period would fit it.
    """
    lines = []
    for harmonic in range(1, TICK_HARMONICS + 1):
        centre = _alias(harmonic * rate)
        reach = harmonic * rate * TICK_TOLERANCE + 1.0 / length
        if centre > reach:
            lines.append((centre, reach))
    return lines


def _tick_bins(rate: float, bins: int, length: int) -> Indices:
    """Ordinates of the tick's lines."""
    chosen: list[Indices] = [np.zeros(0, dtype=np.intp)]
    for centre, reach in _tick_lines(rate, length):
        low = max(math.floor((centre - reach) * bins), FEWEST_CYCLES * bins // length + 1)
        high = min(math.ceil((centre + reach) * bins), bins // 2)
        chosen.append(np.arange(low, high + 1))
    return np.unique(np.concatenate(chosen))


def _resultant(events: Indices, frequencies: Floats) -> Floats:
    """Mean resultant length of the events' phases at each frequency: 1 = all in step."""
    few = events[:: max(1, events.size // 2048)]
    return np.asarray(np.abs(np.exp(2j * np.pi * np.outer(frequencies, few)).mean(axis=1)))


def _refine(events: Indices, frequency: float, length: int) -> tuple[float, float]:
    near = frequency + np.linspace(-1.0, 1.0, 81) / length
    lengths = _resultant(events, near)
    best = int(np.argmax(lengths))
    return float(near[best]), float(lengths[best])


def fundamental(events: Indices, frequency: float, length: int) -> float:
    """The lowest fraction of `frequency` at which the events' phases agree equally well.

    The peak may be any harmonic. Fractions tried: up to 8, and those that make the period a
    quartile of the gaps between events, or a half, third or quarter of one (slots not all struck).
    """
    refined, agreement = _refine(events, frequency, length)
    gaps = np.quantile(np.diff(events), (0.25, 0.5, 0.75))
    near = np.round(refined * np.divide.outer(gaps, np.arange(1, 5))).astype(np.int64)
    divisors = np.unique(np.concatenate((np.arange(2, 9), *(near.ravel() + i for i in (-1, 0, 1)))))
    for divisor in divisors[::-1]:
        if divisor < 2 or refined / divisor * length < 2.0:
            continue
        lower, resultant = _refine(events, refined / float(divisor), length)
        if resultant >= 0.9 * agreement:
            return lower
    return refined


def line(events: Indices, frequency: float) -> tuple[float, float]:
    """Period and first slot, by least squares of one phase's events on their slot number."""
    events = events[_around_phase(events, frequency)]
    turn = float(np.angle(np.exp(2j * np.pi * frequency * events).sum())) / (2.0 * np.pi)
    slots = np.round(frequency * events - turn)
    centred = slots - slots.mean()
    if not centred.any():
        return 1.0 / frequency, float(events[0])
    every = float(centred @ events) / float(centred @ centred)
    return every, float(events.mean() - every * slots.mean()) % every


def in_phase(events: Indices, frequency: float) -> npt.NDArray[np.bool_]:
    """Which events share a phase; a period may have several phases.

    The events around the most common phase, then those around the next one, as long as the others
    agree by more than chance (Rayleigh test at 0.001: count * resultant^2 > 6.9).
    """
    chosen = np.zeros(events.size, dtype=bool)
    left: Indices = np.arange(events.size)
    while left.size:
        phases = np.exp(2j * np.pi * frequency * events[left])
        if chosen.any() and abs(phases.sum()) ** 2 / left.size < -math.log(0.001):
            break
        around = _around_phase(events[left], frequency)
        chosen[left[around]] = True
        left = left[~around]
        if not around.any():
            break
    return chosen


def _around_phase(events: Indices, frequency: float) -> npt.NDArray[np.bool_]:
    """Which events are within three robust sd, at most a quarter turn, of the commonest phase."""
    mean = float(np.angle(np.exp(2j * np.pi * frequency * events).sum())) / (2.0 * np.pi)
    turns = frequency * events - mean
    off: Floats = np.asarray(turns - np.round(turns), dtype=np.float64)
    tolerance = 0.25
    for _ in range(4):
        inside = off[np.abs(off) <= tolerance]
        if inside.size == 0:
            break
        # Strays widen the first guess; each iteration is closer to the strikes.
        centre = float(np.median(inside))
        off = np.asarray(off - centre, dtype=np.float64)
        spread = 1.4826 * float(np.median(np.abs(inside - centre)))
        tolerance = min(0.25, max(1.5 * frequency, 3.0 * spread))
    return np.asarray(np.abs(off) <= tolerance)


def is_tick(frequency: float, rate: float, length: int) -> bool | None:
    """Whether the period is one of the tick's lines; None if the tick has none."""
    lines = _tick_lines(rate, length)
    if not lines:
        return None
    return any(abs(frequency - centre) <= reach for centre, reach in lines)
