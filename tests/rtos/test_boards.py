# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS on the two boards: it starts, conforms, measures, and is repeatable."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kadenz.config import inventory
from kadenz.wire.messages import Bench, Conform, Done, End, Hello
from tests.rtos.images import BOARDS, OF_SEVERAL_CORES, boot, build, run

pytestmark = pytest.mark.counted

# Every benchmark of the suite that FreeRTOS on one core can run, with counts for a run of seconds;
# the sizes are the ends of yoo2024's range.
EVERYTHING = """\
clock/resolution id=0 samples=100
clock/read-cost id=1 samples=100
clock/monotonic id=2 samples=100
itc/queue id=10 samples=50 size_bytes=60
itc/stream-buffer id=11 samples=50 size_bytes=600
itc/message-buffer id=12 samples=50 size_bytes=600
itc/queue-round-trip id=13 samples=50 size_bytes=600
itc/stream-buffer-round-trip id=14 samples=50 size_bytes=60
itc/message-buffer-round-trip id=15 samples=50 size_bytes=60
itc/semaphore-counting id=16 samples=50
itc/semaphore-counting-to-higher id=17 samples=50
itc/semaphore-binary id=18 samples=50
itc/semaphore-binary-to-higher id=19 samples=50
itc/mutex id=20 samples=50
itc/mutex-to-higher id=21 samples=50
micro/task-switch id=22 samples=2 iterations=1000
micro/task-switch-sampled id=23 samples=3000
micro/preemption id=24 samples=2 iterations=1000
micro/preemption-sampled id=25 samples=200
micro/semaphore-shuffle id=26 samples=2 iterations=1000
micro/semaphore-shuffle-sampled id=27 samples=200
micro/message-latency id=28 samples=2 iterations=1000 channel=message-buffer
micro/message-latency-sampled id=29 samples=200
irq/to-handler id=30 samples=100
irq/to-task id=31 samples=100
inversion/mutex id=32 samples=50 period_us=2000 section_us=50 middle_us=100
rhealstone/deadlock-break id=33 samples=100 period_us=2000
itc/event-flags-one-way id=34 samples=50
itc/event-flags-round-trip id=35 samples=50 rank_a=7 rank_b=8
thread-metric/basic id=40 samples=3 window_us=2000
thread-metric/basic-sampled id=41 samples=60
thread-metric/cooperative id=42 samples=3 window_us=2000
thread-metric/cooperative-sampled id=43 samples=60
thread-metric/preemptive id=44 samples=3 window_us=2000
thread-metric/preemptive-sampled id=45 samples=60
thread-metric/interrupt id=46 samples=3 window_us=2000
thread-metric/interrupt-sampled id=47 samples=60
thread-metric/interrupt-preemption id=48 samples=3 window_us=2000
thread-metric/interrupt-preemption-sampled id=49 samples=60
thread-metric/message id=50 samples=3 window_us=2000
thread-metric/message-sampled id=51 samples=60
thread-metric/synchronization id=52 samples=3 window_us=2000
thread-metric/synchronization-sampled id=53 samples=60
thread-metric/memory id=54 samples=3 window_us=2000
thread-metric/memory-sampled id=55 samples=60
hartstone/ph id=60 samples=3 period_us=4000 cycles=1
hartstone/pn id=61 samples=3 period_us=4000 cycles=1
hartstone/ah id=62 samples=3 period_us=4000 cycles=1
hartstone/sh id=63 samples=3 period_us=4000 cycles=1
hartstone/sa id=64 samples=3 period_us=4000 cycles=1
perf/wake id=70 samples=60 by=suspend
perf/wake id=71 samples=60 by=semaphore
perf/sleep id=72 samples=60 by=suspend
perf/sleep id=73 samples=60 by=semaphore
perf/activate id=74 samples=60
perf/activate-to-higher id=75 samples=60
interference/tick id=120 samples=3
interference/release id=121 samples=3
interference/job id=122 samples=3
interference/sleep id=123 samples=8
interference/blocking id=124 samples=8
workload/taskset id=125 samples=6
alloc/allocate id=76 samples=60
alloc/release id=77 samples=60
alloc/allocate id=78 samples=60 holes=16
alloc/release id=79 samples=60 holes=16
sync/event-flags id=80 samples=20 waiters=4
sync/event-flags id=81 samples=20 waiters=4 until=first
sync/barrier id=82 samples=20 waiters=4
"""
# And with its timers, which the board with 16 KiB has no room for.
TIMERS = """\
timer/one-shot id=90 samples=20 armed=8
timer/one-shot id=91 samples=20 armed=32 others=together
timer/periodic id=92 samples=20 armed=32 others=together
timer/start id=93 samples=20 armed=32 others=together
timer/stop id=94 samples=20 armed=32 others=together
perf/activate-from-timer id=95 samples=20
"""


