# SPDX-License-Identifier: Apache-2.0
"""A load is verified before it counts, and its end is reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from kadenz import owner
from kadenz.errors import LoadFailed
from kadenz.load import definitions, running, supervisor
from kadenz.load.definitions import Options
from kadenz.load.running import RunningLoad
from tests.load.machine import left_behind, on_a_disk, working_in
from tests.waiting import wait_for

pytestmark = pytest.mark.machine  # loads start on all processors


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(running, "_WINDOW_S", 0.3)
    monkeypatch.setattr(running, "_WINDOWS", 2)
    monkeypatch.setattr(running, "_RECORD_S", 0.3)
    folder = on_a_disk(tmp_path)
    yield folder
    supervisor.kill(working_in(folder))
    wait_for(lambda: left_behind(folder) == [])  # what was killed takes its time to end


def as_if(monkeypatch: pytest.MonkeyPatch, name: str, **changes: object) -> None:
    """Changes a load's table."""
    table = {
        **definitions.kinds(),
        name: msgspec.structs.replace(definitions.kinds()[name], **changes),
    }
    monkeypatch.setattr(definitions, "kinds", lambda: table)


def started(name: str, folder: Path, said: list[str] | None = None, **options: bool) -> RunningLoad:
    messages = said if said is not None else []
    return RunningLoad(name, Options(**options), folder, messages.append)  # type: ignore[arg-type]


