# SPDX-License-Identifier: Apache-2.0
"""The conformance test of a target: conforming results, and early ends."""

from __future__ import annotations

import threading

import pytest

from kadenz.errors import TargetFailed, WireDamaged
from kadenz.lab.conformance import Conformance, ask
from kadenz.wire.messages import AnyMessage, Conform, Done
from tests.lab.fake import Scripted
from tests.wire.streams import hello, on_the_line

GOOD: list[AnyMessage] = [
    Conform(case="yield passes to an equal", result="pass", reason=""),
    Conform(case="a pipe keeps bytes", result="n/a", reason="no pipes here"),
]
BAD = Conform(case="a mutex excludes", result="fail", reason="two were inside")


def answer(*cases: AnyMessage, done: bool = True) -> Conformance:
    messages = [hello(), *cases]
    if done:
        messages.append(Done(records=0, frames=len(messages) + 1))
    target = Scripted([on_the_line(messages)])
    made = ask(lambda: target, "t", silence_s=0.05, stop=threading.Event())
    assert target.plan == "conformance\nend\n"
    assert target.closed == 1
    return made


def test_a_port_without_a_failed_case_conforms() -> None:
    made = answer(*GOOD)
    assert made.conforms
    assert (made.count("pass"), made.count("fail"), made.count("n/a")) == (1, 0, 1)


def test_one_failed_case_is_enough() -> None:
    assert not answer(*GOOD, BAD).conforms


def test_a_port_that_lacks_everything_does_not_conform() -> None:
    assert not answer(GOOD[1]).conforms


def test_a_target_that_dies_half_way_keeps_its_cases_and_does_not_conform() -> None:
    made = answer(*GOOD, done=False)
    assert len(made.cases) == 2
    assert isinstance(made.failure, TargetFailed)
    assert not made.conforms


def test_an_image_without_the_test_is_reported() -> None:
    made = answer()
    assert made.failure is not None and "has no conformance test" in made.failure.message


def test_a_damaged_answer_is_not_believed() -> None:
    messages = [hello(), *GOOD, Done(records=0, frames=4)]
    line = bytearray(on_the_line(messages))
    line[len(line) // 2] ^= 0x40
    made = ask(lambda: Scripted([bytes(line)]), "t", silence_s=0.05, stop=threading.Event())
    assert isinstance(made.failure, WireDamaged | TargetFailed)
    assert not made.conforms


@pytest.mark.parametrize("silence_s", [0.05])
def test_silence_ends_it(silence_s: float) -> None:
    target = Scripted([on_the_line([hello(), *GOOD]), None])
    made = ask(lambda: target, "t", silence_s=silence_s, stop=threading.Event())
    assert made.failure is not None and "hangs" in made.failure.message
