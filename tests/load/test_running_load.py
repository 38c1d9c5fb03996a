# SPDX-License-Identifier: Apache-2.0
"""A load is shown to bite before it counts, and its end is told."""

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

from kadenz.errors import LoadFailed
from kadenz.load import definitions, running, supervisor
from kadenz.load.definitions import Options
from kadenz.load.running import RunningLoad
from tests.load.machine import left_behind, on_a_disk, wait_for, working_in


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(running, "_WINDOW_S", 0.3)
    monkeypatch.setattr(running, "_WINDOWS", 2)
    monkeypatch.setattr(running, "_RECORD_S", 0.3)
    folder = on_a_disk(tmp_path)
    yield folder
    supervisor.kill(working_in(folder))
    assert left_behind(folder) == []


def as_if(monkeypatch: pytest.MonkeyPatch, name: str, **changes: object) -> None:
    """Changes a load's table."""
    table = {
        **definitions.kinds(),
        name: msgspec.structs.replace(definitions.kinds()[name], **changes),
    }
    monkeypatch.setattr(definitions, "kinds", lambda: table)


def started(name: str, folder: Path, said: list[str] | None = None, **options: bool) -> RunningLoad:
    words = said if said is not None else []
    return RunningLoad(name, Options(**options), folder, words.append)  # type: ignore[arg-type]


def test_a_load_that_bites_is_entered_with_its_rates(
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
    assert "MB/s moved (idle 0)" in running.told(entry)
    assert said == [
        "measuring the machine without the load",
        "the load is started, waiting until it bites",
    ]


def test_a_load_that_does_not_bite_is_an_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_if(monkeypatch, "network", program=["sleep", "600"], at_least=1e9)
    needed = "`network` does not bite: .*at least 1,000,000,000 are"
    with started("network", here) as beside, pytest.raises(LoadFailed, match=needed):
        beside.start(threading.Event())
    assert left_behind(here) == []


def test_more_than_the_idle_machine_is_asked_of_a_load(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that is busy already shows the counter, and not the load."""
    as_if(monkeypatch, "interrupt", program=["sleep", "600"], at_least=0.001, times_idle=1000.0)
    with started("interrupt", here) as beside, pytest.raises(LoadFailed, match="without it"):
        beside.start(threading.Event())


def test_others_work_is_not_taken_for_the_load(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"at_least": 0.0001, "times_idle": 0.0, "cpu_at_least": 1.0}
    as_if(monkeypatch, "cpu", program=["sleep", "600"], **asked)
    # A machine without other work has none to mistake.
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            with (
                started("cpu", here) as beside,
                pytest.raises(LoadFailed, match="processes got 0.0 %"),
            ):
                beside.start(threading.Event())
        finally:
            other.kill()


def test_workers_that_stand_still_beside_other_work_are_no_load(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole machine's counter goes on; the load's own processes do nothing."""
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
            assert walks == []  # nobody looks through all processes while something is measured
        finally:
            monkeypatch.undo()
            other.kill()


def record_of(beside: RunningLoad, number: int) -> str:
    """A record as long as it takes until somebody's work is counted in ticks of 10 ms."""
    beside.record_began()
    time.sleep(2.0)
    return beside.record_ended(number)


def test_a_weak_load_is_measured_only_when_allowed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if(monkeypatch, "network", program=["sleep", "600"], at_least=1e9)
    with started("network", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        (entry,) = beside.entries
        assert not entry.verified and "are needed" in entry.reason


def test_a_load_that_ends_at_once_is_told_with_its_words(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if(monkeypatch, "network", program=["sh", "-c", "echo no such port; exit 2"])
    with started("network", here) as beside, pytest.raises(LoadFailed) as told:
        beside.start(threading.Event())
    assert told.value.message == "load `network` ended by itself, with status 2: no such port"


def test_a_load_that_grows_weak_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started("memory", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        (entry,) = beside.entries
        entry.verified, entry.reason = True, ""
        beside.began()
        beside.record_began()
        for pid in working_in(here):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(0.2)
        beside.began()  # from here on it stands still
        beside.record_began()
        time.sleep(0.5)
        assert "did 0 MB/s moved during this record" in beside.record_ended(11)
        assert "was weak while measuring" in beside.finished()
        assert not entry.verified


def test_a_load_whose_program_dies_is_no_load(here: Path) -> None:
    with started("memory", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        beside.began()
        beside.record_began()
        assert beside.alive()
        os.kill(working_in(here)[0], signal.SIGKILL)
        wait_for(lambda: not beside.alive(), 10)
        assert beside.record_ended(10) == beside.finished()
        assert "`memory` ended by itself, by signal 9" in beside.finished()
        assert not beside.entries[0].verified


def test_what_a_killed_supervisor_leaves_is_removed(here: Path) -> None:
    with started("memory", here, allow_weak=True) as beside:
        beside.start(threading.Event())
        assert beside._process is not None
        os.kill(beside._process.pid, signal.SIGKILL)
        wait_for(lambda: not beside.alive(), 10)
        assert any(here.glob(".kadenz-load-*"))
    assert left_behind(here) == []


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LoadFailed, match="file/below: Not a directory") as told:
        started("memory", tmp_path / "file" / "below")
    assert "--load-scratch" in told.value.remedy


def test_ctrl_c_ends_the_start(here: Path) -> None:
    stop = threading.Event()
    stop.set()
    with started("memory", here) as beside, pytest.raises(LoadFailed, match="stopped while"):
        beside.start(stop)


def test_what_kadenz_and_its_supervisor_left_is_swept_by_the_next(here: Path) -> None:
    """Both killed at once: nobody was there to clean up."""
    where, pid = running._where(), os.getpid()
    dead = here / f".kadenz-load-{where}-999999999-1-2"
    foreign = here / ".kadenz-load-01234567-999999999-1-2"  # of another machine or container
    alive = here / f".kadenz-load-{where}-{pid}-{running._started(pid)}-3"
    reused = here / f".kadenz-load-{where}-{pid}-1-4"  # a number given to a later process
    for folder in (dead, foreign, alive, reused):
        folder.mkdir()
        (folder / "file").touch()
    running.sweep(here)
    assert set(here.iterdir()) == {foreign, alive}
    supervisor.remove({"folder": str(foreign), "groups": []})
    supervisor.remove({"folder": str(alive), "groups": []})


@pytest.mark.parametrize("limited", ["group", "own"])
def test_paging_holds_its_ram_and_pages(
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
