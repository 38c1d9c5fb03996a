# SPDX-License-Identifier: Apache-2.0
"""Targets that hang, crash, assert, overflow their stack or lack proof: reported, and survived."""

from __future__ import annotations

import re
import subprocess

import pytest

from kadenz.store import Run
from tests.e2e.conftest import BOARDS, FAULTS, campaign, kadenz, runs_in

pytestmark = pytest.mark.counted

BENCHMARKS = {
    "fault/good": 100,
    "fault/no-proof": 100,
    "fault/wrong-proof": 100,
    "fault/backwards": 100,
    "fault/hang": 100,
    "fault/stuck": 100,
    "fault/busy": 100,
    "fault/assert": 100,
    "fault/exception": 100,
    "fault/overflow": 100,
    "clock/read-cost": 100,
}


class Faults:
    """One run of all faults on both boards."""

    def __init__(self, answer: subprocess.CompletedProcess[str], runs: dict[str, Run]) -> None:
        self.answer = answer
        self.runs = runs

    def reason(self, board: str, bench: str) -> tuple[str, str]:
        entries = [r for r in self.runs[board].manifest.records if r.bench == bench]
        assert len(entries) == 1
        return entries[0].status, entries[0].reason


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Faults:
    folder = tmp_path_factory.mktemp("faults")
    file = campaign(folder, BENCHMARKS, BOARDS)
    answer = kadenz("run", file, "--bench", FAULTS, "--timeout", "8", "--output", folder)
    return Faults(answer, runs_in(folder))


def test_a_failed_target_is_exit_code_1_without_a_traceback(faults: Faults) -> None:
    assert faults.answer.returncode == 1
    assert "Traceback" not in faults.answer.stderr
    assert "try:" in faults.answer.stderr


@pytest.mark.parametrize("board", BOARDS)
def test_a_bad_benchmark_does_not_affect_the_others(faults: Faults, board: str) -> None:
    assert faults.reason(board, "fault/good") == ("ok", "")
    assert faults.reason(board, "clock/read-cost") == ("ok", "")  # planned last
    assert not faults.runs[board].manifest.partial


@pytest.mark.parametrize("board", BOARDS)
def test_a_benchmark_without_proof_is_invalid(faults: Faults, board: str) -> None:
    status, reason = faults.reason(board, "fault/no-proof")
    assert (status, "no check" in reason) == ("invalid", True)


@pytest.mark.parametrize("board", BOARDS)
def test_a_failed_proof_makes_the_record_invalid_with_its_reason(
    faults: Faults, board: str
) -> None:
    assert faults.reason(board, "fault/wrong-proof") == (
        "invalid",
        "the message was another one",
    )


@pytest.mark.parametrize("board", BOARDS)
def test_an_end_before_its_begin_makes_the_record_invalid_and_is_named(
    faults: Faults, board: str
) -> None:
    status, reason = faults.reason(board, "fault/backwards")
    assert status == "invalid"
    match = re.fullmatch(
        r"sample 99 of lane all is no span: END came (\d+) clock counts before BEGIN, or half the "
        r"range of the clock after it",
        reason,
    )
    assert match and 0 < int(match[1]) < 1000


@pytest.mark.parametrize("board", BOARDS)
def test_a_hanging_target_is_stopped_and_shows_its_position(faults: Faults, board: str) -> None:
    status, reason = faults.reason(board, "fault/hang")
    assert status == "failed"
    # Silence is measured, and on a busy machine it is noticed late. A loop of some instructions may
    # be seen at one of them or at several.
    silent = re.search(r"in record \d+, fault/hang(:|, but is) silent for (\d+) s", reason)
    assert silent and int(silent[2]) >= 3
    detail = (faults.runs[board].path / "console.txt").read_text()
    assert "pc is in hang+" in detail
    assert "pc is in hang+" in faults.answer.stderr
    assert re.search(r" s, (at hang\+0x[0-9a-f]+|in .*\bhang \(\d+ of \d+ looks\))", reason)


@pytest.mark.parametrize("board", BOARDS)
def test_a_target_at_one_instruction_hangs_there(faults: Faults, board: str) -> None:
    status, reason = faults.reason(board, "fault/stuck")
    assert status == "failed"
    assert re.search(r"hangs in record \d+, fault/stuck: silent for \d+ s, at stuck\+0x", reason)
    assert "It stays at one place" in told(faults, "fault/stuck:")


def told(faults: Faults, text: str) -> str:
    """The errors that have these words, with their remedies."""
    errors = " ".join(faults.answer.stderr.split()).split("error: ")[1:]
    return " ".join(error for error in errors if text in error)


@pytest.mark.parametrize("board", BOARDS)
def test_a_silent_target_that_works_is_said_to_run_and_where(faults: Faults, board: str) -> None:
    status, reason = faults.reason(board, "fault/busy")
    assert status == "failed"
    match = re.search(r"runs in record \d+, fault/busy, but is silent for \d+ s, in (.*)$", reason)
    assert match, reason
    assert {"busy", "step"} & set(re.findall(r"(\w+) \(\d+ of \d+ looks\)", match[1]))
    assert "hangs" not in reason
    assert "pass a larger --timeout. Otherwise it loops there" in told(faults, "fault/busy,")


@pytest.mark.parametrize("board", BOARDS)
def test_an_assert_shows_its_place_and_registers(faults: Faults, board: str) -> None:
    status, reason = faults.reason(board, "fault/assert")
    assert status == "failed"
    assert "assert in thread main: queue.c:1234" in reason
    assert "pc 20010123" in faults.answer.stderr


@pytest.mark.parametrize(
    ("board", "word", "register", "counter"),
    [
        (BOARDS[0], "breakpoint", "mepc", "mepc"),
        (BOARDS[1], "undefined instruction", "cfsr", "pc"),
    ],
)
def test_an_exception_shows_its_kind_and_registers(
    faults: Faults, board: str, word: str, register: str, counter: str
) -> None:
    status, reason = faults.reason(board, "fault/exception")
    assert status == "failed"
    assert word in reason
    assert f"{register} " in faults.answer.stderr
    detail = (faults.runs[board].path / "console.txt").read_text()
    assert re.search(rf"^{counter} is in \w+\+0x", detail, re.MULTILINE)


@pytest.mark.parametrize("board", BOARDS)
def test_a_stack_overflow_names_the_thread(faults: Faults, board: str) -> None:
    status, reason = faults.reason(board, "fault/overflow")
    assert status == "failed"
    assert "stack-overflow in thread greedy" in reason
    assert "raise stack_bytes" in faults.answer.stderr


@pytest.mark.parametrize("board", BOARDS)
def test_planned_is_always_taken_plus_missed_plus_not_measured(faults: Faults, board: str) -> None:
    for record in faults.runs[board].manifest.records:
        for lane in record.lanes:
            accounted = lane.taken + lane.missed + lane.not_measured
            assert lane.planned == accounted, record.bench
