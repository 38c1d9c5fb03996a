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

from kadenz.store import Run, read_run
from tests.e2e.conftest import KADENZ, LINUX, begun, kadenz
from tests.processes import children
from tests.waiting import wait_for

BENCH = "cyclic/wakeup-latency"
PERIOD_S = 1e-3
SEED = 11
LOST_S = 1.0  # maximum loss of the running record


def start(output: Path) -> subprocess.Popen[str]:
    """Records of the clock, then one of a minute."""
    command = ["run", BENCH, "--target", LINUX, "--output", str(output)]
    # context=cheap stores each sample's cycle number, which counts cycles by the clock.
    command += ["--set", "period_us=1000", "--set", "seconds=60", "--set", "context=cheap"]
    return subprocess.Popen(
        [KADENZ, *command, "--timeout", "100"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def storage_of(output: Path) -> Path:
    """The file in memory of the only run, which is being measured."""
    (note,) = output.glob("*.partial/.running")
    return Path(json.loads(note.read_text())["storage"])


def completed(folder: Path) -> Run:
    """The run once it is mended: by this test, or by another measurement on this machine."""
    wait_for(lambda: kadenz("runs", "--mend", folder.parent).returncode == 0)
    (whole,) = folder.parent.iterdir()
    assert not whole.name.endswith(".partial")
    return read_run(whole)


def targets(pid: int) -> list[int]:
    """The suites below the lab."""
    processes = []
    for child in children(pid):
        processes += [child, *targets(child)]
    return [p for p in processes if "kadenz-suite" in Path(f"/proc/{p}/cmdline").read_text()]


@pytest.mark.machine
@pytest.mark.parametrize(
    ("who", "number"), [("lab", 0), ("lab", 1), ("lab", 2), ("target", 3), ("both", 4)]
)
def test_a_kill_costs_at_most_a_second_of_the_running_record(
    built: None, tmp_path: Path, who: str, number: int
) -> None:
    process = start(tmp_path)
    wait_for(lambda: process.poll() is not None or begun(tmp_path, BENCH))
    at, storage = time.monotonic(), storage_of(tmp_path)
    time.sleep(random.Random(SEED + number).uniform(2.0, 6.0))
    suite = targets(process.pid)
    assert suite
    measured_s = time.monotonic() - at
    victims = {"lab": [process.pid], "target": suite, "both": [*suite, process.pid]}
    for pid in victims[who]:
        os.kill(pid, signal.SIGKILL)
    _, errors = process.communicate(timeout=300)
    (folder,) = tmp_path.iterdir()
    run = completed(folder)
    if who == "target":  # the lab goes on with the rest of the plan, of which nothing is left
        assert not run.manifest.partial and process.returncode == 1
        assert "target-failed" in [warning.code for warning in run.manifest.warnings]
        assert "cyclic/wakeup-latency" in errors and "Traceback" not in errors
    else:
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
    assert not storage.exists(), "the memory is given back"