def test_an_effective_load_is_stored_with_its_rates(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_WINDOWS", 40)
    said: list[str] = []
    with started("memory", here, said) as beside:
        beside.start(threading.Event())
        (entry,) = beside.entries
        assert entry.verified and entry.rate >= entry.least == 200.0
        assert entry.rate_before == entry.rate and entry.idle_rate == 0.0
        assert entry.command[1].endswith("workers/memory.py")
        assert entry.workers == len(entry.cpus) == len(os.sched_getaffinity(0))
        beside.began()
        beside.record_began()
        time.sleep(0.5)
        assert beside.record_ended(10) == ""
        assert beside.finished() == ""
        assert set(entry.record_rates) == {10} and entry.record_rates[10] >= 200.0
        assert entry.cpu_percent > 1.0
        assert working_in(here)
    assert left_behind(here) == []
    assert "MB/s moved (idle 0)" in running.load_summary(entry)
    assert said == [
        "measuring the machine without the load",
        "load started, waiting for it to take effect",
    ]


def test_a_load_without_effect_is_an_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_if(monkeypatch, "network", program=["sleep", "600"], at_least=1e9)
    needed = "`network` is too weak: .*at least 1,000,000,000"
    with started("network", here) as beside, pytest.raises(LoadFailed, match=needed):
        beside.start(threading.Event())
    assert left_behind(here) == []


def test_a_load_must_exceed_the_rate_of_the_idle_machine(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the counter shows the work of others."""
    as_if(monkeypatch, "interrupt", program=["sleep", "600"], at_least=0.001, times_idle=1000.0)
    with (
        started("interrupt", here) as beside,
        pytest.raises(LoadFailed, match="the idle machine does"),
    ):
        beside.start(threading.Event())


def test_work_of_others_does_not_count_as_load(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"at_least": 0.0001, "times_idle": 0.0, "cpu_at_least": 1.0}
    as_if(monkeypatch, "cpu", program=["sleep", "600"], **asked)
    # Without other work on the machine there is nothing to confuse.
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            with (
                started("cpu", here) as beside,
                pytest.raises(LoadFailed, match="processes got 0.0 %"),
            ):
                beside.start(threading.Event())
        finally:
            other.kill()


def test_idle_workers_during_other_work_do_not_count_as_load(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine's counter increases, but the load's own processes are idle."""
    as_if(monkeypatch, "cpu", at_least=0.0001, cpu_at_least=0.1)
    monkeypatch.setattr(running, "_RECORD_S", 0.0)
    monkeypatch.setattr(running, "_WINDOWS", 20)
    walks: list[str] = []
    with (
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other,
        started("cpu", here) as beside,
    ):
        try:
            beside.start(threading.Event())
            beside.began()
            (entry,) = beside.entries
            workers = supervisor.of_sessions(p for pids in beside._sessions.values() for p in pids)
            assert len(workers) > entry.workers  # stress-ng and each of its workers

            def walked(folder: Path, pattern: str) -> Iterator[Path]:
                walks.append(pattern)
                return iter(())

            monkeypatch.setattr(Path, "glob", walked)
            assert record_of(beside, 10) == ""
            for worker in workers:
                os.kill(worker, signal.SIGSTOP)
            stopped = record_of(beside, 11)
            assert "load `cpu`: during this record its processes got 0.0 % of" in stopped
            assert entry.record_rates[11] >= entry.least
            assert entry.record_cpu_percent[10] > 0.1 > entry.record_cpu_percent[11]
            assert walks == []  # all processes are never scanned during a measurement
        finally:
            monkeypatch.undo()
            other.kill()


def record_of(beside: RunningLoad, number: int) -> str:
    """A record that lasts until some work is counted in ticks of 10 ms."""
    beside.record_began()
    time.sleep(2.0)
    return beside.record_ended(number)


def test_a_weak_load_is_only_measured_if_allowed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if(monkeypatch, "network", program=["sleep", "600"], at_least=1e9)
    with started("network", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        (entry,) = beside.entries
        assert not entry.verified and "required: at least" in entry.reason


def test_a_load_that_ends_at_once_is_reported_with_its_output(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if(monkeypatch, "network", program=["sh", "-c", "echo no such port; exit 2"])
    with started("network", here) as beside, pytest.raises(LoadFailed) as told:
        beside.start(threading.Event())
    assert told.value.message == "load `network` ended unexpectedly, with status 2: no such port"


def test_a_load_that_becomes_weak_is_reported(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started("memory", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        (entry,) = beside.entries
        entry.verified, entry.reason = True, ""
        beside.began()
        beside.record_began()
        for pid in working_in(here):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(0.2)
        beside.began()  # stopped from here on
        beside.record_began()
        time.sleep(0.5)
        assert "did 0 MB/s moved during this record" in beside.record_ended(11)
        assert "was weak while measuring" in beside.finished()
        assert not entry.verified


def test_a_load_whose_program_dies_is_reported(here: Path) -> None:
    with started("memory", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        beside.began()
        beside.record_began()
        assert beside.alive()
        os.kill(working_in(here)[0], signal.SIGKILL)
        wait_for(lambda: not beside.alive())
        assert beside.record_ended(10) == beside.finished()
        assert "`memory` ended unexpectedly, by signal 9" in beside.finished()
        assert not beside.entries[0].verified


def test_the_leftovers_of_a_killed_supervisor_are_removed(here: Path) -> None:
    with started("memory", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        assert beside._process is not None
        os.kill(beside._process.pid, signal.SIGKILL)
        wait_for(lambda: not beside.alive())
        assert any(here.glob(".kadenz-load-*"))
    assert left_behind(here) == []


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LoadFailed, match="file/below: Not a directory") as told:
        started("memory", tmp_path / "file" / "below")
    assert "scratch=DIR" in told.value.remedy


def test_ctrl_c_ends_the_start(here: Path) -> None:
    stop = threading.Event()
    stop.set()
    with started("memory", here) as beside, pytest.raises(LoadFailed, match="stopped while"):
        beside.start(stop)


def test_leftovers_of_a_killed_kadenz_and_supervisor_are_swept_by_the_next_load(here: Path) -> None:
    """Both were killed at once and could not clean up."""
    where, pid = owner.name_space(), os.getpid()
    dead = here / f".kadenz-load-{where}-999999999-1-2"
    foreign = here / ".kadenz-load-01234567-999999999-1-2"  # of another machine or container
    alive = here / f".kadenz-load-{where}-{pid}-{owner.started(pid)}-3"
    reused = here / f".kadenz-load-{where}-{pid}-1-4"  # a PID reused by a later process
    for folder in (dead, foreign, alive, reused):
        folder.mkdir()
        (folder / "file").touch()
    running.sweep(here)
    assert set(here.iterdir()) == {foreign, alive}
    supervisor.remove({"folder": str(foreign), "groups": []})
    supervisor.remove({"folder": str(alive), "groups": []})


@pytest.mark.parametrize("limited", ["group", "own"])
def test_paging_stays_within_its_ram_and_pages(
    here: Path, limited: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_WINDOWS", 60)
    as_if(monkeypatch, "paging", size_mb=96, limit_mb=16)
    if limited == "own":
        monkeypatch.setattr(running, "memory_groups", lambda *_: [])
    with RunningLoad("paging", Options(workers=1), here, print) as beside:
        beside.start(threading.Event())
        (entry,) = beside.entries
        assert entry.verified and entry.unit == "major faults/s"
        if entry.settings["limit"] == "memory control group":
            assert entry.command[-1] == "group"
        else:
            assert entry.command[-1] == "own"
            for _ in range(20):
                assert resident_mb(working_in(here)) < 16 + 24  # and Python itself
                time.sleep(0.01)


def resident_mb(pids: list[int]) -> float:
    pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids]
    return max(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6
