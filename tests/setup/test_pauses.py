# SPDX-License-Identifier: Apache-2.0
"""Pauses of the machine are seen, and only those since the beginning."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.pauses import Watch

# A program of the highest priority on the last processor: what a virtual machine's host does.
TAKE = """
import os, time
cpu = max(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
end = time.monotonic() + 0.05
while time.monotonic() < end:
    pass
"""


@pytest.mark.linux
def test_a_processor_that_was_taken_away_is_a_pause() -> None:
    watch = Watch()
    try:
        for _ in range(3):
            watch.begin()
            subprocess.run([sys.executable, "-S", "-c", TAKE], check=True)
            assert 0.03 < watch.longest_s() < 1.0
        watch.begin()
        assert watch.longest_s() < 0.03
    finally:
        watch.close()
