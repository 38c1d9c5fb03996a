# SPDX-License-Identifier: Apache-2.0
"""A change of known size in a real kernel: compare names its size, and gate fails it."""

from __future__ import annotations

import shutil
from pathlib import Path

from click.testing import CliRunner

from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.variants import two_variants
from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import house
from tests.rtos.images import freertos

PLANTED = 12  # instructions in every task switch
SWITCH = "    void vTaskSwitchContext( void )\n    {\n"


def planted_tree() -> Path:
    """Beside the other builds of tests, always the same place: it is compiled once."""
    tree = house.root() / "build" / "tests" / "planted-tree"
    text = (freertos() / "tasks.c").read_text()
    assert text.count(SWITCH) == 1
    nops = f'__asm volatile ( ".rept {PLANTED}\\n nop\\n .endr" ::: "memory" );\n'
    planted = text.replace(SWITCH, SWITCH + nops)
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
    assert len(list(folder.iterdir())) == 2  # the second round would say the same
    left, right = two_variants(find_runs([folder]))
    found = {
        point.bench: point for point in compare_sides(left, right, statistics=["median"]).points
    }
    for bench in ("micro/task-switch-sampled", "itc/mutex"):
        base, cand = found[bench].figures
        assert base is not None and cand == base + PLANTED
    assert found["micro/task-switch-sampled"].outcome == "worse"
    gate = CliRunner().invoke(
        cli, ["gate", str(right[0].path), "--against", str(left[0].path)], standalone_mode=False
    )
    assert gate.return_value == 3
