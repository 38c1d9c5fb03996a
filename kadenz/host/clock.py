# SPDX-License-Identifier: Apache-2.0
"""How far this machine's clock may be trusted, measured in under a second without a compiler.

Reads CLOCK_MONOTONIC, which the Linux port stamps with, through Python: the cost seen is an upper
bound. The suite measures the same clock again in C at the start of every run (clock/*).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

MONOTONIC = time.CLOCK_MONOTONIC
_READINGS = 100_000
_HOPS = 50  # rounds over all processors
_ENDS = 200  # readings of two clocks at either end of the rate measurement; the closest pair counts
# Steering by NTP stays within 500 ppm (adjtimex(2)); a rate outside of it is a fault.
_STEERING_PPM = 500.0
# Coarser than this, and the shortest operations of the suite (about 1 us) drown in it.
_COARSE_NS = 1000

Read = Callable[[int], int]  # clock id -> ns
Pair = tuple[float, int, int]  # this clock, the other one, and the width of the bracket, in ns


@dataclass(frozen=True)
class Rate:
    """How much faster one clock runs than another, and how exactly that is known."""

    against: str
    ppm: float
    uncertainty_ppm: float


@dataclass(frozen=True)
class ClockCheck:
    """What was seen of CLOCK_MONOTONIC; times in ns."""

    readings: int
    nominal_resolution_ns: int  # what the kernel says
    resolution_ns: int  # smallest step seen that was not zero
    read_cost_ns: float  # time of all readings by their number: through Python, an upper bound
    longest_gap_ns: int  # between two readings: how long this process was kept away
    backward_steps: int
    backward_worst_ns: int
    processors: int  # compared with each other
    rates: tuple[Rate, ...]
    problems: tuple[str, ...]


def check_clock(
    read: Read = time.clock_gettime_ns,
    *,
    nominal: Callable[[int], float] = time.clock_getres,
    move: Callable[[int], None] | None = None,
    processors: tuple[int, ...] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    span_ns: int = 500_000_000,
    readings: int = _READINGS,
) -> ClockCheck:
    """Measure the clock: steps, cost, order on one and between all processors, rates.

    `read`, `nominal`, `move` (to a processor), `processors`, `sleep` replace the machine in tests.
    """
    steps, cost = _steps(read, readings)
    hops = _hops(read, move or _move_to, processors or tuple(sorted(os.sched_getaffinity(0))))
    backward = [-step for step in steps + hops if step < 0]
    forward = [step for step in steps if step > 0]
    resolution = min(forward, default=0)
    rates = tuple(
        Rate(name, *_rate(read, clock, resolution, span_ns, sleep))
        for clock, name in (
            (time.CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW"),
            (time.CLOCK_BOOTTIME, "CLOCK_BOOTTIME"),
        )
    )
    return ClockCheck(
        readings=readings,
        nominal_resolution_ns=round(nominal(MONOTONIC) * 1e9),
        resolution_ns=resolution,
        read_cost_ns=cost,
        longest_gap_ns=max(forward, default=0),
        backward_steps=len(backward),
        backward_worst_ns=max(backward, default=0),
        processors=len(processors or os.sched_getaffinity(0)),
        rates=rates,
        problems=tuple(_problems(resolution, backward, rates)),
    )


class RateOverRun:
    """The rate of CLOCK_MONOTONIC over a whole run: two glances at another clock, a millisecond
    each. The longer the run, the better it is known."""

    def __init__(self, read: Read = time.clock_gettime_ns) -> None:
        self._read = read
        self._first = _closest_pair(read, time.CLOCK_MONOTONIC_RAW)

    def end(self) -> tuple[Rate, float]:
        """The rate since the beginning, and how many seconds that was."""
        second = _closest_pair(self._read, time.CLOCK_MONOTONIC_RAW)
        rate = Rate("CLOCK_MONOTONIC_RAW", *_between(self._first, second, resolution_ns=1))
        return rate, (second[1] - self._first[1]) / 1e9


def _steps(read: Read, readings: int) -> tuple[list[int], float]:
    """Differences of successive readings, and the time one reading takes."""
    seen = [read(MONOTONIC) for _ in range(readings + 1)]
    steps = [after - before for before, after in pairwise(seen)]
    return steps, (seen[-1] - seen[0]) / readings


def _hops(read: Read, move: Callable[[int], None], processors: tuple[int, ...]) -> list[int]:
    """Differences of readings on one processor and then on the next."""
    before = os.sched_getaffinity(0)
    steps = []
    try:
        last = None
        for _ in range(_HOPS):
            for processor in processors:
                move(processor)
                now = read(MONOTONIC)
                if last is not None:
                    steps.append(now - last)
                last = now
    finally:
        os.sched_setaffinity(0, before)
    return steps


def _move_to(processor: int) -> None:
    os.sched_setaffinity(0, {processor})


def _rate(
    read: Read, clock: int, resolution_ns: int, span_ns: int, sleep: Callable[[float], None]
) -> tuple[float, float]:
    """Rate against `clock` over a span, by the closest pair at either end: ppm and uncertainty.

    A reading lies anywhere in its bracket, and anywhere in the step of the clock itself.
    """
    first = _closest_pair(read, clock)
    while read(MONOTONIC) - first[0] < span_ns:
        sleep(0.01)
    return _between(first, _closest_pair(read, clock), resolution_ns=resolution_ns)


def _between(first: Pair, second: Pair, *, resolution_ns: int) -> tuple[float, float]:
    """Rate and uncertainty in ppm from two pairs of readings."""
    span = second[1] - first[1]
    drift = (second[0] - first[0]) - span
    doubt = (first[2] + second[2]) / 2 + resolution_ns
    return drift / span * 1e6, doubt / span * 1e6


def _closest_pair(read: Read, clock: int) -> Pair:
    """Monotonic time at a reading of `clock`, that reading, and the width of the bracket, in ns."""
    best: Pair | None = None
    for _ in range(_ENDS):
        before = read(MONOTONIC)
        other = read(clock)
        after = read(MONOTONIC)
        if after >= before and (best is None or after - before < best[2]):
            best = ((before + after) / 2, other, after - before)
    # Without one pair in order the clock is useless, and _problems says so by its backward steps.
    return best or (float(before), other, 0)


def _problems(resolution_ns: int, backward: list[int], rates: tuple[Rate, ...]) -> list[str]:
    found = []
    if backward:
        found.append(
            f"it ran backwards {len(backward)} times, by up to {max(backward)} ns: "
            "no figure of this machine can be trusted"
        )
    if resolution_ns == 0:
        found.append("it did not move between readings")
    elif resolution_ns > _COARSE_NS:
        found.append(f"its smallest step is {resolution_ns} ns: short operations drown in it")
    found += [
        f"it runs {rate.ppm:+.0f} ppm against {rate.against}: more than steering explains"
        for rate in rates
        if abs(rate.ppm) > _STEERING_PPM + rate.uncertainty_ppm
    ]
    return found
