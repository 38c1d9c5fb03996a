# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of a measuring lab, then `run --resume`: the bytes of a run that was never stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kadenz.store import Run, read_run
from tests.e2e.conftest import BOARDS, LINUX, begun, kadenz
from tests.e2e.test_interruptions import start, wait_for

CALL = ("run", "micro/task-switch-sampled", "micro/preemption-sampled", "--name", "kept")


def files(run: Run) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((run.path / "samples").iterdir())}


def the_run(folder: Path) -> Run:
    (path,) = folder.iterdir()
    return read_run(path)


def written(output: Path, name: str) -> Callable[[], bool]:
    """Whether samples of a benchmark were written from now on, in the middle of its record."""
    since = time.time()

    def look() -> bool:
        found = [file.stat() for file in output.glob(f"*.partial/samples/*{name}*")]
        return any(one.st_size > 20_000 and one.st_mtime > since for one in found)

    return look


def killed_when(output: Path, there: Callable[[], bool], *call: str) -> None:
    """The lab is killed once it is there."""
    process = start(*call, "--output", output)
    wait_for(lambda: process.poll() is not None or there())
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGKILL)
    process.communicate()


def resume(output: Path, *words: str) -> Run:
    answer = kadenz("run", "--resume", "kept", "--output", output, *words)
    assert answer.returncode == 0, answer.stderr
    return the_run(output)


@pytest.mark.emulated
def test_a_resumed_run_of_an_emulated_target_has_the_bytes_of_an_uninterrupted_one(
    built: None, tmp_path: Path
) -> None:
    call = (*CALL, "--target", BOARDS[1], "--set", "samples=40000")
    answer = kadenz(*call, "--output", tmp_path / "whole")
    assert answer.returncode == 0, answer.stderr
    whole = files(the_run(tmp_path / "whole"))
    output = tmp_path / "runs"
    killed_when(output, written(output, "task-switch"), *call)
    stopped = the_run(output)
    assert stopped.manifest.partial and "killed" in stopped.manifest.partial_reason
    refused = kadenz("run", "--resume", "kept", "--output", output, "--quick")
    assert refused.returncode == 2 and "`--quick` would change it" in refused.stderr
    killed_when(output, written(output, "preemption"), "run", "--resume", "kept")
    made = resume(output)
    assert not made.manifest.partial and len(made.manifest.resumed) == 2
    assert files(made) == whole
    again = kadenz("run", "--resume", "kept", "--output", output)
    assert again.returncode == 0 and "nothing is left to measure" in again.stderr


@pytest.mark.linux
def test_a_resumed_run_of_this_linux_keeps_the_records_measured_before(
    built: None, tmp_path: Path
) -> None:
    call = (*CALL[:2], "itc/pipe", *CALL[-2:], "--target", LINUX, "--set", "samples=400")
    output = tmp_path / "runs"
    killed_when(output, lambda: begun(output, "itc/pipe"), *call)
    before = the_run(output)
    kept = next(one for one in before.manifest.records if one.bench == CALL[1])
    assert before.manifest.records[-1].bench == "itc/pipe", "cut off"
    made = resume(output)
    assert {entry.status for entry in made.manifest.records} <= {"ok", "n/a"}
    same = made.record(kept.id)
    assert same.lanes[0].sha256 == kept.lanes[0].sha256
    assert "resumed" in [warning.code for warning in made.manifest.warnings]
    (resumed,) = made.manifest.resumed
    assert same.id in resumed.kept
