# SPDX-License-Identifier: Apache-2.0
"""The set-up finds kadenz's packages, in a checkout with images too, whose folders link back to it.

A search that follows such links takes time exponential in their number.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIND = """
from setuptools import Distribution
found = Distribution()
found.parse_config_files(["pyproject.toml"])
print(*found.packages)
"""


def found_in(folder: Path) -> set[str]:
    """Packages that an installation of `folder` would contain."""
    command = [sys.executable, "-c", FIND]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(answer.stdout.split())


def test_every_folder_with_python_files_is_a_package() -> None:
    folders = {file.parent.relative_to(ROOT) for file in (ROOT / "kadenz").rglob("*.py")}
    assert found_in(ROOT) == {".".join(folder.parts) for folder in folders}


def test_links_of_built_images_are_not_followed(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "kadenz").symlink_to(ROOT / "kadenz")
    for number in range(40):
        image = tmp_path / "build" / f"image{number}"
        image.mkdir(parents=True)
        (image / "src").symlink_to(tmp_path)
    assert "kadenz.targets" in found_in(tmp_path)
