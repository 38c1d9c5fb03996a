# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS is found in any layout of its tree; an incomplete tree is refused before compiling."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.tools import require
from tests.rtos.images import freertos

pytestmark = pytest.mark.counted


def configure(tree: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    options = {
        "KDZ_KERNEL": "freertos",
        "KDZ_BOARD": "stm32f4",
        "KDZ_KERNEL_SOURCE": str(tree),
        "CMAKE_TOOLCHAIN_FILE": str(inventory.root() / "arch" / "armv7m" / "toolchain.cmake"),
    }
    return subprocess.run(
        [
            str(require("cmake")),
            *("-S", str(inventory.root() / "suite"), "-B", str(folder), "-G", "Ninja"),
            *(f"-D{key}={value}" for key, value in options.items()),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("place", [".", "FreeRTOS/Source", "FreeRTOS-Kernel"])
def test_the_kernel_is_found_in_the_layout_of_each_release(place: str, tmp_path: Path) -> None:
    root = tmp_path / "tree" / place
    root.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "tree" if place == "." else root).symlink_to(freertos())
    answer = configure(tmp_path / "tree", tmp_path / "build")
    assert answer.returncode == 0, answer.stderr


def test_a_folder_without_a_kernel_is_named_with_the_remedy(tmp_path: Path) -> None:
    answer = configure(tmp_path, tmp_path / "build")
    assert answer.returncode != 0
    message = " ".join(answer.stderr.split())
    assert f"no FreeRTOS kernel in '{tmp_path}'" in message
    assert "KDZ_KERNEL_SOURCE" in message


def test_a_missing_file_of_a_tree_is_named(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for entry in freertos().iterdir():
        if entry.name != "stream_buffer.c":
            (tree / entry.name).symlink_to(entry)
    answer = configure(tree, tmp_path / "build")
    assert answer.returncode != 0
    assert "stream_buffer.c is missing" in " ".join(answer.stderr.split())
