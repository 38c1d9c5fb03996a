# SPDX-License-Identifier: Apache-2.0
"""A stored verdict is the last word: on a load, on a scope's trace, with the target's notes.

What a condition or a note says of a record is stored with it, not when the run ends: a lab that is
killed leaves no record that counts as measured and was not.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.config.manifest import LoadEntry, RecordEntry
from kadenz.config.target_name import TargetName
from kadenz.lab import load_around
from kadenz.lab.conditions.load import Load
from kadenz.lab.job import Job
from kadenz.lab.measure import measure
from kadenz.lab.progress import Progress
from kadenz.lab.resuming import rest_of
from kadenz.load.definitions import Options
from kadenz.store import Run, read_run
from kadenz.targets.base import Target
from kadenz.targets.scope import RecordSpans
from kadenz.wire.messages import AnyMessage, Done, Text
from tests.lab.fake import Scripted
from tests.lab.test_measure import job, record, said
from tests.lab.test_resuming import Obedient
from tests.store.crashes import ends_at
from tests.wire.streams import begin, end, hello, on_the_line

WEAK = "load `disk` did 0.1 MB/s during this record; required: at least 80"


class AsIf:
    """The verdicts of a real load, without its workers."""

    ended = ""
    options = Options()
    strong = True
    weak_in = 0  # the record that it was too weak in

    def __init__(self, *_: object) -> None:
        entry = LoadEntry(
            name="disk",
            title="",
            workers=1,
            command=[],
            counter="",
            unit="MB/s",
            idle_rate=0.0,
            rate=100.0 if self.strong else 5.0,
            least=80.0,
            verified=True,
            reason="",
        )
        self.entries = [entry]

    def start(self, stop: threading.Event) -> None: ...
    def began(self) -> None: ...
    def record_began(self) -> None: ...
    def close(self) -> None: ...

    def alive(self) -> bool:
        return True

    def record_ended(self, number: int) -> str:
        self.entries[0].record_rates[number] = 100.0
        return WEAK if number == self.weak_in else ""

    def finished(self) -> str:
        return "" if self.strong else "load `disk` was weak"


def loaded(folder: Path) -> Job:
    """Three records beside the load, on a target that measures one after the other."""

    def make() -> Target:
        return Obedient()

    name = TargetName("freertos", "stm32f4", "board")
    return replace(job(folder, []), make=make, name=name, conditions=(Load("disk", Options()),))


def statuses(run: Run) -> dict[int, str]:
    return {record.id: record.status for record in run.manifest.records}


def test_a_killed_lab_leaves_no_record_ok_whose_load_was_weak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_around, "RunningLoad", AsIf)
    monkeypatch.setattr(AsIf, "weak_in", 11)

    def work(folder: Path) -> None:
        measure(loaded(tmp_path), folder, Progress(), threading.Event())

    seen = set()
    for number in range(1, 300):
        folder = tmp_path / str(number)
        killed = ends_at(number, lambda folder=folder: work(folder))  # type: ignore[misc]
        for file in folder.glob("*/run.json"):
            seen.add(statuses(read_run(file.parent)).get(11, "none"))
        if not killed:
            break
    assert not killed and "invalid" in seen and "ok" not in seen


def test_a_weak_load_of_the_rest_leaves_the_records_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_around, "RunningLoad", AsIf)
    stop = threading.Event()

    class Stops(Progress):
        def closed(self, target: str, record: RecordEntry) -> None:
            if record.id == 11:
                stop.set()

    under_load = loaded(tmp_path)
    first = read_run(measure(under_load, tmp_path / "runs", Stops(), stop).folder)
    assert statuses(first) == {10: "ok", 11: "ok"}
    monkeypatch.setattr(AsIf, "strong", False)
    rest = rest_of(under_load, first)
    result = measure(
        replace(under_load, rest=rest), tmp_path / "runs", Progress(), threading.Event()
    )
    assert statuses(read_run(result.folder)) == {10: "ok", 11: "ok", 12: "ok"}


def test_a_trace_that_disagrees_costs_its_own_record(tmp_path: Path) -> None:
    empty: list[list[AnyMessage]] = [[begin(number), end(number)] for number in (10, 11, 12)]
    target = Scripted([said(*empty)])
    taken = sum(lane.taken for lane in end(10).lanes)
    counts = {10: taken, 11: taken - 1, 12: taken}
    traces = {n: RecordSpans(n, np.arange(k, dtype=np.uint64), True) for n, k in counts.items()}
    target.records = traces  # type: ignore[attr-defined]
    scoped = replace(job(tmp_path, [target]), instrument="scope")
    result = measure(scoped, tmp_path / "runs", Progress(), threading.Event())
    run = read_run(result.folder)
    assert statuses(run) == {10: "ok", 11: "invalid", 12: "ok"}
    assert "the scope saw" in run.record(11).reason
    assert run.samples(run.record(12)).size == taken and len(result.failures) == 1


NOTE = "no right to SCHED_FIFO: measured with SCHED_OTHER"


@pytest.mark.parametrize("killed", [True, False])
def test_records_have_the_settings_and_warnings_of_their_target(
    tmp_path: Path, killed: bool
) -> None:
    greeting = msgspec.structs.replace(hello(), settings={"policy": "other"})
    messages: list[AnyMessage] = [greeting, Text(NOTE), *record(10), *record(11), *record(12)]
    line = on_the_line([*messages, Done(records=3, frames=len(messages) + 1)])

    class Ends(Progress):
        def closed(self, target: str, record: RecordEntry) -> None:
            if record.id == 11 and killed:
                os._exit(9)

    def work() -> None:
        scripted = job(tmp_path, [Scripted([line[at : at + 40] for at in range(0, len(line), 40)])])
        measure(scripted, tmp_path / "runs", Ends(), threading.Event())

    assert ends_at(10**9, work) is killed
    (folder,) = (tmp_path / "runs").iterdir()
    run = read_run(folder)
    assert statuses(run) == {10: "ok", 11: "ok"} | ({} if killed else {12: "ok"})
    assert run.manifest.target.settings["policy"] == "other"
    assert [w.message for w in run.manifest.warnings if w.code == "target-note"] == [NOTE]
    assert (run.path / "console.txt").read_text() == f"{NOTE}\n"
