# SPDX-License-Identifier: Apache-2.0
"""A target that has no processor is not silent, and the run says that the machine is busy."""

from __future__ import annotations

import pytest

from kadenz.farm.order import _Recorded
from kadenz.lab.waits import Waits
from tests.lab.fake import Scripted


class Emulator(Scripted):
    """A target beside other processes."""

    waited = 0.0
    threads: dict[str, tuple[float, float]] | None = None

    def thread_times(self) -> dict[str, tuple[float, float]]:
        return self.threads if self.threads is not None else {"1": (0.0, self.waited)}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of this test, in place of the machine's."""
    now = [100.0]
    monkeypatch.setattr("kadenz.lab.waits.time.monotonic", lambda: now[0])
    return now


def test_silence_is_counted_from_the_last_word(clock: list[float]) -> None:
    waits = Waits(Scripted([]), lambda _: None)
    clock[0] += 3.0
    assert waits.silent_s() == pytest.approx(3.0)
    waits.heard()
    clock[0] += 1.0
    assert waits.silent_s() == pytest.approx(1.0)


def test_time_without_a_processor_is_no_silence(clock: list[float]) -> None:
    target = Emulator([])
    waits = Waits(target, lambda _: None)
    target.waited, clock[0] = 4.0, clock[0] + 10.0
    assert waits.silent_s() == pytest.approx(6.0)
    waits.heard()
    clock[0] += 2.0  # of which it waited for none
    assert waits.silent_s() == pytest.approx(2.0)


def test_a_target_on_a_worker_of_a_farm_says_so_too(clock: list[float]) -> None:
    target = Emulator([])
    waits = Waits(_Recorded(target), lambda _: None)
    target.waited, clock[0] = 4.0, clock[0] + 10.0
    assert waits.silent_s() == pytest.approx(6.0)


def test_a_hung_target_is_found_beside_other_processes(clock: list[float]) -> None:
    """Its threads wait for an event, not for a processor."""
    target = Emulator([])
    waits = Waits(target, lambda _: None)
    target.waited = 1.0
    clock[0] += 1000.0
    assert waits.silent_s() == pytest.approx(999.0)


def test_a_busy_machine_is_named_once(clock: list[float]) -> None:
    target, told = Emulator([]), list[str]()
    waits = Waits(target, told.append)
    for second in range(1, 40):
        clock[0] += 1.0
        target.waited = 0.6 * second
        waits.heard()
        waits.silent_s()
    (text,) = told
    assert "this machine is busy: for 5 of 9 s" in text


def test_a_machine_with_little_else_to_do_is_not_called_busy(clock: list[float]) -> None:
    target, told = Emulator([]), list[str]()
    waits = Waits(target, told.append)
    for second in range(1, 100):
        clock[0] += 1.0
        target.waited = 0.4 * second
        waits.silent_s()
    assert told == []


def test_an_emulator_whose_threads_wait_for_each_other_is_silent(clock: list[float]) -> None:
    """As in an endless loop of its guest, where one thread has the processor of both."""
    target = Emulator([])
    waits = Waits(target, lambda _: None)
    for second in range(1, 11):
        clock[0] += 1.0
        target.threads = {"loop": (0.05 * second, 0.9 * second), "core": (0.9 * second, 0.0)}
        waits.silent_s()
    assert waits.silent_s() == pytest.approx(10.0)


def test_a_hung_emulator_is_found_where_all_its_threads_lack_a_processor(
    clock: list[float],
) -> None:
    """An endless loop of its guest on a busy machine: time that two threads lack is lost once."""
    target = Emulator([])
    waits = Waits(target, lambda _: None)
    for second in range(1, 101):
        clock[0] += 1.0
        target.threads = {"loop": (0.0, 0.6 * second), "core": (0.25 * second, 0.75 * second)}
        waits.silent_s()
    assert waits.silent_s() == pytest.approx(25.0)
