# SPDX-License-Identifier: Apache-2.0
"""A load during a run: which targets accept one, and the effect of its end on records."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kadenz.config.target_name import TargetName
from kadenz.errors import LoadFailed, ToolMissing, UsageError
from kadenz.lab.condition import Condition
from kadenz.lab.conditions.load import NO_OPTIONS, Load, LoadChoice
from kadenz.lab.job import Result
from kadenz.lab.measure import measure
from kadenz.lab.progress import Progress
from kadenz.load import definitions, running
from kadenz.load.definitions import Options
from kadenz.load.running import RunningLoad
from kadenz.store import Run, read_run
from tests.lab.fake import Scripted
from tests.lab.test_measure import job, record, said
from tests.load.machine import left_behind, working_in
from tests.waiting import wait_for

pytestmark = pytest.mark.machine  # loads start here

LINUX = TargetName("posix", "linux", "host")
BOARD = TargetName("freertos", "stm32f4", "emulated")


class Acting(Scripted):
    """Calls a function before its last piece is read."""

    def __init__(self, pieces: list[bytes], act: Callable[[], None]) -> None:
        super().__init__(pieces)
        self._act = act
        self._left = len(pieces)

    def pieces_after(self, piece: None) -> None:
        """Endless silence after the last piece."""
        self._pieces.append(piece)

    def read(self, timeout_s: float) -> bytes | None:
        self._left -= 1
        if self._left == 0:
            self._act()
        return super().read(timeout_s)


def run(
    folder: Path, target: Scripted, *, points: int = 1, load: str = "memory", weak: bool = True
) -> tuple[Result, Run]:
    """A run under a load that may be weak: its strength is not under test."""
    loaded = job(folder, [target], points)
    options = NO_OPTIONS if load == "none" else Options(workers=1, allow_weak=weak)
    loaded.conditions = (Load(load, options),) if load else ()
    result = measure(loaded, folder / "runs", Progress(), threading.Event())
    return result, read_run(result.folder)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_WINDOW_S", 0.2)
    monkeypatch.setattr(running, "_WINDOWS", 3)


def loads_of(target: TargetName, *loads: str) -> list[Condition]:
    return list(LoadChoice(tuple(map(Load, loads))).variants(target))


def test_only_targets_of_this_linux_accept_a_load() -> None:
    assert loads_of(LINUX) == loads_of(BOARD) == []
    assert [load.entries[0].value for load in loads_of(LINUX, "none", "disk", "disk")] == [
        "none",
        "disk",
    ]
    (on_board,) = loads_of(BOARD, "disk", "none")
    assert (on_board.labels, on_board.entries[0].value) == (("load none",), "none")
    with pytest.raises(UsageError, match="`disk` runs on this Linux: freertos/stm32f4@emulated"):
        loads_of(BOARD, "disk")
    guest = TargetName("linux-rt", "x86_64", "guest")
    (inside,) = loads_of(guest, "none", "disk")
    assert (inside.labels, inside.suffix, inside.entries) == ((), "", ())
    with pytest.raises(UsageError) as refused:
        loads_of(guest, "disk")
    assert "--guest load=" in refused.value.remedy
    for load in (on_board, inside):
        (stamp,) = load.warnings
        assert "measured without disk" in stamp.message
    assert [load.warnings for load in loads_of(LINUX, "disk") + loads_of(BOARD, "none")] == [[], []]


def test_a_mistake_is_found_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="campaign x: `loads`: no load `dsk`") as wrong:
        LoadChoice((Load("none"), Load("dsk")), where="campaign x: `loads`").check([LINUX])
    assert wrong.value.remedy == "Did you mean `disk`?"
    with pytest.raises(UsageError, match="processor 4095"):
        LoadChoice((Load("memory", Options(cpus=(4095,))),)).check([LINUX])
    with pytest.raises(UsageError, match="`none,cpus=0`: there is nothing to set"):
        LoadChoice((Load("none", Options(cpus=(0,))),)).check([LINUX])
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(ToolMissing):
        LoadChoice((Load("none"), Load("cpu"))).check([LINUX])


def test_a_load_is_recorded_in_conditions_and_rates(tmp_path: Path) -> None:
    result, kept = run(tmp_path, Scripted([said(record(10))]))
    assert kept.manifest.condition_values["load"] == "memory,workers=1"
    assert "-load-memory" in kept.path.name
    (entry,) = kept.manifest.loads
    assert (entry.name, entry.workers, entry.unit) == ("memory", 1, "MB/s moved")
    assert result.failures == [] and kept.record(10).status == "ok"
    assert left_behind(tmp_path) == []


def test_no_load_is_only_a_condition_on_request(tmp_path: Path) -> None:
    _, asked = run(tmp_path / "a", Scripted([said(record(10))]), load="none")
    assert asked.manifest.condition_values["load"] == "none"
    assert "-load-none" in asked.path.name and asked.manifest.loads == []
    _, plain = run(tmp_path / "b", Scripted([said(record(10))]), load="")
    assert "load" not in plain.manifest.condition_values and "load" not in plain.path.name


def pieces(*frames_each: int) -> list[bytes]:
    """Two records on the line, cut into pieces of these numbers of frames."""
    frames = [frame + b"\0" for frame in said(record(10), record(11)).split(b"\0")[:-1]]
    cut, at = [], 0
    for count in frames_each:
        cut.append(b"".join(frames[at : at + count]))
        at += count
    return [*cut, b"".join(frames[at:])]


@pytest.fixture
def killer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Kills a worker of the load and waits until kadenz can detect it."""
    loads: list[RunningLoad] = []

    class Remembered(RunningLoad):
        def began(self) -> None:
            loads.append(self)
            super().began()

    def kill() -> None:
        os.kill(working_in(tmp_path)[0], signal.SIGKILL)
        wait_for(lambda: not loads[0].alive())

    monkeypatch.setattr("kadenz.lab.load_around.RunningLoad", Remembered)
    return kill


