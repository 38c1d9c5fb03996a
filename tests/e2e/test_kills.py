# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of the lab, its target, or both, at random moments of a record on this Linux: the run
contains all samples up to a second before, and every completed record."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from kadenz.store import read_run
from tests.e2e.conftest import KADENZ, LINUX
from tests.processes import children

PERIOD_S = 1e-3
SEED = 11
LOST_S = 1.0  # maximum loss of the running record


def start(output: Path) -> subprocess.Popen[str]:
    """Records of the clock, then one of a minute."""
    command = ["run", "cyclic/wakeup-latency", "--target", LINUX, "--output", str(output)]
    # context=cheap stores each sample's cycle number, which counts cycles by the clock.
    command += ["--set", "period_us=1000", "--set", "seconds=60", "--set", "context=cheap"]
    return subprocess.Popen(
        [KADENZ, *command, "--timeout", "100"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_record(output: Path, process: subprocess.Popen[str]) -> float:
    """The time at which the long record is in the manifest, on CLOCK_MONOTONIC."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        for file in output.glob("*.partial/run.json"):
            try:
                records = json.loads(file.read_text())["records"]
            except (OSError, ValueError):
                continue
            if records and records[-1]["bench"].startswith("cyclic/"):
                return time.monotonic()
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("the record did not begin")


def targets(pid: int) -> list[int]:
    """The suites below the lab."""
    found = []
    for child in children(pid):
        found += [child, *targets(child)]
    return [p for p in found if "kadenz-suite" in Path(f"/proc/{p}/cmdline").read_text()]


@pytest.mark.linux
@pytest.mark.parametrize(
    ("who", "number"), [("lab", 0), ("lab", 1), ("lab", 2), ("target", 3), ("both", 4)]
)
def test_a_kill_costs_at_most_a_second_of_the_running_record(
    built: None, tmp_path: Path, who: str, number: int
) -> None:
    process = start(tmp_path)
    begun = wait_for_record(tmp_path, process)
    time.sleep(random.Random(SEED + number).uniform(2.0, 6.0))
    suite = targets(process.pid)
    assert suite
    measured_s = time.monotonic() - begun
    victims = {"lab": [process.pid], "target": suite, "both": [*suite, process.pid]}
    for pid in victims[who]:
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    (folder,) = tmp_path.iterdir()
    run = read_run(folder)
    assert not run.path.name.endswith(".partial")
    assert run.manifest.partial and run.manifest.partial_reason
    *ended, long = run.manifest.records
    assert ended and all(entry.status in ("ok", "n/a") for entry in ended)
    assert all(entry.bench.startswith("clock/") for entry in ended)
    assert long.status == "failed"
    assert any(lane.name.endswith(":cycle") for lane in long.lanes)
    for lane in long.lanes:
        values = run.samples(long, lane)
        assert lane.planned == lane.taken + lane.missed + lane.not_measured
        assert lane.taken == values.size
        if lane.name.endswith(":cycle"):
            # Missed cycles leave gaps; the last number shows the progress of the record.
            assert values[-1] * PERIOD_S >= measured_s - LOST_S
        else:
            assert np.all(values < 2**32 - 1)
    shown = subprocess.run([KADENZ, "show", run.path], capture_output=True, text=True, check=True)
    assert "clock/resolution" in shown.stdout and "cyclic/wakeup-latency" in shown.stdout
    assert not list(Path("/dev/shm").glob("kadenz-storage-*")), "the memory is given back"
