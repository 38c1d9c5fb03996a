# SPDX-License-Identifier: Apache-2.0
"""Two measurements of one Linux at once: the second waits or refuses, and names the first."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from kadenz.errors import TargetFailed
from kadenz.host.machine_lock import (
    alone_on_this_linux,
    order_on_this_linux,
    without_orders,
)
from tests.waiting import PATIENCE_S


@pytest.fixture(autouse=True)
def _lock_of_this_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kadenz.host.machine_lock._PLACES", (tmp_path,))


def holder() -> tuple[int, int]:
    """A process that measures until it is killed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with alone_on_this_linux(wait=False, waiting=print, stopped=lambda: False):
            os.write(write, b"x")
            signal.pause()
    os.read(read, 1)
    return child, read


def test_a_second_measurement_is_refused_with_the_holder_named() -> None:
    child, _ = holder()
    try:
        refused = alone_on_this_linux(wait=False, waiting=print, stopped=lambda: False)
        pattern = rf"process {child} of .* since 20\d\d-"
        with pytest.raises(TargetFailed, match=pattern) as caught, refused:
            pass
        assert caught.value.exit_code == 1
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_second_measurement_waits_and_a_killed_holder_releases_the_lock() -> None:
    child, _ = holder()
    told: list[str] = []

    def waiting(message: str) -> None:
        told.append(message)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    with alone_on_this_linux(wait=True, waiting=waiting, stopped=lambda: False):
        pass
    assert len(told) == 1 and f"process {child}" in told[0]


def test_ctrl_c_ends_the_waiting() -> None:
    child, _ = holder()
    stop = threading.Event()
    try:
        with (
            pytest.raises(TargetFailed),
            alone_on_this_linux(wait=True, waiting=lambda message: stop.set(), stopped=stop.is_set),
        ):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_an_order_waits_for_a_measurement_and_says_whose() -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with without_orders(waiting=print, stopped=lambda: False):
            os.write(write, b"x")
            signal.pause()
    os.read(read, 1)
    told: list[str] = []

    def waiting(message: str) -> None:
        told.append(message)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    with order_on_this_linux(waiting), order_on_this_linux(waiting):  # at the same time
        pass
    assert len(told) == 1 and f"process {child}" in told[0]


def test_a_measurement_waits_for_the_order_in_progress_and_for_no_later_one() -> None:
    events: list[str] = []
    began, asked = threading.Event(), threading.Event()

    def measure() -> None:
        def waiting(message: str) -> None:
            assert "a worker of a farm executes orders" in message
            asked.set()

        with without_orders(waiting=waiting, stopped=lambda: False):
            events.append("measured")

    def order() -> None:
        with order_on_this_linux(lambda message: began.set()):
            events.append("later order")

    with order_on_this_linux(print):
        threads = [threading.Thread(target=work) for work in (measure, order)]
        threads[0].start()
        assert asked.wait(PATIENCE_S)
        threads[1].start()
        assert began.wait(PATIENCE_S)  # it waits, although only an order is in the room
        time.sleep(0.5)
        events.append("order ended")
    for thread in threads:
        thread.join(PATIENCE_S)
    assert events == ["order ended", "measured", "later order"]


def test_ctrl_c_ends_the_waiting_for_an_order() -> None:
    stop = threading.Event()
    with (
        order_on_this_linux(print),
        pytest.raises(TargetFailed, match="a worker of a farm executes orders"),
        without_orders(waiting=lambda message: stop.set(), stopped=stop.is_set),
    ):
        pass
