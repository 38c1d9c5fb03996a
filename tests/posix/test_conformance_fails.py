# SPDX-License-Identifier: Apache-2.0
"""The conformance cases of mechanisms must be able to fail: they find known defects."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.images import compiler_cache, shared_name
from kadenz.tools import require
from tests.pauses import timing
from tests.posix.conftest import decode

MUTANT = Path(__file__).parent / "targets" / "mutant.c"

pytestmark = pytest.mark.linux
DEFECTS = {
    "eventfd is kept and wakes",
    "mutex-plain excludes and keeps its protocol",
    "mutex-robust survives its owner",
}


def build() -> Path:
    """An image in its own folder."""
    folder = inventory.root() / "build" / "tests" / "posix-linux-counter-mutant"
    home = shared_name.link(folder, keep=".lock")
    cmake = str(require("cmake"))
    for command in (
        [
            *(cmake, "-S", str(home / "suite"), "-B", str(folder), "-G", "Ninja"),
            *("-DKDZ_KERNEL=posix", "-DKDZ_BOARD=linux", "-DKDZ_INSTRUMENT=counter"),
            f"-DKDZ_EXTRA_BENCH={MUTANT}",
            *(f"-D{key}={value}" for key, value in compiler_cache.options().items()),
            "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--wrap=kdz_mechanism_at",
        ],
        [cmake, "--build", str(folder), "--parallel", "2"],
    ):
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=compiler_cache.environment(folder),
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
    return folder / "kadenz-suite"


def test_defective_notifications_fail_exactly_their_own_cases() -> None:
    answer = subprocess.run(
        [build()], input=b"conformance\nend\n", capture_output=True, timeout=60, check=False
    )
    said = decode(answer.stdout, answer.returncode, answer.stderr.decode())
    failed = {case.case: case.reason for case in said.cases if case.result == "fail"}
    with timing():  # the other cases order their threads by sleeping some ms
        assert set(failed) <= DEFECTS
    assert set(failed) == DEFECTS
    assert "lost" in failed["eventfd is kept and wakes"]
    assert "lent" in failed["mutex-plain excludes and keeps its protocol"]
