# SPDX-License-Identifier: Apache-2.0
"""Response-time analysis: sets computed by hand, closed forms, and schedules that are simulated."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadenz.stats.breaking_point import largest, least_whole
from kadenz.stats.exact import exact
from kadenz.stats.response_time import (
    Kernel,
    PeriodicTask,
    response_times,
    schedulable,
    utilisation,
)

NOTHING = Kernel()


def rows(*values: tuple[float, ...]) -> list[PeriodicTask]:
    """Tasks of (C, T) or (C, T, D), the most urgent first."""
    return [
        PeriodicTask(
            times[0], times[1], times[2] if len(times) > 2 else times[1], len(values) - place
        )
        for place, times in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("tasks", "known"),
    [
        # Burns and Wellings, Real-Time Systems and Programming Languages: 5, 11, 14, 17, 20.
        (rows((3, 7), (3, 12), (5, 20)), [3, 6, 20]),
        # Utilisation of 1 with harmonic periods.
        (rows((5, 20), (10, 40), (40, 80)), [5, 15, 80]),
        # By hand: 100, 180, 260, 300, and 300 again.
        (rows((40, 100), (40, 150), (100, 350)), [40, 80, 300]),
        # Lehoczky (1990), example 1: the fifth job of the busy period is the slowest.
        (rows((26, 70), (62, 100, 200)), [26, 118]),
    ],
)
def test_sets_with_known_answers(tasks: list[PeriodicTask], known: list[float]) -> None:
    assert response_times(tasks, NOTHING) == known


def test_blocking_and_jitter_by_hand() -> None:
    tasks = rows((3, 10), (4, 20))
    blocked = [replace(tasks[0], blocking=2), tasks[1]]
    assert response_times(blocked, NOTHING) == [5, 7]
    # Releases up to 4 late: the second task meets two jobs of the first from w = 6 on.
    assert response_times(tasks, Kernel(jitter=4)) == [7, 4 + 4 + 3 * 2]


def test_what_a_kernel_takes_by_hand() -> None:
    """One job of each: R = J + B + S + C, ticks, the other's job, or its release."""
    tasks = rows((300, 2000), (500, 4000))
    kernel = Kernel(tick_period=1000, tick=10, release=4, start=20, job=50, blocking=30, jitter=7)
    first, second = response_times(tasks, kernel)
    assert first == 7 + 30 + 20 + 300 + 10 + 4
    assert second == 7 + 20 + 500 + (300 + 50) + 10
    assert utilisation(tasks, kernel) == pytest.approx(350 / 2000 + 550 / 4000 + 10 / 1000)


def test_a_tick_costs_what_a_most_urgent_task_of_its_period_would() -> None:
    tasks = rows((3, 9), (5, 31), (2, 50))
    with_task = rows((1, 4), (3, 9), (5, 31), (2, 50))
    ticking = response_times(tasks, Kernel(tick_period=4, tick=1))
    assert ticking == response_times(with_task, NOTHING)[1:]


def test_more_than_the_processor_has_no_bound() -> None:
    assert response_times(rows((6, 10), (6, 12)), NOTHING) == [6, math.inf]
    assert response_times(rows((3, 10)), Kernel(tick_period=5, tick=5)) == [math.inf]
    assert not schedulable(rows((6, 10), (6, 12)), NOTHING)


# ---- against a schedule --------------------------------------------------------------------------
periods = st.sampled_from([2, 3, 4, 5, 6, 8, 10, 12])
sets = st.lists(st.tuples(st.integers(1, 6), periods), min_size=1, max_size=4).filter(
    lambda some: sum(c / t for c, t in some) <= 1.0
)


def simulated(tasks: list[PeriodicTask]) -> list[float]:
    """The longest responses in twice the hyperperiod, all released together, unit by unit."""
    end = 2 * math.lcm(*(int(task.period) for task in tasks))
    queued: list[list[list[int]]] = [[] for _ in tasks]  # of each: [released, left]
    worst = [0.0] * len(tasks)
    order = sorted(range(len(tasks)), key=lambda place: -tasks[place].urgency)
    for now in range(end):
        for place, task in enumerate(tasks):
            if now % task.period == 0:
                queued[place].append([now, int(task.execution)])
        for place in order:
            if queued[place]:
                job = queued[place][0]
                job[1] -= 1
                if job[1] == 0:
                    queued[place].pop(0)
                    worst[place] = max(worst[place], now + 1 - job[0])
                break
    return worst