ENDED = "load `memory` ended unexpectedly, by signal 9"


def test_a_record_whose_load_ended_is_invalid(tmp_path: Path, killer: Callable[[], None]) -> None:
    result, kept = run(tmp_path, Acting(pieces(6), killer), points=2)
    assert [(r.id, r.status) for r in kept.manifest.records] == [(10, "ok"), (11, "invalid")]
    assert kept.record(11).reason == ENDED
    assert kept.samples(kept.record(11)).size == 6  # kept nevertheless
    assert [type(error) for error in result.failures] == [LoadFailed]
    assert "load-ended" in [w.code for w in kept.manifest.warnings]
    assert not kept.manifest.loads[0].verified
    assert left_behind(tmp_path) == []


def test_points_after_the_end_of_a_load_are_not_measured(
    tmp_path: Path, killer: Callable[[], None]
) -> None:
    first, second = pieces(5)[0], pieces(5, 1)[1]
    target = Acting([first, second], killer)
    target.pieces_after(None)  # then it would continue measuring for long
    result, kept = run(tmp_path, target, points=3)
    assert [(r.id, r.status) for r in kept.manifest.records] == [(10, "ok"), (11, "failed")]
    assert kept.record(11).reason == ENDED
    assert kept.manifest.partial and kept.manifest.partial_reason == ENDED
    assert target.asked_to_stop
    assert [type(error) for error in result.failures] == [LoadFailed]


def test_a_weak_load_creates_no_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    idle = msgspec.structs.replace(
        definitions.kinds()["network"], program=["sleep", "9"], at_least=1e9
    )
    table = {**definitions.kinds(), "network": idle}
    monkeypatch.setattr(definitions, "kinds", lambda: table)
    with pytest.raises(LoadFailed, match="is too weak"):
        run(tmp_path, Scripted([said(record(10))]), load="network", weak=False)
    assert list((tmp_path / "runs").iterdir()) == []

    _, kept = run(tmp_path, Scripted([said(record(10))]), load="network", weak=True)
    assert "weak-load" in [w.code for w in kept.manifest.warnings]
    assert not kept.manifest.loads[0].verified
    assert kept.record(10).status == "ok"


def test_an_exception_while_measuring_ends_the_load(tmp_path: Path) -> None:
    def fail() -> None:
        assert working_in(tmp_path)
        raise RuntimeError("a mistake")

    with pytest.raises(RuntimeError):
        run(tmp_path, Acting([said(record(10))], fail))
    assert left_behind(tmp_path) == []
