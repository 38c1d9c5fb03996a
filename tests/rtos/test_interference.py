# SPDX-License-Identifier: Apache-2.0
"""Overheads of FreeRTOS, and task sets, on the emulated boards: by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.wire.messages import End
from tests.rtos.images import BOARDS, Said, boot, build

pytestmark = pytest.mark.counted

PLAN = """\
interference/tick id=1 samples=4
interference/release id=2 samples=3 tasks=1
interference/release id=3 samples=3 tasks=3
interference/release id=4 samples=3 tasks=6
interference/job id=5 samples=3 tasks=1
interference/job id=6 samples=3 tasks=6
workload/taskset id=7 samples=4 period1_ticks=2 work1=300000 period2_ticks=4 work2=400000
workload/taskset id=8 samples=2 period1_ticks=1 work1=10
workload/taskset id=9 samples=4 period1_ticks=0
workload/taskset id=10 samples=50 period1_ticks=100000 period2_ticks=0
end
"""
# A count of its timer in QEMU is 30,518 instructions (board.toml); the STM32F4's are exact.
LATENESS = {"hifive1-revb": 31_000, "stm32f4": 600}


@pytest.fixture(scope="module", params=BOARDS)
def said(request: pytest.FixtureRequest) -> tuple[str, Said]:
    """One boot."""
    return request.param, boot(build(request.param), request.param, PLAN)


def taken(said: Said, record: int) -> int:
    """The longest gap, less the two looks around it."""
    return int(said.samples[record, 0].max()) - int(said.samples[record, 1].min())


def test_a_release_costs_more_than_a_tick_and_a_job_more_than_a_release(
    said: tuple[str, Said],
) -> None:
    tick, one_release, three_releases, six_releases, job, longer = (
        taken(said[1], record) for record in range(1, 7)
    )
    assert 0 < tick < one_release < three_releases < six_releases
    # Each further release costs the same.
    assert six_releases - three_releases == 3 * (three_releases - one_release) // 2
    assert job > one_release
    assert longer > job  # FreeRTOS passes five sleepers as it puts the job among them


def test_ticks_come_at_their_rate(said: tuple[str, Said]) -> None:
    board, what = said
    period = what.samples[1, 2].astype(float).mean()
    assert period == pytest.approx({"hifive1-revb": 1e9 / 1024, "stm32f4": 1e6}[board], rel=1e-4)


def test_responses_are_those_of_the_schedule(said: tuple[str, Said]) -> None:
    """Task 1 runs for 0.3 ticks every 2, task 2 for 0.4 every 4, after task 1."""
    board, what = said
    spans, task, job = (what.samples[7, lane] for lane in range(3))
    assert list(zip(task.tolist(), job.tolist(), strict=True)) == [(1, 0), (2, 0), (1, 1), (1, 2)]
    expected = np.array([300_000, 700_000, 300_000, 300_000])
    over = spans.astype(int) - expected
    assert (over > 0).all()
    assert (over < LATENESS[board]).all()


def test_a_set_that_cannot_run_says_why(said: tuple[str, Said]) -> None:
    short, none, long = [end for end in said[1].all(End) if end.record in (8, 9, 10)]
    assert {short.status, none.status, long.status} == {"failed"}
    assert "shorter than a job without a loop" in short.reason
    assert "the set has no task" in none.reason
    assert "longer than a stamp can tell" in long.reason