@settings(max_examples=150, deadline=None)
@given(sets)
def test_the_bound_is_the_longest_response_of_the_schedule(some: list[tuple[int, int]]) -> None:
    """All released together is the worst case, so bound and schedule agree, late jobs included."""
    tasks = rows(*some)
    assert response_times(tasks, NOTHING) == simulated(tasks)


overheads = st.sampled_from(["tick", "release", "start", "job", "blocking", "jitter"])


@settings(max_examples=150, deadline=None)
@given(sets, st.integers(0, 3), overheads, st.floats(0.01, 3.0))
def test_no_bound_shrinks_when_something_takes_longer(
    some: list[tuple[int, int]], place: int, name: str, more: float
) -> None:
    tasks, kernel = rows(*some), Kernel(tick_period=7, tick=0.1, job=0.2, start=0.1)
    before = response_times(tasks, kernel)
    slower = replace(kernel, **{name: getattr(kernel, name) + more})
    assert all(a <= b for a, b in zip(before, response_times(tasks, slower), strict=True))
    place %= len(tasks)
    longer = [*tasks]
    longer[place] = replace(tasks[place], execution=tasks[place].execution + more)
    assert all(a <= b for a, b in zip(before, response_times(longer, kernel), strict=True))


@settings(max_examples=80, deadline=None)
@given(sets)
def test_deciding_early_decides_the_same(some: list[tuple[int, int]]) -> None:
    tasks = rows(*some)
    kernel = Kernel(tick_period=7, tick=0.1, job=0.1)
    bounds = response_times(tasks, kernel)
    met = all(b <= task.deadline for b, task in zip(bounds, tasks, strict=True))
    assert schedulable(tasks, kernel) == met


# ---- coincidences --------------------------------------------------------------------------------
TICKS = [999_998.95, 999.9, 0.1, 1 / 3, 1e-3, 30_517.578125, 1e9 + 0.7]


@settings(max_examples=150, deadline=None)
@given(sets, st.sampled_from(TICKS))
def test_no_rounding_decides_whether_two_moments_coincide(
    some: list[tuple[int, int]], tick: float
) -> None:
    """Products of a float and whole numbers have the bounds of the whole numbers."""
    whole = rows(*some)
    tasks = rows(*((c * tick, t * tick) for c, t in some))
    expected = response_times(whole, NOTHING)
    bounds = response_times(tasks, NOTHING)
    assert [exact(bound) for bound in bounds] == [units * exact(tick) for units in expected]
    for task, whole_task, bound, right in zip(tasks, whole, bounds, expected, strict=True):
        assert (bound <= task.deadline) == (right <= whole_task.deadline)


@pytest.mark.parametrize(
    ("value", "fraction"),
    [(0.1, "1/10"), (12 * 0.1, "6/5"), (999_998.95, "19999979/20"), (2.0**-40, f"1/{2**40}")],
)
def test_a_float_stands_for_the_decimal_that_was_written(value: float, fraction: str) -> None:
    assert exact(value) == Fraction(fraction)
    assert exact(Fraction(value)) == Fraction(value)


def test_bisection_is_on_the_safe_side() -> None:
    root = largest(lambda value: value * value <= 2.0, 0.0, 10.0)
    assert root is not None
    assert root * root <= 2.0
    assert root == pytest.approx(math.sqrt(2.0), rel=1e-9)
    assert largest(lambda _: True, 0.0, 10.0) == 10.0
    assert largest(lambda _: False, 0.0, 10.0) is None
    assert least_whole(lambda value: value >= 37, 1, 1000) == 37
    assert least_whole(lambda _: False, 1, 1000) is None


@pytest.mark.parametrize("left", ["1e-9", "1e-12", "1e-15"])
def test_a_set_that_leaves_almost_nothing_ends_and_has_no_bound(left: str) -> None:
    """Its window would take 1 / left steps."""
    most = PeriodicTask(1000 * (1 - Fraction(left)), 1000, 1000, urgency=2)
    rare = PeriodicTask(1000, 10**15, 10**15, urgency=1)
    assert response_times([most, rare], Kernel()) == [most.execution, math.inf]
    assert not schedulable([most, rare], Kernel())
