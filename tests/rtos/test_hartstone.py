# SPDX-License-Identifier: Apache-2.0
"""Hartstone on the emulated boards: the breakdown is where arithmetic puts it, and repeats."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.wire.messages import End
from tests.rtos.images import BOARDS, TARGETS, Said, boot, build

pytestmark = pytest.mark.counted

PLAN = "hartstone/ph id={id} samples=10 period_us=4000 cycles=1\n"


def probes(said: Said, record: int) -> tuple[list[int], list[bool], list[float]]:
    """Steps, whether a deadline was missed, and utilisation, of each probe."""
    asked, step, misses, window = (said.samples[record, lane] for lane in range(4))
    return step.tolist(), (misses > 0).tolist(), (asked / window).tolist()


def breakdown(said: Said, record: int) -> tuple[float, float]:
    """The highest utilisation that met every deadline, and the lowest that missed one."""
    _, missed, used = probes(said, record)
    kept = max(u for u, late in zip(used, missed, strict=True) if not late)
    return kept, min(u for u, late in zip(used, missed, strict=True) if late)


@pytest.mark.parametrize("board", BOARDS)
def test_the_breakdown_is_found_twice_the_same(board: str) -> None:
    said = boot(build(board), board, PLAN.format(id=1) + PLAN.format(id=2) + "end\n")
    assert [end.status for end in said.all(End)] == ["ok", "ok"]
    first, second = probes(said, 1), probes(said, 2)
    assert first[:2] == second[:2]
    step, missed, _ = first
    assert (step[0], missed[0]) == (0, False) and (step[1], missed[1]) == (4096, True)
    kept, late = breakdown(said, 1)
    # Harmonic tasks under rate-monotonic ranks are schedulable up to the whole processor (Liu and
    # Layland 1973); the kernel takes a little of it.
    assert 0.97 < kept < late
    assert kept < 1.0
    assert late - kept < 0.01


@pytest.mark.parametrize("board", BOARDS)
def test_each_series_has_its_own_breakdown(board: str) -> None:
    """What a series adds to the harmonic tasks costs some of the processor."""
    parameters = "samples=10 period_us=4000 cycles=1"
    series = ("ph", "pn", "ah", "sh", "sa")
    plan = "".join(f"hartstone/{name} id={i} {parameters}\n" for i, name in enumerate(series, 1))
    said = boot(build(board), board, plan + "end\n")
    assert [end.status for end in said.all(End)] == ["ok"] * 5
    breakdowns = {name: breakdown(said, i) for i, name in enumerate(series, 1)}
    assert all(0 < late - kept < 0.01 for kept, late in breakdowns.values())
    # Without a common divisor rate-monotonic ranks may not reach the whole processor.
    assert breakdowns["pn"] < breakdowns["ph"]
    # Equal, but for sums of loops whose speed was measured.
    assert breakdowns["sh"][0] <= breakdowns["ph"][0] + 1e-5
    assert breakdowns["sa"][0] <= breakdowns["ah"][0] + 1e-5


@pytest.mark.parametrize("board", BOARDS)
def test_a_section_of_the_slowest_task_delays_the_fastest(board: str) -> None:
    """A mutex is held for 5 ms of 256: a task of 2 ms has no place beside it, in PH it has."""
    parameters = "samples=6 period_us=16000 cycles=1 experiment=frequency utilization_permille=400"
    plan = f"hartstone/ph id=1 {parameters}\nhartstone/sh id=2 {parameters}\nend\n"
    said = boot(build(board), board, plan)
    assert [end.status for end in said.all(End)] == ["ok", "ok"]
    assert breakdown(said, 2)[1] < breakdown(said, 1)[0]


@pytest.mark.parametrize("board", BOARDS)
def test_tasks_are_added_until_the_processor_is_full(board: str) -> None:
    """Five tasks of 15 % each: the first added one fits, the second does not."""
    said = boot(
        build(board),
        board,
        "hartstone/ph id=1 samples=4 period_us=4000 cycles=1 experiment=tasks "
        "utilization_permille=750 added_max=2\nend\n",
    )
    step, missed, used = probes(said, 1)
    assert list(zip(step, missed, strict=True))[:3] == [(0, False), (2, True), (1, False)]
    assert np.allclose(used[:3], [0.75, 1.05, 0.9], atol=0.01)


def test_a_series_with_more_tasks_than_the_pool_is_n_a() -> None:
    folder = build(
        "stm32f4",
        "small-pool",
        options=(
            ("KDZ_EXTRA_BENCH", str(TARGETS / "small_pool.c")),
            (
                "CMAKE_EXE_LINKER_FLAGS",
                "-Wl,--wrap=kdz_thread_create -Wl,--wrap=kdz_thread_join",
            ),
        ),
    )
    said = boot(
        folder,
        "stm32f4",
        "hartstone/ph id=1 samples=3 period_us=4000 cycles=1\n"
        "hartstone/ah id=2 samples=3 period_us=4000 cycles=1\nend\n",
    )
    fits, larger = said.all(End)
    assert (fits.status, larger.status) == ("ok", "n/a")
    assert "no room for this series" in larger.reason


def test_a_set_that_does_not_fit_the_pool_is_no_breakdown() -> None:
    said = boot(
        build("hifive1-revb"),
        "hifive1-revb",
        "hartstone/ah id=1 samples=3 period_us=4000 cycles=1 experiment=tasks added_max=5 "
        "utilization_permille=100\nend\n",
    )
    (end,) = said.all(End)
    assert end.status == "invalid"
    assert "could not create all tasks" in end.reason
