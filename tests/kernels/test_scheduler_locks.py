# SPDX-License-Identifier: Apache-2.0
"""Sections with the scheduler locked: found, not applicable, or not known, by kernel.toml.

What is not known is no bound: a budget refuses it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kadenz.analysis.blocking import longest_section
from kadenz.analysis.profiles import view
from kadenz.config.profile import Profile
from kadenz.errors import UsageError
from kadenz.store import Run, read_run
from kadenz.store.profiles import read_profiles
from tests.forked import kadenz
from tests.kernels.standing_in import saying, stand_in_image

pytestmark = pytest.mark.counted

BENCH = "critical/queue-send"
TREES = os.environ.get("KADENZ_TEST_TREES", "")


@pytest.fixture(scope="module")
def image() -> Path:
    """The image that stands in for every kernel."""
    return stand_in_image()


def profiled(folder: Path, *options: str) -> tuple[Run, Profile, str]:
    """A profiled run of BENCH, its profile, and its row of the table."""
    output = folder / "runs"
    settings = ("--set", "samples=3", "--set", "waiter=1", "--output", output)
    answer = kadenz("profile", BENCH, *settings, *options)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (file,) = output.glob("*/run.json")
    run = read_run(file.parent)
    row = re.search(r"^ *queue-send .*$", answer.stdout, re.MULTILINE)
    assert row is not None, answer.stdout
    (profile,) = (candidate for candidate in read_profiles(run) if candidate.bench == BENCH)
    return run, profile, row.group()


def of_kernel(name: str, image: Path, folder: Path) -> tuple[Run, Profile, str]:
    given = str(saying(image, name, folder))
    return profiled(folder, "--target", "stm32f4@emulated", "--image", given)


def test_threadx_counts_preemption_off(image: Path, tmp_path: Path) -> None:
    run, profile, _ = of_kernel("ThreadX", image, tmp_path)
    assert profile.lock.watched
    assert any(view(lane, "all").locked for lane in profile.lanes)
    assert longest_section([run]) is not None


@pytest.mark.parametrize("kernel", ["CMSIS-RTOS2", "TOPPERS/ASP3", "Zephyr"])
def test_services_that_lock_no_scheduler_are_not_applicable(
    kernel: str, image: Path, tmp_path: Path
) -> None:
    run, profile, row = of_kernel(kernel, image, tmp_path)
    assert not profile.lock.watched and profile.lock.lacks
    assert "n/a" in row
    assert longest_section([run]) is not None


def test_a_lock_that_nobody_declared_is_no_bound(image: Path, tmp_path: Path) -> None:
    run, _, row = of_kernel("somebody's", image, tmp_path)
    assert row.count("not known") == 2
    with pytest.raises(UsageError, match="locks its scheduler") as refused:
        longest_section([run])
    assert "scheduler_lock" in refused.value.remedy


# ---- the kernels themselves ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "folder"), [("threadx", "threadx"), ("cmsis-rtos2", "RTX"), ("itron", "asp3_core")]
)
def test_sections_of_the_kernel_itself(kernel: str, folder: str, tmp_path: Path) -> None:
    tree = Path(TREES, folder)
    if not TREES or not tree.is_dir():
        pytest.skip(f"no tree of {kernel}: KADENZ_TEST_TREES names no folder with {folder}/")
    options = ("--target", f"{kernel}/stm32f4@emulated", "--kernel-source", str(tree))
    run, profile, _ = profiled(tmp_path, *options)
    assert profile.lock.known
    assert any(view(lane, "all").locked for lane in profile.lanes) == (kernel == "threadx")
    assert longest_section([run]) is not None
