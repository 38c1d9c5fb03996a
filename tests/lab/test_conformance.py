# SPDX-License-Identifier: Apache-2.0
"""The conformance test of a target: conforming results, and early ends."""

from __future__ import annotations

import threading

import pytest

from kadenz.errors import TargetFailed, WireDamaged
from kadenz.lab.conformance import Conformance, ask
from kadenz.wire.messages import AnyMessage, Case, Conform, Done, Fault
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
    outcome = ask(lambda: target, "t", silence_s=0.05, stop=threading.Event())
    assert target.plan == "conformance\nend\n"
    assert target.closed == 1
    return outcome


def test_a_port_without_a_failed_case_conforms() -> None:
    outcome = answer(*GOOD)
    assert outcome.conforms
    assert (outcome.count("pass"), outcome.count("fail"), outcome.count("n/a")) == (1, 0, 1)


def test_one_failed_case_is_enough() -> None:
    assert not answer(*GOOD, BAD).conforms


def test_a_port_that_lacks_everything_does_not_conform() -> None:
    assert not answer(GOOD[1]).conforms


def test_a_target_that_dies_half_way_keeps_its_cases_and_does_not_conform() -> None:
    outcome = answer(*GOOD, done=False)
    assert len(outcome.cases) == 2
    assert isinstance(outcome.failure, TargetFailed)
    assert not outcome.conforms


def test_an_image_without_the_test_is_reported() -> None:
    outcome = answer()
    assert outcome.failure is not None and "has no conformance test" in outcome.failure.message


def test_a_damaged_answer_is_not_believed() -> None:
    messages = [hello(), *GOOD, Done(records=0, frames=4)]
    line = bytearray(on_the_line(messages))
    line[len(line) // 2] ^= 0x40
    outcome = ask(lambda: Scripted([bytes(line)]), "t", silence_s=0.05, stop=threading.Event())
    assert isinstance(outcome.failure, WireDamaged | TargetFailed)
    assert not outcome.conforms


# ---- which case ran when the target ended --------------------------------------------------------
RUNS = Case(case=BAD.case)
TRAP = Fault(kind="exception", message="undefined instruction", thread="case", registers={})
ENDS: dict[str, tuple[list[AnyMessage], list[None]]] = {
    "hangs": ([], [None]),
    "ended": ([], []),
    "died": ([TRAP], []),
}


def ended(how: str, *before: AnyMessage) -> Conformance:
    """The answer of a target that sent `before` and then hung, ended or died."""
    last, silence = ENDS[how]
    target = Scripted([on_the_line([hello(), *before, *last]), *silence])
    outcome = ask(lambda: target, "t", silence_s=0.05, stop=threading.Event())
    assert outcome.failure is not None and not outcome.conforms
    assert outcome.failure.message.startswith(f"t {how} ")
    return outcome


@pytest.mark.parametrize("how", ENDS)
def test_the_case_that_ran_is_named_and_has_failed(how: str) -> None:
    outcome = ended(how, *GOOD, RUNS)
    assert outcome.failure is not None
    assert f"in the conformance case `{BAD.case}`" in outcome.failure.message
    assert outcome.cases[:-1] == tuple(GOOD)
    assert (outcome.cases[-1].case, outcome.cases[-1].result) == (BAD.case, "fail")


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("before", [GOOD, [*GOOD, RUNS, BAD]], ids=["old image", "between cases"])
def test_without_a_running_case_the_last_one_that_ended_is_named(
    how: str, before: list[AnyMessage]
) -> None:
    outcome = ended(how, *before)
    last = before[-1]
    assert outcome.failure is not None and isinstance(last, Conform)
    assert f"after the conformance case `{last.case}`" in outcome.failure.message
    assert len(outcome.cases) == sum(isinstance(message, Conform) for message in before)


def test_a_test_that_was_stopped_fails_no_case() -> None:
    stop = threading.Event()
    stop.set()
    target = Scripted([on_the_line([hello(), *GOOD, RUNS]), None])
    outcome = ask(lambda: target, "t", silence_s=600.0, stop=stop)
    assert outcome.cases == tuple(GOOD) and not outcome.conforms
