# SPDX-License-Identifier: Apache-2.0
"""Puts kadenz's parts into the wheel, below kadenz/parts; pyproject.toml has everything else.

In a checkout the parts are the tracked files, so that nothing built or downloaded travels. A source
archive holds only them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PARTS = (
    "LICENSE",  # `kadenz export-suite` hands it on
    "arch",
    "boards",
    "campaigns",
    "fieldbus",
    "instruments",
    "kernels",
    "published",
    "schemas",
    "servers",
    "suite",
    "tunings",
    # What `kadenz setup` runs.
    "scripts/debian-packages.txt",
    "scripts/debian-packages-guests-x86-64.txt",
    "scripts/debian-packages-guests.txt",
    "scripts/debian-packages-tests.txt",
    "scripts/guest-kernels.sh",
    "scripts/lib.sh",
    "scripts/private-apt.sh",
    "scripts/setup-compilers.sh",
    "scripts/setup-debian.sh",
    "scripts/setup-machine.sh",
    "scripts/setup-qemu.sh",
    "scripts/setup-rust-core.sh",
    "scripts/setup-rust.sh",
)


def files() -> list[str]:
    """Every file of the parts, relative to this folder."""
    if (ROOT / ".git").exists():
        # Root may install a checkout that belongs to somebody else.
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--", *PARTS]
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if answer.returncode:
            sys.exit(f"{ROOT}: git does not list the files of kadenz: {answer.stderr.strip()}")
        found = [name for name in answer.stdout.split("\0") if name]
    else:
        below = [path for part in PARTS for path in ((ROOT / part), *(ROOT / part).rglob("*"))]
        found = [str(path.relative_to(ROOT)) for path in below if path.is_file()]
    return [name for name in found if (ROOT / name).is_file()]


class BuildWithParts(build_py):
    """The parts are package data that lies elsewhere: they are in the wheel and in the sdist."""

    def get_data_files_without_manifest(self) -> list[tuple[str, str, str, list[str]]]:
        """As setuptools wants them: package, source folder, target folder, files."""
        target = os.path.join(self.build_lib, "kadenz", "parts")  # noqa: PTH118  # setuptools' type
        own = super().get_data_files_without_manifest()
        return [*own, ("kadenz", ".", target, files())]

    _get_data_files = get_data_files_without_manifest


setup(cmdclass={"build_py": BuildWithParts})