def everything(board: str) -> str:
    """A plan of every benchmark that FreeRTOS can run on the board."""
    return EVERYTHING + (TIMERS if board == "stm32f4" else "") + "end\n"


@pytest.mark.parametrize("board", BOARDS)
def test_freertos_keeps_every_promise_of_the_contract(board: str) -> None:
    said = boot(build(board), board, "conformance\nend\n")
    cases = said.all(Conform)
    assert len(cases) >= 27
    assert [c for c in cases if c.result == "fail"] == []
    # n/a are exactly the features that FreeRTOS lacks.
    missing = {c.case for c in cases if c.result == "n/a"}
    assert (
        missing
        == {
            "a process shares what is shared and nothing else",
            "a context is as long as announced",
            "a deadline thread runs",
            "a fair thread runs",
            "a round-robin thread runs",
        }
        | OF_SEVERAL_CORES
    )
    # Each registered mechanism conforms.
    assert {c.case for c in cases if c.result == "pass"} >= {
        "event-flags is kept and wakes",
        "event-flags wakes every waiter",
        "heap gives blocks and takes them back",
        "message-buffer carries items in their order",
        "message-buffer is sent from an interrupt",
        "queue carries items in their order",
        "queue is sent from an interrupt",
        "queue wakes its waiters in the declared order",
        "barrier lets no thread through before the last",
        "stream-buffer carries items in their order",
        "stream-buffer is sent from an interrupt",
    }


@pytest.mark.parametrize("board", BOARDS)
def test_n_a_always_shows_the_sentence_of_kernel_toml(board: str) -> None:
    said = boot(
        build(board),
        board,
        "list\nconformance\nitc/futex-one-way id=1 samples=3\n"
        "micro/message-latency id=2 samples=3 channel=pipe\nend\n",
    )
    lacks = inventory.kernel("freertos").lacks
    listed = {bench.name: bench.reason for bench in said.all(Bench)}
    cases = {case.case: case.reason for case in said.all(Conform)}
    ends = {end.record: end.reason for end in said.all(End)}
    assert listed["itc/futex-one-way"] == ends[1] == lacks["futex"]
    assert listed["itc/pipe"] == ends[2] == lacks["pipe"]
    assert cases["a deadline thread runs"] == lacks["policy-deadline"]


@pytest.mark.parametrize("board", BOARDS)
def test_features_that_freertos_lacks_are_n_a_with_a_reason(board: str) -> None:
    said = boot(
        build(board),
        board,
        "itc/queue id=1 samples=3 processes=1\n"
        "itc/futex-one-way id=2 samples=3\n"
        "inversion/mutex id=3 samples=3 inheritance=0\n"
        "micro/preemption-sampled id=4 samples=3 core_high=1\n"
        "itc/queue id=5 samples=3 core_b=1\n"
        "cyclic/wakeup-latency id=6 samples=3 threads=1 migrate=watch\n"
        "smp/wake-up id=7 samples=3\nend\n",
    )
    assert [(e.record, e.status) for e in said.all(End)] == [(i, "n/a") for i in range(1, 8)]
    apart, futex, plain, *two = said.all(End)
    assert {e.reason for e in two} == {"this point needs two cores, and the board has one"}
    assert "one address space" in apart.reason
    assert "futexes are Linux's" in futex.reason
    assert "every mutex" in plain.reason


