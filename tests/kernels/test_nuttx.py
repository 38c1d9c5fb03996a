# SPDX-License-Identifier: Apache-2.0
"""kernels/nuttx on a tree of NuttX, which is in no registry, and the errors of other folders.

The tree is the folder `nuttx` in KADENZ_TEST_TREES; docs/kernels/nuttx.md has the results on it. In
every test run the port is compiled against declarations of its calls (test_declarations.py).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.target_name import TargetName
from tests.forked import kadenz

pytestmark = pytest.mark.counted

TARGET = TargetName("nuttx", "stm32f4", "emulated")
TREES = os.environ.get("KADENZ_TEST_TREES", "")


def write_tree(folder: Path, lacking: str = "") -> Path:
    """A folder with empty files where NuttX's are that the port asks for first."""
    source = inventory.kernel("nuttx").source
    assert source is not None
    for name in source.files:
        if name != lacking:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    return folder


def test_without_a_tree_nothing_is_run_and_the_remedy_is_shown() -> None:
    answer = kadenz("conformance", str(TARGET))
    assert answer.returncode == 2
    assert "NuttX needs a source tree" in answer.stderr
    assert "--kernel-source nuttx=DIR" in answer.stderr


def test_doctor_says_what_the_target_needs() -> None:
    answer = kadenz("doctor", "--json")
    targets = {target["name"]: target for target in json.loads(answer.stdout)["targets"]}
    assert "needs a source tree" in str(targets[str(TARGET)])


def test_a_folder_that_is_not_nuttx_is_refused(tmp_path: Path) -> None:
    answer = kadenz("conformance", str(TARGET), "--kernel-source", tmp_path)
    assert answer.returncode == 2
    assert "incomplete tree of NuttX" in answer.stderr
    assert "sched/init/nx_start.c" in answer.stderr


def test_an_older_nuttx_is_refused_with_the_version_that_it_takes(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, lacking="sched/sched/sched_processtick.c")
    answer = kadenz("conformance", str(TARGET), "--kernel-source", tree)
    assert answer.returncode == 2
    assert "sched_processtick.c is missing" in " ".join(answer.stderr.split())
    assert "NuttX 12.13.0 or later" in " ".join(answer.stderr.split())


def test_a_tree_with_a_file_less_is_refused_by_its_name(tmp_path: Path) -> None:
    answer = kadenz("conformance", str(TARGET), "--kernel-source", write_tree(tmp_path))
    assert answer.returncode == 1
    assert re.search(r"the NuttX in .* lacks arch/arm/src/", " ".join(answer.stderr.split()))


@pytest.fixture(scope="module")
def tree() -> Path:
    """A tree of NuttX; without one the test is skipped."""
    folder = Path(TREES, "nuttx")
    if not TREES or not folder.is_dir():
        pytest.skip(f"no tree of nuttx: KADENZ_TEST_TREES names no folder with {folder.name}/")
    return folder


def test_conformance_passes(tree: Path) -> None:
    answer = kadenz("conformance", str(TARGET), "--kernel-source", tree)
    assert answer.returncode == 0, answer.stdout
    assert " 0 failed" in answer.stdout


def test_two_runs_are_byte_identical(tree: Path, tmp_path: Path) -> None:
    samples = []
    for name in ("first", "second"):
        answer = kadenz(
            *("run", "micro/preemption-sampled", "irq/to-task", "itc/message-queue", "--fresh"),
            *("--set", "samples=50", "--target", str(TARGET), "--kernel-source", tree),
            *("--output", tmp_path / name),
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
        files = sorted((tmp_path / name).glob("**/*.npy"))
        samples.append([file.read_bytes() for file in files])
    assert samples[0] and samples[0] == samples[1]
