# SPDX-License-Identifier: Apache-2.0
"""A change of known size in a real kernel: compare names it and its size, and gate fails it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.differences import differences
from kadenz.analysis.variants import two_variants
from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.store import Run
from tests.rtos.images import freertos

pytestmark = pytest.mark.counted

PLANTED = 12  # instructions in every task switch
SWITCH = "    void vTaskSwitchContext( void )\n    {\n"


def with_nops(count: int) -> str:
    """tasks.c with `count` more instructions in every task switch."""
    text = (freertos() / "tasks.c").read_text()
    assert text.count(SWITCH) == 1
    nops = f'__asm volatile ( ".rept {count}\\n nop\\n .endr" ::: "memory" );\n'
    return text.replace(SWITCH, SWITCH + nops)


def planted_tree() -> Path:
    """Next to the other builds of tests, always at the same path so that it is compiled once."""
    tree = inventory.root() / "build" / "tests" / "planted-tree"
    planted = with_nops(PLANTED)
    if not (tree / "tasks.c").exists() or (tree / "tasks.c").read_text() != planted:
        shutil.copytree(freertos(), tree, dirs_exist_ok=True)
        (tree / "tasks.c").write_text(planted)
    return tree


def test_twelve_instructions_in_the_switch_are_found_and_counted(tmp_path: Path) -> None:
    tree = planted_tree()

    command = ["run", "micro/task-switch-sampled", "itc/mutex", "--set", "samples=60"]
    command += ["--target", "freertos/stm32f4@emulated", "--rounds", "2"]
    command += ["--kernel-source", "pinned", "--kernel-source", str(tree)]
    answer = CliRunner().invoke(
        cli, [*command, "--output", str(tmp_path / "runs")], standalone_mode=False
    )
    assert answer.exception is None and answer.return_value == 0, answer.output

    (folder,) = (tmp_path / "runs").iterdir()
    assert len(list(folder.iterdir())) == 2  # a second round would be identical
    left, right = two_variants(find_runs([folder]))
    points = {
        point.bench: point for point in compare_sides(left, right, statistics=["median"]).points
    }
    for bench in ("micro/task-switch-sampled", "itc/mutex"):
        base, cand = points[bench].figures
        assert base is not None and cand == base + PLANTED
    assert points["micro/task-switch-sampled"].outcome == "worse"
    gate = CliRunner().invoke(
        cli, ["gate", str(right[0].path), "--against", str(left[0].path)], standalone_mode=False
    )
    assert gate.return_value == 3


def test_seven_nops_in_a_tree_of_the_same_version_are_the_first_difference(tmp_path: Path) -> None:
    """Even if the edited file is older than its object."""
    tree = inventory.root() / "build" / "tests" / "edited-tree"
    shutil.copytree(freertos(), tree, dirs_exist_ok=True)
    command = ["run", "micro/task-switch-sampled", "--set", "samples=60", "--kernel-source"]
    command += [str(tree), "--target", "freertos/stm32f4@emulated", "--output"]

    def measured(name: str) -> Run:
        answer = CliRunner().invoke(cli, [*command, str(tmp_path / name)], standalone_mode=False)
        assert answer.exception is None and answer.return_value == 0, answer.output
        (run,) = find_runs([tmp_path / name])
        return run

    before = measured("before")
    (tree / "tasks.c").write_text(with_nops(7))
    os.utime(tree / "tasks.c", (0, 0))
    after = measured("after")

    builds = [run.manifest.build for run in (before, after)]
    assert builds[0] is not None and builds[1] is not None
    assert builds[0].kernel_source == builds[1].kernel_source
    changed = {
        a.part for a in builds[0].parts for b in builds[1].parts if a.part == b.part and a != b
    }
    assert changed == {"kernel"}
    first, *_ = differences([before.manifest, after.manifest])
    assert (first.group, first.key) == ("source", "kernel")
    medians = [np.median(run.samples(run.record(10), 0)) for run in (before, after)]
    assert medians[1] == medians[0] + 7
    told = CliRunner().invoke(
        cli, ["compare", str(before.path), str(after.path)], standalone_mode=False
    )
    lines = told.output.splitlines()
    heading = next(n for n, line in enumerate(lines) if "the configurations differ" in line)
    assert "source: kernel" in next(line for line in lines[heading + 1 :] if ":" in line)
