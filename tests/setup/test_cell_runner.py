# SPDX-License-Identifier: Apache-2.0
"""The robot cell's tests are left out only where they passed, and no other program is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

RUNNER = Path(__file__).resolve().parents[2] / "scripts" / "cell-runner.sh"
CLOSING = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"


@pytest.fixture
def passed(tmp_path: Path) -> Path:
    return tmp_path / "passed"


def called(folder: Path, name: str, code: int, passed: Path) -> subprocess.CompletedProcess[str]:
    """cargo's call for a test program that prints its closing line and ends with `code`."""
    program = folder / f"{name}-0123456789abcdef"
    program.write_text(f'#!/bin/sh\necho "$@"\necho "{CLOSING}"\nexit {code}\n')
    program.chmod(0o755)
    files = {"CELL_PASSED": str(passed), "CELL_PASSES": str(folder / "now")}
    return subprocess.run(
        [RUNNER, program, "--quiet"],
        env={**os.environ, **files},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_pass_gives_the_number_of_tests(tmp_path: Path, passed: Path) -> None:
    answer = called(tmp_path, "cell", 0, passed)
    assert answer.returncode == 0 and answer.stdout == f"--quiet\n{CLOSING}\n"
    assert (tmp_path / "now").read_text() == "3\n"


def test_a_failure_is_the_programs_and_gives_none(tmp_path: Path, passed: Path) -> None:
    assert called(tmp_path, "cell", 101, passed).returncode == 101
    assert not (tmp_path / "now").exists()


def test_what_passed_is_named_and_not_run(tmp_path: Path, passed: Path) -> None:
    passed.write_text("3\n")
    answer = called(tmp_path, "cell", 101, passed)
    assert answer.returncode == 0
    assert answer.stdout.startswith("cell: 3 not run, they passed with the same inputs")
    assert not (tmp_path / "now").exists()


def test_other_programs_run(tmp_path: Path, passed: Path) -> None:
    passed.write_text("3\n")
    for name in ("answers", "cellar"):
        assert called(tmp_path, name, 101, passed).returncode == 101
