# SPDX-License-Identifier: Apache-2.0
"""Timelines name the threads of every kernel by the lines of its kernel.toml.

Most of these kernels are in no registry. An image of FreeRTOS stands in for each
(`standing_in.py`). With the kernels themselves the same is shown where KADENZ_TEST_TREES names a
folder with their trees.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.forked import kadenz
from tests.kernels.standing_in import saying, stand_in_image

pytestmark = pytest.mark.counted

BENCH = "itc/semaphore-binary"
TREES = os.environ.get("KADENZ_TEST_TREES", "")


@pytest.fixture(scope="module")
def image() -> Path:
    """The image that stands in for every kernel."""
    return stand_in_image()


def threads(folder: Path, *options: str) -> list[str]:
    """The threads of a timeline of BENCH."""
    answer = kadenz("trace", BENCH, "--set", "samples=5", "--output", folder / "runs", *options)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (file,) = (folder / "runs").glob("*/timelines/*.timeline.json")
    tracks = json.loads(file.read_text())["tracks"]
    names = [track["name"] for track in tracks if track["kind"] == "thread"]
    assert all(name in answer.stdout for name in names)
    return names


@pytest.mark.parametrize(
    ("kernel", "idle"),
    [("CMSIS-RTOS2", "IDLE"), ("ThreadX", "no thread"), ("Zephyr", "IDLE")],
)
def test_threads_have_their_names(kernel: str, idle: str, image: Path, tmp_path: Path) -> None:
    given = saying(image, kernel, tmp_path)
    names = threads(tmp_path, "--target", "stm32f4@emulated", "--image", str(given))
    assert {"main", "task 1", "task 2", idle} == set(names)


def test_tasks_without_names_are_told_apart_by_their_place(image: Path, tmp_path: Path) -> None:
    given = saying(image, "TOPPERS/ASP3", tmp_path)
    names = threads(tmp_path, "--target", "stm32f4@emulated", "--image", str(given))
    tasks = [name for name in names if name.startswith("thread _kernel_tcb_table")]
    assert len(tasks) == 3 and set(names) - set(tasks) == {"no thread"}


def test_a_kernel_that_nobody_declared_is_one_row(image: Path, tmp_path: Path) -> None:
    given = saying(image, "somebody's", tmp_path)
    assert threads(tmp_path, "--target", "stm32f4@emulated", "--image", str(given)) == ["thread"]


# ---- the kernels themselves ----------------------------------------------------------------------
REAL = {
    "threadx/stm32f4": ("threadx", {"main", "task 1", "task 2"}),
    "cmsis-rtos2/stm32f4": ("RTX", {"main", "task 1", "task 2", "osRtxIdle"}),
    "itron/stm32f4": ("asp3_core", {"thread _kernel_tcb_table", "no thread"}),
    "itron/hifive1-revb": ("asp3_core", {"thread _kernel_tcb_table", "no thread"}),
}


@pytest.mark.parametrize("target", REAL)
def test_threads_of_the_kernel_itself(target: str, tmp_path: Path) -> None:
    folder, expected = REAL[target]
    kernel, tree = target.partition("/")[0], Path(TREES, folder)
    if not TREES or not tree.is_dir():
        pytest.skip(f"no tree of {kernel}: KADENZ_TEST_TREES names no folder with {folder}/")
    options = ("--target", f"{target}@emulated", "--kernel-source", str(tree))
    assert expected <= set(threads(tmp_path, *options))
