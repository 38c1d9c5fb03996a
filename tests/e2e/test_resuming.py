# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of a measuring lab, then `run --resume`: the bytes of a run that was never stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kadenz.store import Run, read_run
from tests.e2e.conftest import BOARDS, LINUX, kadenz

CALL = ("run", "micro/task-switch-sampled", "micro/preemption-sampled", "--name", "kept", "--fresh")


def files(run: Run) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((run.path / "samples").iterdir())}


def the_run(folder: Path) -> Run:
    (path,) = folder.iterdir()
    return read_run(path)


# A lab that is killed as soon as its folder has samples of a benchmark in the middle of its record,
# or says that the record has begun.
KILLED_AT = """
import os, signal, sys
from kadenz.cli import main
from kadenz.store.writer import RunWriter

bench, moment = sys.argv.pop(1), sys.argv.pop(1)
method = getattr(RunWriter, moment)

def then_dies(self, *arguments):
    method(self, *arguments)
    if self.manifest.records[-1].bench == bench:
        self.checkpoint(force=True)
        os.kill(os.getpid(), signal.SIGKILL)

setattr(RunWriter, moment, then_dies)
main()
"""


def killed_at(bench: str, moment: str, *call: str | Path) -> None:
    """The lab is killed at a moment, a method of RunWriter, of a benchmark's record."""
    command = [sys.executable, "-c", KILLED_AT, bench, moment, *map(str, call)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == -signal.SIGKILL, answer.stderr


def resume(output: Path, *options: str) -> Run:
    answer = kadenz("run", "--resume", "kept", "--output", output, *options)
    assert answer.returncode == 0, answer.stderr
    return the_run(output)


@pytest.mark.counted
def test_a_resumed_run_of_an_emulated_target_has_the_bytes_of_an_uninterrupted_one(
    built: None, tmp_path: Path
) -> None:
    call = (*CALL, "--target", BOARDS[1], "--set", "samples=20000")
    answer = kadenz(*call, "--output", tmp_path / "whole")
    assert answer.returncode == 0, answer.stderr
    whole = files(the_run(tmp_path / "whole"))
    output = tmp_path / "runs"
    killed_at("micro/task-switch-sampled", "append", *call, "--output", output)
    stopped = the_run(output)
    assert stopped.manifest.partial and "killed" in stopped.manifest.partial_reason
    refused = kadenz("run", "--resume", "kept", "--output", output, "--quick")
    assert refused.returncode == 2 and "`--quick` would change it" in refused.stderr
    again = ("run", "--resume", "kept", "--output", output)
    killed_at("micro/preemption-sampled", "append", *again)
    run = resume(output)
    assert not run.manifest.partial and len(run.manifest.resumed) == 2
    assert files(run) == whole
    complete = kadenz(*again)
    assert complete.returncode == 0 and "nothing is left to measure" in complete.stderr


def test_a_resumed_run_of_this_linux_keeps_the_records_measured_before(
    built: None, tmp_path: Path
) -> None:
    output = tmp_path / "runs"
    call = ("run", "itc/fifo", "itc/pipe", "--name", "kept", "--target", LINUX)
    arguments = (*call, "--set", "samples=20", "--allow", "no-realtime", "--output", output)
    killed_at("itc/pipe", "open_record", *arguments)
    before = the_run(output)
    assert before.manifest.partial
    kept = next(entry for entry in before.manifest.records if entry.bench == "itc/fifo")
    assert before.manifest.records[-1].bench == "itc/pipe", "cut off"
    assert kept.status == "ok" and kept.lanes[0].taken == 20
    run = resume(output)
    assert {entry.status for entry in run.manifest.records} <= {"ok", "n/a"}
    assert run.manifest.records[-1].lanes[0].taken == 20
    same = run.record(kept.id)
    assert same.lanes[0].sha256 == kept.lanes[0].sha256
    assert "resumed" in [warning.code for warning in run.manifest.warnings]
    (resumed,) = run.manifest.resumed
    assert same.id in resumed.kept
