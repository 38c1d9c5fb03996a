# SPDX-License-Identifier: Apache-2.0
"""A lab that ends while it makes its tracefs instance leaves none: a folder stands for tracefs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadenz.config.target_name import parse_target
from kadenz.errors import ToolMissing
from kadenz.host import tracefs
from kadenz.lab.profile.watching import check_traced
from tests.waiting import wait_for


@pytest.fixture
def instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of instances. The kernel removes an instance with its files, here rm does."""
    monkeypatch.setattr(tracefs, "PLACES", (tmp_path,))
    monkeypatch.setattr(tracefs, "_WATCHER", tracefs._WATCHER.replace("rmdir", "rm -r"))
    (tmp_path / "instances").mkdir()
    return tmp_path / "instances"


def is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def is_interrupted() -> None:
    raise KeyboardInterrupt


def finds_no_memory() -> None:
    raise OSError(12, "Cannot allocate memory")


def ends_at_the_watcher(how: Callable[[], None], said: Path, *, after: bool) -> None:
    """A lab in a process of its own ends before or after it starts the watcher; `said`: its PID."""
    lab = os.fork()
    if lab:
        os.waitpid(lab, 0)
        return
    start = subprocess.Popen

    def popen(*arguments: Any, **options: Any) -> Any:
        if after:
            watcher = start(*arguments, **options)
            said.write_text(str(watcher.pid))
        how()

    try:
        tracefs.subprocess.Popen = popen  # type: ignore[attr-defined]
        with tracefs.traced(True):
            pass
    finally:
        os._exit(0)


def runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("how", [is_killed, is_interrupted, finds_no_memory])
def test_a_lab_that_ends_before_its_watcher_leaves_no_instance(
    instances: Path, how: Callable[[], None]
) -> None:
    ends_at_the_watcher(how, instances.parent / "watcher", after=False)
    assert list(instances.iterdir()) == []


@pytest.mark.parametrize("how", [is_killed, is_interrupted])
def test_a_lab_that_ends_after_it_started_its_watcher_leaves_no_instance(
    instances: Path, how: Callable[[], None]
) -> None:
    """The watcher makes the instance and removes it, even if nobody hears of it."""
    before, said = instances.stat().st_mtime_ns, instances.parent / "watcher"
    ends_at_the_watcher(how, said, after=True)
    wait_for(lambda: not runs(said.read_text()))
    assert instances.stat().st_mtime_ns != before and list(instances.iterdir()) == []


def test_without_a_watcher_there_is_no_instance_and_no_error(
    instances: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracefs, "_watcher", lambda folder: finds_no_memory())
    with tracefs.traced(True) as trace:
        assert trace is None
    assert list(instances.iterdir()) == []


def test_an_instance_of_somebody_else_is_left(instances: Path) -> None:
    other = instances / f"kadenz-{os.getpid()}"
    other.mkdir()
    with tracefs.traced(True) as trace:
        assert trace is None
    assert other.is_dir()


def test_an_instance_lives_as_long_as_it_is_used(instances: Path) -> None:
    with tracefs.traced(True) as trace:
        assert trace is not None and trace.folder.is_dir()
        assert os.environ[tracefs.ENVIRONMENT] == str(trace.folder)
    assert list(instances.iterdir()) == [] and tracefs.ENVIRONMENT not in os.environ


def test_a_linux_without_tracefs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kadenz.host.tracefs.PLACES", (Path("/nowhere"),))
    with pytest.raises(ToolMissing, match="/nowhere is not tracefs, or not writable") as refused:
        check_traced(parse_target("posix/linux@host"), "counter")
    assert "mount -t tracefs" in refused.value.remedy
