# SPDX-License-Identifier: Apache-2.0
"""Thread-Metric by its rule under a timing model: counts per window, and cycles of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.analysis import RunResult, analyse
from kadenz.analysis.structures.windows import Windows
from kadenz.cli import cli
from kadenz.cli.folders import find_runs

pytestmark = pytest.mark.counted
BENCHES = ("basic", "cooperative", "preemptive", "interrupt", "message", "synchronization")
LENGTH = ("--quick", "--set", "window_us=2000", "--set", "samples=3")


def measured(folder: Path, target: str, *options: str) -> RunResult:
    names = [f"thread-metric/{name}" for name in BENCHES]
    asked = ["run", *names, "--target", target, "--output", str(folder), *LENGTH, *options]
    answer = CliRunner().invoke(cli, asked, standalone_mode=False)
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([folder])
    return analyse(run)


def counted(run: RunResult, name: str) -> Windows:
    """What the windows of a record count: three were asked for, and the first is cold."""
    (record,) = run.find(f"thread-metric/{name}")
    assert record.entry.cold == 1
    windows = record.structure(Windows)
    assert windows is not None and windows.windows == 2
    return windows


def test_the_rule_counts_under_a_model_as_on_the_core(tmp_path: Path) -> None:
    model = measured(tmp_path / "model", "freertos/ibex@emulated", "--instrument", "model")
    core = measured(tmp_path / "core", "freertos/ibex@rtl")
    assert model.manifest.clock.clock_class == "cycle-model"
    for name in BENCHES:
        ours, theirs = counted(model, name), counted(core, name)
        # A window cuts an operation at each end. QEMU's hold more: a tick is a million
        # instructions.
        cut = 2.0 * theirs.windows / min(ours.operations, theirs.operations)
        assert abs(ours.per_operation / theirs.per_operation - 1.0) < 0.01 + cut, name


def test_an_interval_of_a_model_does_not_change_the_count(tmp_path: Path) -> None:
    """The Cortex-M4's spans have a least and a most; operations are one number."""
    run = measured(tmp_path / "m4", "freertos/stm32f4@emulated", "--instrument", "model")
    for name in BENCHES:
        (record,) = run.find(f"thread-metric/{name}")
        kinds = {lane.name for lane in record.entry.lanes}
        assert kinds == {"window", "window:operations", "window:low", "window:high"}
        assert all(lane.taken == 3 for lane in record.entry.lanes)
