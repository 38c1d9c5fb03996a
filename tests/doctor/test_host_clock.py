# SPDX-License-Identifier: Apache-2.0
"""A bad clock is detected, and a good one causes no alarm."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from kadenz.config.manifest import ClockEntry
from kadenz.host.clock import ClockCheck, RateOverRun, check_clock
from kadenz.lab.clock import checks_rate, enter_rate


class Clock:
    """A simulated machine: each reading takes time; the test chooses steps and rates."""

    def __init__(
        self,
        *,
        cost_ns: int = 20,
        step_ns: int = 1,
        rate_ppm: float = 0.0,
        jump_at: int = -1,
        jump_ns: int = 0,
        behind: dict[int, int] | None = None,
    ) -> None:
        self.now = 1_000_000_000
        self.reads = 0
        self.processor = 0
        self.cost_ns, self.step_ns, self.rate_ppm = cost_ns, step_ns, rate_ppm
        self.jump_at, self.jump_ns = jump_at, jump_ns
        self.behind = behind or {}

    def read(self, clock: int) -> int:
        self.reads += 1
        self.now += self.cost_ns
        if clock != time.CLOCK_MONOTONIC:
            return self.now
        shown = round(self.now * (1 + self.rate_ppm * 1e-6)) - self.behind.get(self.processor, 0)
        if self.reads == self.jump_at:
            shown += self.jump_ns
        return shown - shown % self.step_ns

    def sleep(self, seconds: float) -> None:
        self.now += round(seconds * 1e9)

    def move(self, processor: int) -> None:
        self.processor = processor


def check(clock: Clock, nominal: Callable[[int], float] = lambda _: 1e-9) -> ClockCheck:
    return check_clock(
        clock.read,
        nominal=nominal,
        move=clock.move,
        processors=(0, 1),
        sleep=clock.sleep,
        readings=1000,
    )


def test_a_good_clock_has_no_problem() -> None:
    finding = check(Clock())
    assert finding.problems == ()
    assert finding.resolution_ns == 20
    assert finding.nominal_resolution_ns == 1
    assert finding.read_cost_ns == 20
    assert finding.backward_steps == 0
    assert finding.processors == 2
    for rate in finding.rates:
        assert abs(rate.ppm) <= rate.uncertainty_ppm


def test_a_step_backwards_is_found() -> None:
    finding = check(Clock(jump_at=500, jump_ns=-1000))
    assert finding.backward_steps == 1
    assert finding.backward_worst_ns == 980
    assert "ran backwards 1 times, by up to 980 ns" in finding.problems[0]


def test_processors_that_disagree_are_found() -> None:
    finding = check(Clock(behind={1: 5000}))
    assert finding.backward_steps == 50
    assert finding.backward_worst_ns == 4980


def test_a_coarse_clock_is_found() -> None:
    finding = check(Clock(step_ns=4_000_000, cost_ns=50_000))
    assert finding.resolution_ns == 4_000_000
    assert finding.problems == ("its smallest step is 4000000 ns, too coarse for short operations",)


def test_a_clock_that_stands_still_is_found() -> None:
    class Frozen(Clock):
        def read(self, clock: int) -> int:
            self.reads += 1
            # It moves only after the steps were checked, otherwise the check would never end.
            return 10**9 if self.reads <= 1001 else super().read(clock) + 10**9

    assert "it did not move between readings" in check(Frozen()).problems


def test_a_wrong_rate_is_found_and_steering_is_not() -> None:
    assert check(Clock(rate_ppm=200)).problems == ()
    finding = check(Clock(rate_ppm=5000))
    assert len(finding.problems) == 2
    assert "+5000 ppm against CLOCK_MONOTONIC_RAW" in finding.problems[0]
    for rate in finding.rates:
        assert abs(rate.ppm - 5000) <= rate.uncertainty_ppm


def test_time_lost_to_other_processes_is_shown() -> None:
    finding = check(Clock(jump_at=500, jump_ns=3_000_000))
    assert finding.longest_gap_ns == 3_000_020


def test_this_machine_can_be_checked() -> None:
    finding = check_clock(span_ns=10_000_000, readings=1000)
    assert finding.resolution_ns > 0
    assert finding.read_cost_ns > 0
    assert finding.processors >= 1
    assert [rate.against for rate in finding.rates] == ["CLOCK_MONOTONIC_RAW", "CLOCK_BOOTTIME"]


def test_longer_runs_give_a_more_precise_rate() -> None:
    doubts = []
    for seconds in (1.0, 100.0):
        clock = Clock(rate_ppm=40.0)
        over = RateOverRun(clock.read)
        clock.sleep(seconds)
        rate, lasted = over.end()
        assert rate.ppm == pytest.approx(40.0, abs=rate.uncertainty_ppm)
        assert lasted == pytest.approx(seconds, rel=0.01)
        doubts.append(rate.uncertainty_ppm)
    assert doubts[1] < doubts[0] / 50


def test_a_run_names_the_reference_of_its_clock() -> None:
    entry = ClockEntry(clock_class="hosted", name="clock_monotonic", hz=10**9, bits=64, unit="ns")
    clock = Clock(rate_ppm=-3.0)
    over = RateOverRun(clock.read)
    clock.sleep(20.0)
    enter_rate(entry, over)
    assert entry.checked_against.startswith("CLOCK_MONOTONIC_RAW over 20 s, ± 0.0")
    assert entry.rate_error_ppm == pytest.approx(-3.0, abs=0.01)


def test_only_clocks_of_this_machine_are_compared_with_each_other() -> None:
    entry = ClockEntry(clock_class="instruction", name="mcycle", hz=0, bits=32, unit="instruction")
    assert not checks_rate(entry, "emulated")
    entry.name = "clock_monotonic"
    assert checks_rate(entry, "host")
    assert not checks_rate(entry, "guest")
