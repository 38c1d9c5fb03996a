# SPDX-License-Identifier: Apache-2.0
"""An emulator has a processor of its own, if one is free, and lets go of it when it ends."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kadenz.targets.processor import (
    Processor,
    entering,
    free_processor,
    on_every_processor,
    thread_times,
)
from tests.waiting import wait_for

HERE = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
ALLOWED = sorted(os.sched_getaffinity(0))


@contextmanager
def held() -> Iterator[list[Processor]]:
    """All processors that nobody holds now; emulators of other tests may have the others."""
    processors: list[Processor] = []
    try:
        while (processor := free_processor()) is not None:
            processors.append(processor)
        yield processors
    finally:
        for processor in processors:
            processor.let_go()


@contextmanager
def child(processor: Processor, *command: str) -> Iterator[int]:
    """A process that entered `processor`; its number."""
    process = subprocess.Popen(
        command,
        pass_fds=[processor.inherited],
        preexec_fn=entering(processor, lambda: None),  # noqa: PLW1509 (few system calls)
    )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def lent_processor(number: int, *, real_time: bool) -> Processor:
    """A processor as it is given, whoever holds the real one."""
    return Processor(number, real_time, socket.socket(socket.AF_UNIX))


def may_run_in_real_time() -> bool:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def test_no_two_emulators_hold_one_processor() -> None:
    with held() as first:
        numbers = [processor.number for processor in first]
        assert len(set(numbers)) == len(numbers)
        assert set(numbers) <= set(ALLOWED)
        assert free_processor() is None


def test_a_processor_is_held_until_its_process_ends() -> None:
    processor = free_processor()
    if processor is None:
        pytest.skip("emulators of other tests hold all processors")
    with child(processor, "sleep", "600"):
        processor.let_go()
        with held() as others:
            assert processor.number not in [other.number for other in others]
    again = free_processor()
    while again is None:  # an emulator of another test may have been first
        again = free_processor()
        time.sleep(0.01)
    again.let_go()


def test_one_processor_is_left_to_everything_else() -> None:
    with held() as processors:
        for processor in processors:
            may = processor.number != ALLOWED[0] and os.getpriority(os.PRIO_PROCESS, 0) <= 0
            assert processor.real_time == may


def test_a_lab_that_was_started_by_nice_stays_behind_others() -> None:
    program = (
        "import os; os.nice(1); from kadenz.targets.processor import free_processor as free;"
        "print([one.real_time for one in list(iter(free, None))])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], env=HERE, capture_output=True, text=True, check=False
    )
    assert "True" not in answer.stdout and answer.returncode == 0, answer.stderr


def test_its_threads_run_there_above_others_where_they_may() -> None:
    number = ALLOWED[-1]
    with child(lent_processor(number, real_time=True), "sleep", "600") as pid:
        assert os.sched_getaffinity(pid) == {number}
        expected = os.SCHED_RR if may_run_in_real_time() else os.SCHED_OTHER
        assert os.sched_getscheduler(pid) == expected
    with child(lent_processor(number, real_time=False), "sleep", "600") as pid:
        assert os.sched_getaffinity(pid) == {number}
        assert os.sched_getscheduler(pid) == os.SCHED_OTHER


def test_before_it_is_examined_it_may_run_anywhere() -> None:
    with child(lent_processor(ALLOWED[-1], real_time=True), "sleep", "600") as pid:
        on_every_processor(pid)
        assert os.sched_getaffinity(pid) == set(ALLOWED)
        assert os.sched_getscheduler(pid) == os.SCHED_OTHER


def test_without_the_right_it_runs_as_any_process() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can drop rights")
    processor = lent_processor(ALLOWED[-1], real_time=True)
    program = (
        "import os, sys; from kadenz.targets.processor import Processor; os.setuid(65534);"
        f"Processor({processor.number}, True, None).enter();"
        "print(os.sched_getscheduler(0), sorted(os.sched_getaffinity(0)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env=HERE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split() == [str(os.SCHED_OTHER), f"[{processor.number}]"]


def test_a_processor_that_was_taken_away_costs_nothing() -> None:
    with child(lent_processor(1023, real_time=False), "sleep", "600") as pid:
        assert os.sched_getaffinity(pid) == set(ALLOWED)


def test_the_time_that_others_had_its_processor_is_counted() -> None:
    number = ALLOWED[-1]
    spin = ("sh", "-c", "while :; do :; done")
    with (
        child(lent_processor(number, real_time=False), *spin) as spinning,
        child(lent_processor(number, real_time=False), *spin) as other,
    ):
        wait_for(lambda: min(waited(spinning), waited(other)) >= 0.05)
        assert sum(ran for ran, _ in thread_times(spinning).values()) > 0.0
    assert thread_times(spinning) == {}  # it has ended


def waited(pid: int) -> float:
    return sum(waited for _, waited in thread_times(pid).values())
