# SPDX-License-Identifier: Apache-2.0
"""A recording of the real perf: the planted delay is named with its size."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from pathlib import Path

import pytest

from tests.watching.test_live import NAMESPACE, ctl_of, delays, planted, watched

__all__ = ["planted"]
pytestmark = pytest.mark.machine

EVENTS = (
    "sched:sched_switch",
    "sched:sched_waking",
    "syscalls:sys_*_clock_nanosleep",
    "syscalls:sys_*_futex",
)


def test_a_recording_of_perf_gives_the_planted_cause(planted: Path, tmp_path: Path) -> None:
    if shutil.which("perf") is None:
        pytest.skip("no perf here")
    file = tmp_path / "recording"
    events = [word for event in EVENTS for word in ("-e", event)]
    record = ["perf", "record", "-q", "-a", "-k", "mono", "-m", "4M", "-o", str(file), *events]
    answer = subprocess.run(
        [*NAMESPACE, *record, "--", str(planted), "locked", "60"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    thread = ctl_of(watched(tmp_path, file, "--thread", "ctl", "--deadline", "1500us"))
    (named,) = (each for each in thread["causes"] if "for thread low" in each["cause"])
    print(named, "by the program:", statistics.median(delays(answer.stdout)))
    assert named["late"] >= 3
    assert named["median"] == pytest.approx(statistics.median(delays(answer.stdout)), rel=0.2)
