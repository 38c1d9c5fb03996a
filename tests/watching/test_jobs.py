# SPDX-License-Identifier: Apache-2.0
"""Events in, jobs out: every figure is known in advance, to the nanosecond."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kadenz.watching.causes import EXECUTION, EXECUTION_FAULTS, causes_of, parts_of
from kadenz.watching.jobs import Job, Watched
from tests.watching.scenario import CTL, HOG, LOW, PERIOD, Disturbance, Scenario, periodic

DEADLINE = 200e3  # ns


def nothing(scenario: Scenario, at: float) -> None:
    """The release does not happen."""


def preempted(scenario: Scenario, at: float) -> None:
    """hog runs for 250 µs in the middle; an interrupt of 20 µs is on top of it."""
    scenario.release(at)
    scenario.wake(at + 50, 0, CTL, HOG)
    scenario.switch(at + 51, 0, CTL, HOG, "R+")
    scenario.add(at + 100, 0, HOG, "irq_handler_entry: irq=24 name=virtio0")
    scenario.add(at + 120, 0, HOG, "irq_handler_exit: irq=24 ret=handled")
    scenario.switch(at + 301, 0, HOG, CTL)
    scenario.finish(at + 355)


def late_start(scenario: Scenario, at: float) -> None:
    """low, less urgent, keeps the processor for 300 µs behind the wake-up."""
    scenario.switch(at - 50, 0, 0, LOW, "R")
    scenario.timer(at, at + 3, 0, LOW)
    scenario.wake(at + 2, 0, LOW, CTL)
    scenario.switch(at + 303, 0, LOW, CTL, "R+")
    scenario.call(at + 303, 0, CTL, "sys_clock_nanosleep -> 0x0")
    scenario.finish(at + 403)
    scenario.switch(at + 403.5, 0, 0, LOW, "R")
    scenario.switch(at + 404, 0, LOW, 0)


def interrupted(scenario: Scenario, at: float) -> None:
    """An interrupt of 180 µs, and a soft interrupt of 30 µs inside it."""
    scenario.release(at)
    scenario.add(at + 40, 0, CTL, "irq_handler_entry: irq=27 name=eth0")
    scenario.add(at + 100, 0, CTL, "softirq_entry: vec=3 [action=NET_RX]")
    scenario.add(at + 130, 0, CTL, "softirq_exit: vec=3 [action=NET_RX]")
    scenario.add(at + 220, 0, CTL, "irq_handler_exit: irq=27 ret=handled")
    scenario.finish(at + 285)


def lock_held(scenario: Scenario, at: float) -> None:
    """ctl waits 400 µs for a lock that low holds; hog preempts low for 300 µs of them."""
    scenario.release(at)
    scenario.call(at + 20, 0, CTL, "sys_futex(uaddr: 0x7f00, op: 0x80, val: 0x2)")
    scenario.switch(at + 20, 0, CTL, LOW)
    scenario.switch(at + 60, 0, LOW, HOG, "R+")
    scenario.switch(at + 360, 0, HOG, LOW)
    scenario.wake(at + 420, 0, LOW, CTL)
    scenario.switch(at + 424, 0, LOW, CTL, "R+")
    scenario.call(at + 424, 0, CTL, "sys_futex -> 0x0")
    scenario.finish(at + 504)
    scenario.switch(at + 504.5, 0, 0, LOW, "R")
    scenario.switch(at + 505, 0, LOW, 0)


def faulting(scenario: Scenario, at: float) -> None:
    """64 page faults: the job executes 300 µs instead of 100."""
    scenario.release(at)
    for i in range(64):
        scenario.add(at + 10 + i, 0, CTL, "page_fault_user: address=0x7f ip=0x40 error_code=0x6")
    scenario.finish(at + 305)


def migrated(scenario: Scenario, at: float) -> None:
    """migration/0 moves ctl to CPU 1, which is idle and takes 250 µs to wake up."""
    scenario.release(at)
    scenario.switch(at + 50, 0, CTL, 9, "R+")
    scenario.add(
        at + 52, 0, 9, f"sched_migrate_task: comm=ctl loop pid={CTL} prio=19 orig_cpu=0 dest_cpu=1"
    )
    scenario.switch(at + 54, 0, 9, 0)
    scenario.switch(at + 302, 1, 0, CTL, "R")
    scenario.finish(at + 357, cpu=1)


def cause(of: Watched) -> tuple[str, int, str]:
    (only,) = causes_of(of.jobs, DEADLINE)
    assert (only.count, only.late) == (1, 1)
    return only.name, only.most, only.detail


def the_late_job(of: Watched) -> Job:
    (late,) = (job for job in of.jobs if job.response > DEADLINE)
    return late


def test_an_interrupt_with_another_inside_counts_once() -> None:
    assert the_late_job(periodic(60, {9: interrupted}).watched()).handled == 2


def test_an_undisturbed_job_has_exact_times() -> None:
    of = periodic(20, {}).watched()
    assert len(of.jobs) == 20
    for i, job in enumerate(of.jobs):
        assert (job.cycle, job.latency, job.response, job.executed) == (i, 3_000, 103_000, 100_000)
        assert [(part.cause, part.spent) for part in parts_of(job)] == [
            (EXECUTION, 100_000),
            ("the processor was idle: it woke up", 2_000),
            ("interrupt local timer", 1_000),
        ]
    assert (of.name, of.priority, of.release) == ("ctl loop", 19, ("clock_nanosleep", ""))
    assert (of.missed, of.not_measured, of.cut) == (0, 0, 0)


def test_the_period_comes_with_its_evidence() -> None:
    of = periodic(50, {7: nothing}).watched()
    assert of.period is not None
    assert of.period.period == 1_000_000.0
    assert (of.period.intervals, of.period.on_grid, of.period.close) == (48, 48, 47)
    assert of.missed == 1
    assert [job.cycle for job in of.jobs] == [i for i in range(50) if i != 7]


@pytest.mark.parametrize(
    ("disturbance", "name", "excess", "detail"),
    [
        (preempted, "thread hog", 230_000, ""),
        (late_start, "thread low, less urgent", 300_000, ""),
        (interrupted, "interrupt eth0", 150_000, ""),
        (
            lock_held,
            "waits in futex, a lock, for thread low",
            400_000,
            "meanwhile on that processor thread hog 300 µs, thread low 100 µs",
        ),
        (faulting, EXECUTION_FAULTS, 200_000, "64 page faults"),
        (migrated, "a migration to another processor", 252_000, ""),
    ],
)
def test_a_planted_cause_is_named_with_its_size(
    disturbance: Disturbance, name: str, excess: int, detail: str
) -> None:
    of = periodic(30, {11: disturbance}).watched()
    assert len(of.jobs) == 30
    named, size, beside = cause(of)
    assert (named, beside) == (name, detail)
    assert size == pytest.approx(excess, abs=1_000)
    late = the_late_job(of)
    assert late.cycle == 11
    assert sum(part.spent for part in parts_of(late)) == late.response


def test_causes_are_summed_over_the_run() -> None:
    of = periodic(60, dict.fromkeys(range(5, 45), preempted) | {50: interrupted}).watched()
    first, second = causes_of(of.jobs, DEADLINE)
    assert (first.name, first.count, first.late) == ("thread hog", 40, 41)
    assert (first.least, first.median, first.most) == (230_000, 230_000, 230_000)
    assert (first.first_cycle, first.last_cycle) == (5, 44)
    assert (second.name, second.count) == ("interrupt eth0", 1)


def test_a_wait_for_a_lock_in_every_period_is_no_release() -> None:
    of = periodic(30, dict.fromkeys(range(30), lock_held)).watched()
    assert len(of.jobs) == 30
    assert of.release.place == "clock_nanosleep"
    assert {len(job.waits) for job in of.jobs} == {1}
    assert {job.response for job in of.jobs} == {502_000}


def test_without_system_calls_the_waker_tells_releases_from_waits() -> None:
    scenario = Scenario()
    scenario.switch(-10, 0, CTL, 0)
    for cycle in range(30):
        at = float(cycle * PERIOD)
        scenario.release(at, calls=False)
        scenario.switch(at + 20, 0, CTL, LOW)
        scenario.wake(at + 420, 0, LOW, CTL)
        scenario.switch(at + 424, 0, LOW, CTL, "R+")
        scenario.finish(at + 504, calls=False)
    of = scenario.watched()
    assert of.release.waker == "a timer"
    assert {job.response for job in of.jobs} == {502_000}
    assert {job.executed for job in of.jobs} == {95_000}


def test_a_job_that_lost_events_touch_is_not_judged() -> None:
    scenario = periodic(30, {11: preempted})
    scenario.lose(11 * PERIOD + 301, 0, 1234)
    of = scenario.watched()
    assert [gap.lost for gap in scenario.observed().gaps] == [1234]
    assert [job.cycle for job in of.jobs] == list(range(29))  # the cycle in the gap has no number
    assert (of.missed, of.not_measured) == (0, 1)
    assert not causes_of(of.jobs, DEADLINE)


def test_releases_in_a_gap_are_not_missed() -> None:
    scenario = periodic(40, dict.fromkeys(range(10, 15), nothing))
    scenario.lose(15 * PERIOD, 0, 40)
    of = scenario.watched()
    # 10 to 14, and 15: where the thread slept before it is not known
    assert (of.missed, of.not_measured) == (0, 6)
    assert [job.cycle for job in of.jobs] == list(range(34))


def never_started(scenario: Scenario, at: float) -> None:
    """The switch to ctl is not in the trace."""
    scenario.job(at)
    scenario.lines = [
        line for line in scenario.lines if line[0] != at + 5 or "sched" not in line[1]
    ]


def never_slept(scenario: Scenario, at: float) -> None:
    """The switch from ctl is not in the trace."""
    scenario.job(at)
    scenario.lines.pop()


@pytest.mark.parametrize(("disturb", "unseen"), [(never_started, 1), (never_slept, 2)])
def test_a_job_whose_switch_is_missing_is_not_judged(disturb: Disturbance, unseen: int) -> None:
    """Kernels were seen that do not record the switches of some threads. Behind a sleep that was
    not seen, where the thread slept is not known."""
    scenario = periodic(30, {11: disturb})
    of = scenario.watched()
    assert (of.missed, of.not_measured, len(of.jobs)) == (0, unseen, 30 - unseen)
    assert {job.response for job in of.jobs} == {103_000}
    observed = scenario.observed()
    before = "the idle thread" if disturb is never_started else "ctl loop"
    assert observed.threads[CTL].missing == {before: 1}
    assert not observed.gaps


def test_a_switch_that_is_missing_inside_a_job_leaves_the_response() -> None:
    """The processor was idle, and from its last event on its thread is unknown."""

    def moved_unseen(scenario: Scenario, at: float) -> None:
        migrated(scenario, at)
        scenario.lines = [line for line in scenario.lines if line[0] != at + 302]
        scenario.timer(at + 200, at + 203, 1, 0)

    of = periodic(30, {11: moved_unseen, 12: nothing}).watched()
    assert (of.not_measured, len(of.jobs)) == (0, 29)
    (job,) = [job for job in of.jobs if job.cycle == 11]
    assert job.response == 355_000
    parts = dict(parts_of(job))
    assert parts["a migration to another processor"] == 150_000  # 50 to 203, less the interrupt
    assert parts["unknown"] == 154_000  # 203 to the first event of ctl, 357
    assert sum(parts.values()) == job.response


def test_a_thread_without_a_period_says_so() -> None:
    scenario = Scenario()
    scenario.finish(-10)
    at = 0.0
    for i in range(40):
        scenario.job(at, work=50)
        at += 300 + (i * i * 7919) % 2003
    of = scenario.watched()
    assert of.period is None
    assert "whole multiples of one period" in of.no_period
    assert len(of.jobs) == 40 and {job.cycle for job in of.jobs} == {-1}


def test_a_given_period_replaces_the_one_of_the_releases() -> None:
    of = periodic(20, {}).watched(period_ns=500_000)
    assert of.missed == 19
    assert [job.cycle for job in of.jobs] == list(range(0, 40, 2))


def test_a_period_in_which_the_thread_did_not_sleep_has_no_job_of_its_own() -> None:
    def over_two(scenario: Scenario, at: float) -> None:
        scenario.job(at, work=1500)

    of = periodic(30, {11: over_two, 12: nothing}).watched()
    assert of.missed == 1
    assert the_late_job(of).response == 1_503_000


def test_a_thread_that_ends_has_its_last_job_cut() -> None:
    scenario = periodic(20, {})
    at = 20.0 * PERIOD
    scenario.release(at)
    scenario.add(at + 50, 0, CTL, f"sched_process_exit: comm=ctl loop pid={CTL} prio=19")
    scenario.switch(at + 60, 0, CTL, 0, "X")
    of = scenario.watched()
    assert of.ended and len(of.jobs) == 20 and of.cut == 1


def test_a_job_that_goes_on_at_the_end_is_cut() -> None:
    scenario = periodic(20, {})
    scenario.release(20.0 * PERIOD)
    scenario.call(20.0 * PERIOD + 20, 0, CTL, "sys_futex(uaddr: 0x7f00, op: 0x80, val: 0x2)")
    scenario.switch(20.0 * PERIOD + 20, 0, CTL, 0)
    of = scenario.watched()
    assert len(of.jobs) == 20 and of.cut == 1


def test_a_thread_that_inherits_a_priority_is_not_real_time() -> None:
    scenario = periodic(20, {5: lock_held})
    observed = scenario.observed()
    assert observed.threads[CTL].real_time
    assert not observed.threads[LOW].real_time


def test_the_share_of_each_cause_is_a_partition_of_the_response() -> None:
    every = (preempted, late_start, interrupted, lock_held, faulting, migrated)
    of = periodic(60, {5 + 8 * i: each for i, each in enumerate(every)}).watched()
    for job in of.jobs:
        assert sum(part.spent for part in parts_of(job)) == job.response
    assert replace(of, jobs=[]).jobs == []
