# SPDX-License-Identifier: Apache-2.0
"""What a killed lab leaves: no process, and only folders that the next lab removes.

A lab in another container may share the folder for temporary files: it is not taken for a killed
one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.owner import name_space, started
from kadenz.targets import scratch
from kadenz.targets.base import die_with_parent


def ended_process() -> tuple[int, str]:
    """PID and start time of a process that is gone."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        begun = started(process.pid)
    return process.pid, begun


def test_a_child_ends_if_its_lab_died_before_the_child_could_ask_for_its_death() -> None:
    """The child tells its end by the pipe: nobody else holds it."""
    reads, writes = os.pipe()
    lab = os.fork()
    if lab == 0:
        in_child, me = die_with_parent(), os.getpid()
        if os.fork() == 0:
            os.close(reads)
            os.kill(me, signal.SIGKILL)
            while os.getppid() == me:
                time.sleep(0.001)
            in_child()
            os.write(writes, b"it lives")
            os._exit(0)
        while True:
            time.sleep(1)
    os.close(writes)
    assert os.WTERMSIG(os.waitpid(lab, 0)[1]) == signal.SIGKILL
    assert os.read(reads, 100) == b""
    os.close(reads)


def test_only_folders_of_killed_labs_of_this_name_space_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    here, (pid, begun) = name_space(), ended_process()
    elsewhere = f"{int(here, 16) ^ 1:08x}"
    folders = {
        name: tmp_path / f"kadenz-{name}-0"
        for name in (
            f"{here}-{pid}-{begun}",  # killed
            f"{here}-{os.getpid()}-1",  # killed, and its PID is used again
            f"{here}-{os.getppid()}-{started(os.getppid())}",  # lives
            f"{elsewhere}-{pid}-{begun}",  # of another container
        )
    }
    for folder in folders.values():
        folder.mkdir()
    fresh = scratch.new_folder()
    assert [folder.exists() for folder in folders.values()] == [False, False, True, True]
    assert scratch.new_folder() != fresh and fresh.is_dir()
    fresh.rmdir()
    assert scratch.new_folder() != fresh  # its target may remove it again
    assert len(fresh.name) < 40  # a socket in it has a path of at most 107 bytes


def test_a_lab_in_a_container_leaves_the_folder_of_a_lab_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolated = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*isolated, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no right to make a PID namespace")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fresh = scratch.new_folder()
    code = "from kadenz.targets.scratch import new_folder; new_folder()"
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(inventory.root())}
    subprocess.run([*isolated, sys.executable, "-c", code], env=environment, check=True)
    assert fresh.is_dir() and len(list(tmp_path.iterdir())) == 2
