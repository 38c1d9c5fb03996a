# SPDX-License-Identifier: Apache-2.0
"""Deadlines on real targets: an impossible one, an easy one, and a run cut short."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import BOARDS, LINUX, begun, kadenz, runs_in
from tests.e2e.test_interruptions import start
from tests.processes import children, slept
from tests.waiting import PATIENCE_S, wait_for

BENCH = "cyclic/wakeup-latency"


def rows(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    (run,) = json.loads(kadenz("show", folder, "--json", *arguments).stdout)["runs"]
    return [row for row in run["records"] if row["bench"] == BENCH]


def gate(folder: Path, deadline: str, limit: str) -> int:
    asked = f"{BENCH} {limit}"
    return kadenz("gate", folder, "--deadline", deadline, "--limit", asked).returncode


def test_an_impossible_deadline_and_an_easy_one(built: None, tmp_path: Path) -> None:
    answer = kadenz(
        *("run", BENCH, "--target", LINUX, "--output", tmp_path, "--deadline", "1ns"),
        *("--allow", "no-realtime", "--set", "period_us=50000", "--set", "samples=41"),
    )
    said = " ".join(answer.stdout.split())
    assert "40 of 40 missed 1 ns (command line), 100 %" in said, answer.stdout
    run = runs_in(tmp_path)[LINUX]
    record = next(entry for entry in run.manifest.records if entry.bench == BENCH)
    assert record.deadline is not None and record.deadline.quantity == "1ns"
    for row in rows(run.path):
        assert row["misses"] == row["cycles"] == 40
    never = sum(lane.missed for lane in record.series)  # a machine may pause for 50 ms
    for row in rows(run.path, "--deadline", "1000s"):
        assert (row["late"], row["misses"]) == (0, row["missed"])
    assert gate(run.path, "1ns", "misses = 0") == 3
    assert gate(run.path, "1000s", "misses = 0") == (3 if never else 0)
    assert gate(run.path, "1000s", "misses < 0.1%") == (3 if never >= 40 else 4)  # 80 are too few


@pytest.mark.counted
def test_an_emulated_deadline_is_in_the_clocks_own_unit(built: None, tmp_path: Path) -> None:
    arguments = ("run", BENCH, "--target", BOARDS[1], "--output", tmp_path, "--set", "samples=101")
    refused = kadenz(*arguments, "--deadline", "100us")
    assert refused.returncode == 2
    assert "100 µs cannot be compared with them" in refused.stderr
    assert not list(tmp_path.iterdir())
    campaign = tmp_path / "mine.toml"
    campaign.write_text(
        f'name = "mine"\ntitle = "mine"\ntargets = ["{BOARDS[1]}"]\n'
        f'[[benchmark]]\nname = "{BENCH}"\nsamples = 100\ndeadline = "100us"\n'
    )
    refused = kadenz("run", campaign, "--output", tmp_path / "runs")
    assert refused.returncode == 2, refused.stderr
    assert "100 µs cannot be compared with them" in refused.stderr
    assert "Give the deadline in instructions" in refused.stderr
    campaign.unlink()
    answer = kadenz(*arguments, "--deadline", "1 instruction")
    assert "100 of 100 missed 1 instruction (command line)" in " ".join(answer.stdout.split())
    run = runs_in(tmp_path)[BOARDS[1]]
    assert gate(run.path, "1 instruction", "misses = 0") == 3
    assert gate(run.path, "1e9 instructions", "misses = 0") == 0
    assert gate(run.path, "1e9 instructions", "misses < 0.1%") == 0  # emulation is repeatable


def test_cycles_after_ctrl_c_are_not_measured_and_not_missed(built: None, tmp_path: Path) -> None:
    process = start(
        *("run", BENCH, "--target", LINUX, "--output", tmp_path, "--allow", "no-realtime"),
        *("--set", "samples=500000", "--set", "period_us=2000"),
    )
    wait_for(lambda: begun(tmp_path, BENCH))
    (suite,) = children(process.pid)
    wait_for(lambda: slept(suite, "cyclic") >= 50)  # cycles
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, errors
    run = runs_in(tmp_path)[LINUX]
    record = next(entry for entry in run.manifest.records if entry.bench == BENCH)
    assert record.status == "ok" and "stopped on request" in record.reason
    for lane in record.series:
        assert lane.planned == 500000 == lane.taken + lane.missed + lane.not_measured
        assert lane.not_measured > 0 and lane.taken > 1
        measured = lane.planned - lane.not_measured
        assert f"{measured:,} of 500,000 measured" in " ".join(said.split())
    assert gate(run.path, "1000s", "max < 1000s") == 4
    assert gate(run.path, "1ns", "misses = 0") == 3
    never = sum(lane.missed for lane in record.series)  # the machine was away
    if not never:
        assert gate(run.path, "1000s", "misses < 99%") == 4
