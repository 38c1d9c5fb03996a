# SPDX-License-Identifier: Apache-2.0
"""kernels/cmsis-rtos2 keeps its promises: on an adapter of FreeRTOS, for RTX5 is in no registry.

The adapter is a folder that builds itself, the way in which any implementation of CMSIS-RTOS2 but
RTX5 reaches this port. docs/kernels/cmsis-rtos2.md has the results on RTX5 itself.
"""

from __future__ import annotations

import pytest

from kadenz.wire.messages import Hello
from tests.kernels.on_freertos import NEVER, output, passed
from tests.rtos.images import Said

pytestmark = pytest.mark.counted

PLAN = """
itc/thread-flags-one-way id=1 samples=50
itc/thread-flags-round-trip id=2 samples=50 rank_a=7 rank_b=8
irq/to-task id=3 samples=20
cyclic/wakeup-latency id=4 samples=20
hartstone/ah id=5 samples=3 period_us=4000 cycles=1
alloc/allocate id=6 samples=20 memory=block-pool
alloc/release id=7 samples=20 memory=block-pool holes=4
thread-metric/memory id=8 samples=2 window_us=10000 memory=block-pool
conformance
end
"""


@pytest.fixture(scope="module")
def said() -> Said:
    """All output of one boot of the port on the adapter."""
    return output("cmsis-rtos2", "cmsis-rtos2-on-freertos", PLAN)


def test_conformance_passes_on_the_adapter(said: Said) -> None:
    assert {
        "queue is sent from an interrupt",
        "event-flags wakes its waiters in the declared order",
        "thread-flags notifies from an interrupt",
        "mutex-robust survives its owner",
        "block-pool gives blocks and takes them back",
        "a waiter lends its rank to the owner",
    } <= passed(said, NEVER)


def test_thread_flags_are_measured(said: Said) -> None:
    for bench in ("itc/thread-flags-one-way", "itc/thread-flags-round-trip"):
        assert said.record(bench)[1].status == "ok"
        assert len(said.values(bench)) == 50


def test_interrupts_and_the_tick_reach_the_port(said: Said) -> None:
    assert [said.record(name)[1].status for name in ("irq/to-task", "cyclic/wakeup-latency")] == [
        "ok",
        "ok",
    ]


def test_blocks_of_a_pool_are_measured(said: Said) -> None:
    for bench in ("alloc/allocate", "alloc/release", "thread-metric/memory"):
        assert said.record(bench)[1].status == "ok"
    assert len(said.values("alloc/release")) == 20 and min(said.values("alloc/release")) > 0


def test_a_series_with_seven_tasks_fits_the_pool(said: Said) -> None:
    assert said.record("hartstone/ah")[1].status == "ok"


def test_the_kernel_says_who_it_is(said: Said) -> None:
    assert said.only(Hello).kernel == "CMSIS-RTOS2"
    assert said.only(Hello).kernel_version.startswith("FreeRTOS V")
