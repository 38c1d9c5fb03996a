# SPDX-License-Identifier: Apache-2.0
"""Limits on misses and maxima fail or stay undecided by the known facts, never by accident."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.checks import Check
from kadenz.analysis.deadlines import parse_deadline
from kadenz.analysis.gating import gate
from kadenz.analysis.limits import parse_limit
from kadenz.errors import UsageError
from kadenz.store import Run
from tests.analysis.test_deadlines import cyclic, run_of
from tests.synthetic import HIFIVE1, Point

LATE = tuple(range(7, 2000, 40))  # 50 of 2,000


def checked(run: Run, limit: str, *deadlines: str) -> Check:
    asked = [parse_deadline(text) for text in deadlines]
    return gate([run], [], limits=[parse_limit(limit)], deadlines=asked).checks[0]


@pytest.mark.parametrize(
    ("deadline", "limit", "outcome"),
    [
        ("100us", "cyclic/* misses = 0", "fail"),
        ("1ms", "cyclic/* misses = 0", "pass"),
        ("100us", "cyclic/* misses <= 50", "pass"),
        ("100us", "cyclic/* misses < 50", "fail"),
        ("100us", "cyclic/* misses < 10%", "pass"),
        ("100us", "cyclic/* misses < 0.1%", "fail"),
        ("100us", "cyclic/* misses < 2.5%", "inconclusive"),  # the interval contains it
        ("1ms", "cyclic/* misses < 1%", "pass"),
        ("1ms", "cyclic/* misses < 0.01%", "inconclusive"),  # 2,000 cycles cannot show it
    ],
)
def test_a_limit_on_misses(tmp_path: Path, deadline: str, limit: str, outcome: str) -> None:
    check = checked(run_of(tmp_path, cyclic(late=LATE)), limit, deadline)
    assert check.outcome == outcome
    assert "of 2,000" in check.measured


def test_a_single_missed_cycle_fails_misses_of_zero(tmp_path: Path) -> None:
    check = checked(run_of(tmp_path, cyclic(missed=(1000,))), "cyclic/* misses = 0")
    assert (check.outcome, check.measured) == ("fail", "1 of 2,000")
    assert "1 did not happen" in check.reason


def test_one_burst_leaves_a_limit_on_the_rate_undecided(tmp_path: Path) -> None:
    run = run_of(tmp_path, cyclic(missed=tuple(range(900, 1200))))
    check = checked(run, "cyclic/* misses < 0.1%")
    assert check.outcome == "inconclusive" and "worth 1 independent" in check.reason
    assert checked(run, "cyclic/* misses = 0").outcome == "fail"


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [
        ("cyclic/* max < 800us", "fail"),  # a cycle that did not happen lasted a period of 1 ms
        ("cyclic/* max < 1000us", "fail"),
        ("cyclic/* max <= 1000us", "inconclusive"),
        ("cyclic/* max < 5ms", "inconclusive"),
        ("cyclic/* max < 40us", "fail"),
    ],
)
def test_a_missed_cycle_under_a_maximum_is_decided_by_its_period(
    tmp_path: Path, limit: str, outcome: str
) -> None:
    check = checked(run_of(tmp_path, cyclic(missed=(1000,))), limit)
    assert check.outcome == outcome, check
    assert "did not happen" in check.reason or "2,000" not in check.measured


def test_the_maximum_is_reported_as_a_figure_and_not_a_count(tmp_path: Path) -> None:
    check = checked(run_of(tmp_path, cyclic(late=LATE)), "cyclic/* max < 100us")
    assert (check.measured, check.unit) == ("300", "µs")
    assert check.reason == "50 of 2,000 samples exceed the limit"


@pytest.mark.parametrize("limit", ["misses = 0", "misses < 5%", "max < 1s", "p99 < 1s"])
def test_unmeasured_cycles_never_pass(tmp_path: Path, limit: str) -> None:
    stopped = replace(cyclic(1102), not_measured=2898, reason="stopped on request")
    check = checked(run_of(tmp_path, stopped), f"cyclic/* {limit}")
    assert check.outcome == "inconclusive"
    assert "1,102 of 4,000 measured" in check.reason


def test_a_miss_before_the_stop_still_fails(tmp_path: Path) -> None:
    stopped = replace(cyclic(1102, missed=(9,)), not_measured=2898, reason="stopped on request")
    assert checked(run_of(tmp_path, stopped), "cyclic/* misses = 0").outcome == "fail"


@pytest.mark.parametrize("limit", ["cyclic/* p99 < 1s", "cyclic/* max < 1s", "cyclic/* misses = 0"])
def test_a_limit_on_a_figure_with_a_note_is_not_judged(tmp_path: Path, limit: str) -> None:
    run = run_of(tmp_path, cyclic(late=LATE))
    run.manifest.benchmark_notes = {"cyclic/wakeup-latency": "the timer's grid"}
    check = checked(run, limit, "1s")
    assert (check.outcome, check.reason) == ("inconclusive", "not judged: the timer's grid")
    assert check.measured


def test_misses_without_a_deadline_are_undecided(tmp_path: Path) -> None:
    point = Point("itc/queue", {"all": np.full(500, 9, np.uint32)})
    check = checked(run_of(tmp_path, point), "itc/* misses = 0")
    assert check.outcome == "inconclusive" and "--deadline" in check.reason


def test_emulated_misses_are_exact(tmp_path: Path) -> None:
    run = run_of(tmp_path, cyclic(late=LATE), target=HIFIVE1)
    asked = "100000 instructions"
    assert checked(run, "cyclic/* misses < 2.6%", asked).outcome == "pass"
    assert checked(run, "cyclic/* misses < 2.5%", asked).outcome == "fail"


@pytest.mark.parametrize(
    "text",
    [
        *("a/b misses", "a/b misses = 3", "a/b misses < 0", "a/b misses < 5us", "a/b max = 5us"),
        *("a/b p99 < 5", "a/b p99 < -5us", "a/b misses < many"),
    ],
)
def test_an_invalid_limit_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--limit"):
        parse_limit(text)
