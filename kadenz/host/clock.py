# SPDX-License-Identifier: Apache-2.0
"""Measures how far this machine's clock can be trusted, in under a second without a compiler.

Reads CLOCK_MONOTONIC, the clock of the Linux port, through Python: the cost is an upper bound. The
suite measures the same clock in C at the start of every run (clock/*).
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
_ENDS = 200  # pairs of readings at either end of the rate measurement; the closest pair counts
# NTP steers by up to 500 ppm (adjtimex(2)); a rate beyond that is a fault.
_STEERING_PPM = 500.0
# A coarser step hides the shortest operations of the suite (about 1 us).
_COARSE_NS = 1000

Read = Callable[[int], int]  # clock id -> ns
Pair = tuple[float, int, int]  # this clock, the other one, and the width of the bracket, in ns


@dataclass(frozen=True)
class Rate:
    """The rate of one clock against another, with its uncertainty."""

    against: str
    ppm: float
    uncertainty_ppm: float


@dataclass(frozen=True)
class ClockCheck:
    """Properties of CLOCK_MONOTONIC; times in ns."""

    readings: int
    nominal_resolution_ns: int  # as reported by the kernel
    resolution_ns: int  # smallest observed step above zero
    read_cost_ns: float  # total time over number of readings; an upper bound (Python)
    longest_gap_ns: int  # longest time between two readings: this process was preempted
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
    """Measure the clock: steps, cost, order on one processor and across all, rates.

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
    """The rate of CLOCK_MONOTONIC over a whole run, from two looks at another clock of a
    millisecond each. A longer run gives a smaller uncertainty."""

    def __init__(self, read: Read = time.clock_gettime_ns) -> None:
        self._read = read
        self._first = _closest_pair(read, time.CLOCK_MONOTONIC_RAW)

    def end(self) -> tuple[Rate, float]:
        """The rate since the beginning, and the elapsed seconds."""
        second = _closest_pair(self._read, time.CLOCK_MONOTONIC_RAW)
        rate = Rate("CLOCK_MONOTONIC_RAW", *_between(self._first, second, resolution_ns=1))
        return rate, (second[1] - self._first[1]) / 1e9


def _steps(read: Read, readings: int) -> tuple[list[int], float]:
    """Differences of successive readings, and the cost of one reading."""
    seen = [read(MONOTONIC) for _ in range(readings + 1)]
    steps = [after - before for before, after in pairwise(seen)]
    return steps, (seen[-1] - seen[0]) / readings


def _hops(read: Read, move: Callable[[int], None], processors: tuple[int, ...]) -> list[int]:
    """Differences between readings on one processor and on the next."""
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

    The true time lies anywhere within a reading's bracket, widened by the clock's own step.
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
    # Without a single ordered pair the clock is useless; _problems reports its backward steps.
    return best or (float(before), other, 0)


def _problems(resolution_ns: int, backward: list[int], rates: tuple[Rate, ...]) -> list[str]:
    problems = []
    if backward:
        problems.append(
            f"it ran backwards {len(backward)} times, by up to {max(backward)} ns: no figure from "
            "this machine can be trusted"
        )
    if resolution_ns == 0:
        problems.append("it did not move between readings")
    elif resolution_ns > _COARSE_NS:
        problems.append(f"its smallest step is {resolution_ns} ns, too coarse for short operations")
    problems += [
        f"it runs {rate.ppm:+.0f} ppm against {rate.against}: more than steering explains"
        for rate in rates
        if abs(rate.ppm) > _STEERING_PPM + rate.uncertainty_ppm
    ]
    return problems