@pytest.mark.parametrize("board", BOARDS)
def test_an_inheriting_mutex_bounds_the_wait_by_the_section(board: str) -> None:
    """In instructions: the wait includes the section's work and the switches, but no work of M."""
    said = boot(
        build(board),
        board,
        "inversion/mutex id=1 samples=20 period_us=3000 section_us=100 middle_us=300\nend\n",
    )
    wait, section = said.values("inversion/mutex", 0), said.values("inversion/mutex", 1)
    assert (wait > section).all()
    assert (wait < section + section // 5).all()


@pytest.mark.parametrize("board", BOARDS)
def test_every_benchmark_measures_and_proves(board: str) -> None:
    said = boot(build(board), board, everything(board))
    planned = len(everything(board).splitlines()) - 1
    ends = said.all(End)
    assert [(e.record, e.status, e.reason) for e in ends if e.status != "ok"] == []
    assert len(ends) == planned
    assert said.only(Done).records == planned
    for end in ends:
        assert end.proof.failed == 0
        assert end.proof.checked >= 1
        for index, lane in enumerate(end.lanes):
            assert lane.missed == 0
            assert said.samples[end.record, index].size == lane.taken


def test_timers_that_are_due_together_are_each_passed() -> None:
    """In instructions: a kernel that keeps its timers in order goes past those of the same tick."""
    said = boot(
        build("stm32f4"),
        "stm32f4",
        "timer/start id=1 samples=20 armed=8 others=later\n"
        "timer/start id=2 samples=20 armed=8 others=together\n"
        "timer/start id=3 samples=20 armed=32 others=together\n"
        "timer/one-shot id=4 samples=20 armed=8\n"
        "timer/one-shot id=5 samples=20 armed=8 others=together\n"
        "timer/one-shot id=6 samples=20 armed=32 others=together\nend\n",
    )
    later, some, many, alone, eighth, last = (np.median(said.samples[n, 0]) for n in range(1, 7))
    assert later < some < many
    assert many - some == pytest.approx(24 / 7 * (some - later), rel=0.05)  # linear: a list
    assert alone < eighth < last
    assert last - eighth == pytest.approx(24 / 7 * (eighth - alone), rel=0.05)


@pytest.mark.parametrize("board", BOARDS)
def test_more_waiters_take_longer_and_the_first_does_not(board: str) -> None:
    plan = "".join(
        f"sync/event-flags id={n * 10 + until} samples=20 waiters={n} until={word}\n"
        for n in (1, 2, 4)
        for until, word in enumerate(("last", "first"))
    )
    said = boot(build(board), board, plan + "end\n")
    last = [np.median(said.samples[n * 10, 0]) for n in (1, 2, 4)]
    first = [np.median(said.samples[n * 10 + 1, 0]) for n in (1, 2, 4)]
    assert last[0] == first[0]
    assert all(last[i] > first[i] for i in (1, 2))
    assert last[0] < last[1] < last[2]
    # The first of them waits only until the set has made the others ready.
    assert last[2] - last[1] > 2 * (first[2] - first[1])


@pytest.mark.parametrize("board", BOARDS)
def test_two_boots_give_the_same_bytes(board: str) -> None:
    first = boot(build(board), board, everything(board))
    second = boot(build(board), board, everything(board))
    assert first.raw == second.raw


@pytest.mark.parametrize("board", BOARDS)
def test_an_image_holds_all_benchmarks_of_the_suite(board: str) -> None:
    said = boot(build(board), board, "list\nend\n")
    sources = (inventory.root() / "suite" / "bench").glob("*.c")
    in_sources = sum(len(re.findall(r"^KDZ_BENCH\(", s.read_text(), re.M)) for s in sources)
    names = [bench.name for bench in said.all(Bench)]
    assert len(names) == len(set(names))
    assert len(names) >= in_sources
    for bench in said.all(Bench):
        assert bench.begins and bench.ends and bench.source
        assert bench.available or bench.reason


@pytest.mark.parametrize("board", BOARDS)
def test_the_image_fits_the_memory_and_leaves_room_for_samples(board: str) -> None:
    folder = build(board)
    memory = inventory.board(board).memory
    assert memory is not None
    hello = boot(folder, board, "end\n").only(Hello)
    assert hello.storage >= 512
    sections = run("size", "-A", str(folder / "kadenz-suite.elf"))
    held = {
        name: int(size)
        for name, size, _ in re.findall(r"^(\.\w+|kdz_bench)\s+(\d+)\s+(\d+)", sections, re.M)
    }
    data = sum(held.get(n, 0) for n in (".data", ".bss", ".noinit", ".storage", ".stack"))
    assert data <= memory.data_bytes
    assert held[".storage"] // 4 == hello.storage


def test_the_tick_of_the_hifive_divides_its_crystal() -> None:
    hello = boot(build("hifive1-revb"), "hifive1-revb", "end\n").only(Hello)
    assert hello.timer_hz == 32768
    assert hello.timer_hz % hello.tick_hz == 0


def test_the_clock_of_the_stm32_counts_one_per_instruction() -> None:
    """TIM2 replaces the cycle counter that QEMU lacks: fine, steady, and not SysTick."""
    said = boot(
        build("stm32f4"),
        "stm32f4",
        "clock/resolution id=0 samples=200\nclock/read-cost id=1 samples=200\n"
        "clock/monotonic id=2 samples=500\nend\n",
    )
    assert said.only(Hello).clock.name == "tim2"
    cost = said.values("clock/read-cost")
    assert set(np.unique(cost)) == {2}  # the load of the pointer and the load of the counter
    assert said.values("clock/resolution").max() < 6  # SysTick would step by 168 MHz / 1 GHz
    assert said.record("clock/monotonic")[1].proof.failed == 0


@pytest.mark.parametrize("board", BOARDS)
def test_a_full_storage_is_drained_and_every_sample_arrives(board: str) -> None:
    said = boot(build(board), board, "micro/task-switch-sampled id=5 samples=30000\nend\n")
    _, end = said.record("micro/task-switch-sampled")
    assert end.status == "ok"
    assert len(end.drains) >= 1
    assert said.values("micro/task-switch-sampled").size == 30000
