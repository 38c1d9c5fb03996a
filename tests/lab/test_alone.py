# SPDX-License-Identifier: Apache-2.0
"""Two measurements of one Linux at once: the second waits or refuses, and names the first."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from kadenz.errors import TargetFailed
from kadenz.host.machine_lock import alone_on_this_linux


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
        words = rf"process {child} of .* since 20\d\d-"
        with pytest.raises(TargetFailed, match=words) as caught, refused:
            pass
        assert caught.value.exit_code == 1
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_second_measurement_waits_and_a_killed_holder_releases_the_lock() -> None:
    child, _ = holder()
    told: list[str] = []

    def waiting(words: str) -> None:
        told.append(words)
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
            alone_on_this_linux(wait=True, waiting=lambda words: stop.set(), stopped=stop.is_set),
        ):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
