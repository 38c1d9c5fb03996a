# SPDX-License-Identifier: Apache-2.0
"""Every IPC path of Linux in a guest, between threads and processes, without leftovers."""

from __future__ import annotations

from itertools import product

import pytest

from tests.decoded import plan
from tests.guest.scripts import AS_NOBODY, Answer, Script

pytestmark = pytest.mark.counted

CHANNELS = ("pipe", "fifo", "message-queue", "unix-socket")
WAKES = ("eventfd", "futex", "semaphore-posix", "semaphore-sysv", "condition", "signal")
MUTEXES = ("mutex-plain", "mutex-inherit", "mutex-robust", "mutex-ceiling")
ORDERS = ((8, 7), (7, 7), (7, 8))
SAMPLES = 20
RIGHTS = {"with rights": (), "without rights": AS_NOBODY}
# What leaves something behind if nobody removes it, and between what it is used.
KEPT = [("fifo", 1), ("message-queue", 1), ("semaphore-sysv", 0), ("semaphore-sysv", 1)]
KEPT += [("semaphore-posix", 1)]


def everywhere(kind: str) -> list[str]:
    """A point per direction, order of ranks, and kind of task 2."""
    parts = ("one-way",) if kind in MUTEXES else ("one-way", "round-trip")
    return [
        f"itc/{kind}-{part} samples={SAMPLES} period_us=300 rank_a={a} rank_b={b} "
        f"processes={processes}"
        for part, (a, b), processes in product(parts, ORDERS, (0, 1))
    ]


def at_once(kind: str) -> list[str]:
    return [
        f"itc/{kind}-{part} samples=50 period_us=0 processes={processes}"
        for part, processes in product(("one-way", "round-trip"), (0, 1))
    ]


def long(kind: str, processes: int) -> str:
    return plan(f"itc/{kind}-one-way samples=100000 period_us=1000 processes={processes}")


SCRIPTS = {
    **{kind: Script(plan(*everywhere(kind))) for kind in CHANNELS + WAKES + MUTEXES},
    "at once": Script(plan(*(p for kind in CHANNELS + WAKES for p in at_once(kind)))),
    # The child is looked at twice while messages pass every millisecond.
    "faults": Script(
        long("futex", 1), during=("sleep 200", "look", "sleep 200", "look", "kill suite 15")
    ),
    **{
        f"{kind} {processes} {rights}": Script(
            long(kind, processes),
            before=before,
            during=("sleep 200", "look", "kill suite 9"),
            after=("sleep 200", "left"),
        )
        for (kind, processes), (rights, before) in product(KEPT, RIGHTS.items())
    },
}


@pytest.fixture
def answers(booted: dict[str, dict[str, Answer]]) -> dict[str, Answer]:
    return booted["paths"]


@pytest.mark.parametrize("kind", CHANNELS + WAKES + MUTEXES)
def test_a_path_is_measured_and_proved_in_every_placement(
    answers: dict[str, Answer], kind: str
) -> None:
    said = answers[kind].decoded
    assert said.done
    assert len(said.ends) == len(everywhere(kind))
    for end in said.ends:
        assert (end.status, end.reason) == ("ok", "")
        assert end.proof.failed == 0 and end.proof.checked >= 2 * SAMPLES
        assert len(said.values(end.record)) == SAMPLES
        assert said.values(end.record).max() < 2**31  # an end before its beginning would wrap


@pytest.mark.parametrize("kind", CHANNELS + WAKES)
def test_samples_without_pauses_finish(answers: dict[str, Answer], kind: str) -> None:
    """Task 1 has the higher rank: it sends its last message before task 2, preempted while
    answering the previous one, has checked whether to end."""
    said = answers["at once"].decoded
    assert said.done
    first = len(at_once(kind)) * (CHANNELS + WAKES).index(kind)
    ends = [said.end(first + i) for i in range(len(at_once(kind)))]
    assert [(end.status, end.lanes[0].taken) for end in ends] == [("ok", 50)] * len(ends)


def test_no_page_is_copied_while_a_process_is_measured(answers: dict[str, Answer]) -> None:
    """After a fork the next write copies a page: no copy may fall into a sample."""
    before, after = answers["faults"].looks
    assert {thread.process for thread in before} == {"suite", "child"}
    # It measures from its first moment on, in pages that were copied before.
    assert [thread.faults for thread in before if thread.name == "task 1"] == [(0, 0)]
    assert [thread.faults for thread in after] == [thread.faults for thread in before]
    assert len(answers["faults"].decoded.values(0)) > 200  # a message each millisecond


@pytest.mark.parametrize("rights", RIGHTS)
@pytest.mark.parametrize(("kind", "processes"), KEPT)
def test_a_kill_leaves_nothing_behind(
    answers: dict[str, Answer], kind: str, processes: int, rights: str
) -> None:
    answer = answers[f"{kind} {processes} {rights}"]
    assert answer.code == -9
    (seen,) = answer.looks
    assert ("task 2" in [thread.name for thread in seen if thread.process == "child"]) == bool(
        processes
    )
    assert answer.left == []
