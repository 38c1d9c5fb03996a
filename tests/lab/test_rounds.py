# SPDX-License-Identifier: Apache-2.0
"""Variants and rounds: names, order, stored round numbers, and the runs left by Ctrl-C."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest

from kadenz.analysis.variants import two_variants
from kadenz.config.manifest import RecordEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError, UsageError
from kadenz.lab.conditions.load import Load
from kadenz.lab.job import Job, Turn
from kadenz.lab.progress import Progress
from kadenz.lab.schedule import run
from kadenz.lab.variants import interleaved
from kadenz.load.definitions import Options
from kadenz.store import read_run
from tests.lab.fake import Scripted
from tests.lab.test_measure import job, record, said

HOST = TargetName("posix", "linux", "host")
WHOLE = said(record(10), record(11), record(12))


def host_job(folder: Path, load: str = "", runs: int = 1) -> Job:
    boots = [script for _ in range(runs) for script in (Scripted([WHOLE]), Scripted([]))]
    conditions = (Load(load, Options()),) if load else ()
    return dataclasses.replace(job(folder, boots[:-1]), name=HOST, conditions=conditions)


def turns(jobs: list[Job]) -> list[Turn]:
    planned = [job.origin.turn for job in jobs if job.origin.turn is not None]
    assert len(planned) == len(jobs)
    return planned


def order(jobs: list[Job]) -> str:
    return " ".join(f"{turn.variant.removeprefix('load ')}{turn.round}" for turn in turns(jobs))


def test_rounds_are_in_alternating_order(tmp_path: Path) -> None:
    jobs = [host_job(tmp_path, load) for load in ("a", "b", "c")]
    schedule = interleaved(jobs, 3)
    assert order(schedule) == "a1 b1 c1 c2 b2 a2 a3 b3 c3"
    assert [turn.place for turn in turns(schedule)] == [1, 2, 3] * 3


def test_an_even_number_of_rounds_gives_all_variants_the_same_mean_position(tmp_path: Path) -> None:
    schedule = interleaved([host_job(tmp_path, load) for load in "abcd"], 4)
    places: dict[str, list[int]] = {}
    for index, turn in enumerate(turns(schedule)):
        places.setdefault(turn.variant, []).append(index)
    assert len({sum(indices) for indices in places.values()}) == 1


def test_a_variant_is_named_by_its_differences(tmp_path: Path) -> None:
    unloaded = host_job(tmp_path, "none")
    assert [turn.variant for turn in turns(interleaved([unloaded], 2))] == [str(HOST)] * 2
    assert {
        turn.variant for turn in turns(interleaved([unloaded, host_job(tmp_path, "disk")], 1))
    } == {
        "load none",
        "load disk",
    }


def test_a_repeatable_target_is_measured_once(tmp_path: Path) -> None:
    emulated = job(tmp_path, [Scripted([])])
    schedule = interleaved([emulated, host_job(tmp_path)], 3)
    assert [planned.name.tier for planned in schedule] == ["emulated", "host", "host", "host"]


def test_the_same_variant_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two variants"):
        interleaved([host_job(tmp_path), host_job(tmp_path)], 2)


class StopIn(Progress):
    """Sends Ctrl-C during a record of this round."""

    def __init__(self, number: int, stop: threading.Event) -> None:
        self.number, self.stop = number, stop

    def opened(self, target: str, record: RecordEntry) -> None:
        if f"round {self.number}" in target:
            self.stop.set()


def test_ctrl_c_keeps_the_complete_rounds_and_compare_takes_them(tmp_path: Path) -> None:
    sides = [host_job(tmp_path, runs=5), dataclasses.replace(host_job(tmp_path, runs=5))]
    sides[1] = dataclasses.replace(sides[1], name=TargetName("other", "linux", "host"))
    stop = threading.Event()
    results = run(interleaved(sides, 4), tmp_path / "out", StopIn(3, stop), stop)
    assert not any(isinstance(result, KadenzError) for result in results)
    runs = [read_run(folder) for folder in sorted((tmp_path / "out").iterdir())]
    assert len(runs) == 5  # the first run of round 3, and no more
    left, right = two_variants(runs)
    assert [run.manifest.round for run in left] == [1, 2] == [run.manifest.round for run in right]


class Refused(Scripted):
    """This machine does not let it start."""

    def __init__(self, error: OSError) -> None:
        super().__init__([])
        self.error = error

    def open(self, plan: str) -> None:
        raise self.error


@pytest.mark.parametrize("tier", ["emulated", "board", "host"])
def test_a_job_that_this_machine_refuses_does_not_end_the_others(tmp_path: Path, tier: str) -> None:
    full = OSError(28, "No space left on device", "/tmp/plan")
    jobs = [job(tmp_path, [Refused(full)]), job(tmp_path, [Scripted([WHOLE])])]
    name = HOST if tier == "host" else TargetName("freertos", "stm32f4", tier)
    jobs = [dataclasses.replace(emulated, name=name) for emulated in jobs]
    refused, measured = run(jobs, tmp_path / "out", Progress(), threading.Event())
    assert isinstance(refused, KadenzError) and refused.__cause__ is full
    assert refused.message == f"{name}: /tmp/plan: No space left on device"
    assert "free space" in refused.remedy
    assert not isinstance(measured, KadenzError)
    assert not read_run(measured.folder).manifest.partial


def test_a_refused_lock_is_an_error_of_its_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**options: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("kadenz.lab.schedule.without_orders", refused)
    (result,) = run([host_job(tmp_path)], tmp_path / "out", Progress(), threading.Event())
    assert isinstance(result, KadenzError) and "Too many open files" in result.message
