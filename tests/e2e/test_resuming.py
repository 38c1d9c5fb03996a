# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of a measuring lab, then `run --resume`: the bytes of a run that was never stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kadenz.store import Run, read_run
from tests.e2e.conftest import BOARDS, LINUX, kadenz
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


# A lab that is killed as soon as its folder says that it measures a benchmark.
KILLED_AT = """
import os, signal, sys
from kadenz.cli import main
from kadenz.store.writer import RunWriter

bench, open_record = sys.argv.pop(1), RunWriter.open_record

def opens(self, entry):
    open_record(self, entry)
    if entry.bench == bench:
        self.checkpoint(force=True)
        os.kill(os.getpid(), signal.SIGKILL)

RunWriter.open_record = opens
main()
"""


def test_a_resumed_run_of_this_linux_keeps_the_records_measured_before(
    built: None, tmp_path: Path
) -> None:
    output = tmp_path / "runs"
    call = ("run", "itc/fifo", "itc/pipe", "--name", "kept", "--target", LINUX)
    words = (*call, "--set", "samples=20", "--allow-no-realtime", "--output", output)
    killed = subprocess.run([sys.executable, "-c", KILLED_AT, "itc/pipe", *words], check=False)
    assert killed.returncode == -signal.SIGKILL
    before = the_run(output)
    assert before.manifest.partial
    kept = next(one for one in before.manifest.records if one.bench == "itc/fifo")
    assert before.manifest.records[-1].bench == "itc/pipe", "cut off"
    assert kept.status == "ok" and kept.lanes[0].taken == 20
    made = resume(output)
    assert {entry.status for entry in made.manifest.records} <= {"ok", "n/a"}
    assert made.manifest.records[-1].lanes[0].taken == 20
    same = made.record(kept.id)
    assert same.lanes[0].sha256 == kept.lanes[0].sha256
    assert "resumed" in [warning.code for warning in made.manifest.warnings]
    (resumed,) = made.manifest.resumed
    assert same.id in resumed.kept
