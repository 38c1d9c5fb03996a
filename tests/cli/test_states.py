# SPDX-License-Identifier: Apache-2.0
"""`kadenz worst --state`: what it takes, and what a mistake is answered with."""

from __future__ import annotations

import pytest

from kadenz.lab.plan import Point
from kadenz.lab.states import states_of
from kadenz.targets.arrivals import Asked
from tests.forked import kadenz

SLEEP = ("worst", "critical/sleep", "--target", "freertos/ibex@rtl")


def test_several_states_make_the_product() -> None:
    assert states_of({}) == [()]
    assert states_of({"sleepers": ("0", "8"), "ready": ("4",)}) == [
        (("sleepers", 0), ("ready", 4)),
        (("sleepers", 8), ("ready", 4)),
    ]


def test_a_state_is_in_the_plan_and_so_in_the_key_of_an_execution() -> None:
    states = [Asked(3, state=state) for state in states_of({"sleepers": ("0", "2")})]
    lines = [Point(10, "critical/sleep", 4, arrivals=asked.keys).line() for asked in states]
    assert lines == [
        f"critical/sleep id=10 samples=4 arrivals=1 state.sleepers={threads}" for threads in (0, 2)
    ]


@pytest.mark.parametrize(
    ("options", "message", "remedy"),
    [
        (("sleeper=1",), "--state sleeper=1: no key `sleeper`", "Did you mean `sleepers`?"),
        (("sleepers",), "`sleepers` has no value", "sleepers=N,…"),
        (("sleepers=",), "`sleepers` has no value", "sleepers=N,…"),
        (("sleepers=-1",), "--state sleepers=-1: expected", "--state sleepers=0,1,2,4,8"),
        (("ready=1,9",), "--state ready=1,9: expected NAME=N,N… with 0 to 8", "ready=0,1,2,4,8"),
        (("waking=two",), "--state waking=two: expected", "--state waking=0,1,2,4,8"),
        (("waking=1.5",), "--state waking=1.5: expected", "--state waking=0,1,2,4,8"),
        (("ready=1", "ready=2"), "--state: `ready` is there twice", "one list: ready=A,B"),
        (("ready=1,ready=2",), "`ready` is there twice", "one list: ready=A,B"),
    ],
)
def test_a_mistake_is_a_usage_error_before_anything_is_built(
    options: tuple[str, ...], message: str, remedy: str
) -> None:
    answer = kadenz(*SLEEP, *(word for text in options for word in ("--state", text)))
    assert answer.returncode == 2, answer.stderr
    assert message in answer.stderr and remedy in answer.stderr
    assert "building" not in answer.stderr and answer.stdout == ""


@pytest.mark.parametrize("command", ["worst", "bound"])
def test_a_length_in_seconds_has_no_sample_in_which_interrupts_arrive(command: str) -> None:
    answer = kadenz(command, *SLEEP[1:], "--set", "seconds=1")
    assert answer.returncode == 2 and "building" not in answer.stderr
    assert "--set seconds: this command measures a number of samples (4 by" in answer.stderr
    assert "Leave it out, or set samples" in answer.stderr
