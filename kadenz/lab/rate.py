# SPDX-License-Identifier: Apache-2.0
"""The rate of a board's clock, measured against another clock by the record of `clock/rate`.

The configured rate is what the start-up calculates from its crystal and its PLL; kioxia2019
calculated 256 MHz and measured more than 280. The other clock is the board's second one, on an
oscillator of its own, or this machine's: from the frame that opens the record to its last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kadenz.config import manifest
from kadenz.config.board import BoardTier, SecondClock
from kadenz.config.manifest import ClockEntry, Manifest, RateEntry
from kadenz.lab.plan import RATE_BENCH, Point
from kadenz.store import Run
from kadenz.wire.messages import Bench

_INTERVALS = 5
_OF_SECOND_CLOCK_MS = 200
_OF_THIS_MACHINE_MS = 1000
# By how much one frame may be later here than another, in seconds. A USB adapter collects bytes for
# 16 ms, and this machine may pause. Through a debugger frames are fetched as they are found.
_LATENESS_S = {"uart": 0.05, "rtt": 0.25}
_CLOSING_BYTES = 300  # of the frames that end such a record
_BITS = 10  # of a byte on the line


def measures_rate(clock: ClockEntry, tier: str) -> bool:
    """Whether the clock of a run has a rate to be measured: on silicon, by the target's counter."""
    return tier == "board" and clock.clock_class == "hardware" and clock.hz > 0


def rate_point(catalog: Iterable[Bench], tier: BoardTier, number: int) -> list[Point]:
    """The point of a plan that measures the rate; none if the image cannot."""
    if not any(bench.name == RATE_BENCH and bench.available for bench in catalog):
        return []
    long = _OF_THIS_MACHINE_MS if tier.second_clock is None else _OF_SECOND_CLOCK_MS
    return [Point(number, RATE_BENCH, _INTERVALS, params={"milliseconds": long})]


@dataclass(frozen=True)
class Intervals:
    """A record of `clock/rate`: counts of each interval, and its length here in s."""

    clock: Sequence[int]
    second: Sequence[int]  # counts of the second clock; empty without one
    here_s: float


def by_second_clock(of: Intervals, second: SecondClock) -> tuple[float, float, float]:
    """The rate in Hz, its least and its greatest: the extremes of the intervals, widened by the
    tolerance of the second clock's oscillator."""
    rates = [a * second.hz / b for a, b in zip(of.clock, of.second, strict=True)]
    off = second.tolerance_ppm / 1e6
    middle = sum(of.clock) * second.hz / sum(of.second)
    return middle, min(rates) * (1.0 - off), max(rates) * (1.0 + off)


def by_this_machine(of: Intervals, lateness_s: float, line_s: float) -> tuple[float, float, float]:
    """The same from the time here between the frames that open and close the record.

    Either frame may be late by `lateness_s`; the closing ones take `line_s` on the line.
    """
    counts = sum(of.clock)
    longest, shortest = of.here_s + lateness_s, of.here_s - lateness_s - line_s
    return counts * 2.0 / (longest + shortest), counts / longest, counts / shortest


def enter_rate_of_board(document: Manifest, run: Run, tier: BoardTier, way: str) -> None:
    """Enters the measured rate into the clock of a run.

    A warning says if the clock deviates, or if its rate could not be measured.
    """
    clock = document.clock
    record = next((entry for entry in document.records if entry.bench == RATE_BENCH), None)
    if record is None or record.status != "ok" or record.duration_s is None:
        document.warnings.append(_unknown(clock, record.reason if record else "no such record"))
        return
    lanes = [[int(value) for value in run.samples(record, lane)] for lane in record.lanes]
    intervals = Intervals(lanes[0], lanes[1] if len(lanes) > 1 else (), record.duration_s)
    second = tier.second_clock
    if second is not None and intervals.second:
        against = f"{second.name} ({second.oscillator}, ± {second.tolerance_ppm:g} ppm)"
        seconds = sum(intervals.second) / second.hz
        hz, low, high = by_second_clock(intervals, second)
    else:
        against, seconds = "this machine's clock", intervals.here_s
        line_s = _CLOSING_BYTES * _BITS / tier.baud if way == "uart" else 0.0
        if seconds <= 2 * (_LATENESS_S[way] + line_s):
            why = f"{seconds:.3f} s are too short for frames that may be late"
            document.warnings.append(_unknown(clock, why))
            return
        hz, low, high = by_this_machine(intervals, _LATENESS_S[way], line_s)
    clock.checked_against = f"{against} over {seconds:.1f} s"
    clock.rate_error_ppm = round((hz / clock.hz - 1.0) * 1e6, 3)
    clock.rate = RateEntry(
        against=clock.checked_against,
        hz=round(hz, 1),
        low=round(low, 1),
        high=round(high, 1),
        tolerance_ppm=tier.clock_tolerance_ppm,
    )
    if clock.deviates:
        document.warnings.append(_deviates(clock, clock.rate))


def _unknown(clock: ClockEntry, why: str) -> manifest.Warning:
    return manifest.Warning(
        code="clock-rate-unknown",
        message=f"the rate of the clock {clock.name} was not measured: {why}. Figures in seconds "
        f"rely on the configured {clock.hz:,} Hz",
        remedy="Repeat the run; see docs/decisions/0060-a-clock-that-is-measured.md",
    )


def _deviates(clock: ClockEntry, rate: RateEntry) -> manifest.Warning:
    return manifest.Warning(
        code="clock-deviates",
        message=f"the clock {clock.name}, configured with {clock.hz:,} Hz, runs at {rate.hz:,.0f} "
        f"Hz ({rate.low:,.0f} to {rate.high:,.0f}), {rate.hz / clock.hz - 1:+.2%}, by "
        f"{rate.against}. "
        "Figures in seconds use the measured rate; periods of a kernel whose timer counts this "
        "clock are off by as much",
        remedy="Compare the board's crystal and the PLL's settings with its start-up and "
        "board.cmake",
    )
