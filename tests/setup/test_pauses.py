# SPDX-License-Identifier: Apache-2.0
"""Pauses of the machine are seen, and only those since the beginning."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pauses import Watch

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(
        os.geteuid() != 0, reason="needs the highest real-time priority: run as root"
    ),
]
ROOT = Path(__file__).resolve().parents[2]

# A program of the highest priority on the last processor: what a virtual machine's host does.
TAKE = """
import os, time
cpu = max(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
end = time.monotonic() + 0.05
while time.monotonic() < end:
    pass
"""


def test_a_processor_that_was_taken_away_is_a_pause() -> None:
    watch = Watch()
    try:
        for _ in range(3):
            watch.begin()
            subprocess.run([sys.executable, "-S", "-c", TAKE], check=True)
            assert 0.03 < watch.longest_s() < 1.0
        watch.begin()
        assert watch.longest_s() < 0.03
    finally:
        watch.close()


@pytest.mark.parametrize(("taken", "tries"), [("", 1), (TAKE, 2)])
def test_only_behind_a_pause_a_failure_in_real_time_is_made_again(
    tmp_path: Path, taken: str, tries: int
) -> None:
    (tmp_path / "test_it.py").write_text(
        f"import pathlib, pytest, subprocess, sys\n"
        f"tries = pathlib.Path({str(tmp_path / 'tries')!r})\n"
        f"@pytest.mark.linux\n"
        f"def test_it():\n"
        f"    tries.write_text((tries.read_text() if tries.exists() else '') + '.')\n"
        f"    subprocess.run([sys.executable, '-S', '-c', {taken!r}], check=True)\n"
        f"    assert len(tries.read_text()) == 2\n"
    )
    inner = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    answer = subprocess.run(
        [*inner, "-c", str(ROOT / "pyproject.toml"), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert len((tmp_path / "tries").read_text()) == tries, answer.stdout
    assert ("1 passed, 1 rerun" if taken else "1 failed in") in answer.stdout, answer.stdout
