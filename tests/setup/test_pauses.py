# SPDX-License-Identifier: Apache-2.0
"""Pauses of the machine are detected, and only those since the start of the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pauses import LateError, Watch, timing

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(
        os.geteuid() != 0, reason="needs the highest real-time priority: run as root"
    ),
]
ROOT = Path(__file__).resolve().parents[2]

# A program of the highest priority on the last processor, like a virtual machine's host.
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


def outcome(folder: Path, body: str, count: int = 1) -> tuple[int, str]:
    """The number of tries of tests with `body`, and pytest's output."""
    tries = folder / "tries"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    tests = "".join(f"@pytest.mark.linux\ndef test_{n}():\n{lines}" for n in range(count))
    (folder / "test_it.py").write_text(
        f"import pathlib, pytest, subprocess, sys\n"
        f"from tests.pauses import timing\n"
        f"def tried():\n"
        f"    with pathlib.Path({str(tries)!r}).open('a') as file: file.write('.')\n"
        f"    return {str(tries)!r}\n"
        f"def pause():\n"
        f"    subprocess.run([sys.executable, '-S', '-c', {TAKE!r}], check=True)\n"
        f"{tests}"
    )
    inner = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    answer = subprocess.run(
        [*inner, "-c", str(ROOT / "pyproject.toml"), str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return len(tries.read_text()), answer.stdout


def test_an_assertion_on_timing_after_a_pause_is_retried_and_reported(tmp_path: Path) -> None:
    body = "place = tried()\npause()\nwith timing():\n    assert len(open(place).read()) == 2"
    tries, said = outcome(tmp_path, body)
    assert tries == 2 and "1 passed, 1 rerun" in said, said
    assert "assertions on timing retried: 1 of 12" in said
    assert "test_0: the machine paused for" in said


def test_any_other_failure_counts_even_after_a_pause(tmp_path: Path) -> None:
    for n, wrong in enumerate(("assert False", "raise OSError", "pytest.fail('no')")):
        folder = tmp_path / str(n)
        folder.mkdir()
        tries, said = outcome(folder, f"tried()\npause()\n{wrong}")
        assert tries == 1 and "1 failed in" in said, said
        assert "retried" not in said


def test_without_a_pause_a_timing_failure_counts(tmp_path: Path) -> None:
    """If the machine happens to pause, it is retried and reported."""
    tries, said = outcome(tmp_path, "tried()\nwith timing():\n    assert False")
    assert tries == 1 or "the machine paused for" in said, said
    assert "1 failed" in said


def test_it_is_retried_at_most_twice(tmp_path: Path) -> None:
    tries, said = outcome(tmp_path, "tried()\npause()\nwith timing():\n    assert False")
    assert tries == 3 and "1 failed, 2 rerun" in said, said


def test_a_run_has_a_budget_of_retries(tmp_path: Path) -> None:
    body = "tried()\npause()\nwith timing():\n    assert False"
    tries, said = outcome(tmp_path, body, count=8)
    assert tries == 8 + 12, said
    assert "retried: 12 of 12" in said and "The budget of 12 retries of this run is spent" in said


def test_the_timing_of_a_test_that_is_not_in_real_time_is_never_excused(tmp_path: Path) -> None:
    body = "tried()\npause()\nwith timing():\n    assert False"
    (tmp_path / "conftest.py").write_text(
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        item.own_markers = [m for m in item.own_markers if m.name != 'linux']\n"
    )
    tries, said = outcome(tmp_path, body)
    assert tries == 1 and "1 failed" in said, said


def test_timing_accepts_only_the_exceptions_it_names() -> None:
    with pytest.raises(LateError, match="late"), timing(TimeoutError):
        raise TimeoutError("late")
    with pytest.raises(LateError), timing():
        assert not "a figure"
    with pytest.raises(OSError, match="broken"), timing(TimeoutError):
        raise OSError("broken")
