# SPDX-License-Identifier: Apache-2.0
"""Boards at places of a rack: held while they are measured, and released in any case."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadenz.config.farm import LabgridTable
from kadenz.errors import UsageError
from kadenz.lab.farm import owner
from kadenz.lab.farm.owner import is_dead, this_process
from kadenz.lab.farm.places import Coordinator
from kadenz.store import Run, read_run
from tests.e2e.conftest import KADENZ
from tests.farm.machines import children, wait_for
from tests.farm.rack import PLACES, Rack

CALL = ("run", "itc/semaphore-binary", "--set", "samples=100", "--farm", "farm.toml")


@pytest.fixture(scope="module")
def one_rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    made = Rack(tmp_path_factory.mktemp("rack"))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def rack(one_rack: Rack) -> Iterator[Rack]:
    """The rack. A board that was measured runs ahead of its next tick, each on one processor."""
    yield one_rack
    for machine in one_rack.machines:
        machine.power_cycle()


def started(rack: Rack, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [KADENZ, *words],
        cwd=rack.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def whole(folder: Path) -> Run:
    """A complete run: every record once, every file of samples named once."""
    run = read_run(folder)
    assert not run.manifest.partial, run.manifest.partial_reason
    assert {entry.status for entry in run.manifest.records} == {"ok"}
    ids = [entry.id for entry in run.manifest.records]
    named = [lane.file for entry in run.manifest.records for lane in entry.lanes]
    assert len(set(ids)) == len(ids)
    assert sorted(named) == sorted(f"samples/{f.name}" for f in (run.path / "samples").iterdir())
    return run


@pytest.mark.emulated
def test_three_places_are_measured_at_once_and_released(rack: Rack) -> None:
    targets = [word for desk in ("desk1", "desk2", "desk3") for word in ("--target", desk)]
    process = started(rack, *CALL, *targets, "--output", "three")
    wait_for(lambda: all(rack.owner(place) for place in PLACES))
    assert all(".kadenz-" in rack.owner(place) for place in PLACES)
    code, errors = ended(process)
    assert code == 0, errors
    runs = [whole(folder) for folder in sorted((rack.folder / "three").iterdir())]
    assert {run.manifest.target.name for run in runs} == {"desk1", "desk2", "desk3"}
    assert [rack.owner(place) for place in PLACES] == ["", "", ""]


def partial(output: Path, samples: str = "") -> bool:
    return any(output.glob(f"*.partial/samples/*{samples}*" if samples else "*.partial/run.json"))


MOMENTS: dict[str, Callable[[Rack, Path], bool]] = {
    "the place is acquired": lambda rack, output: bool(rack.owner("shelf-1")),
    "the run begins": lambda rack, output: partial(output),
    "the clock is measured": lambda rack, output: partial(output, "clock-"),
    "the benchmark is measured": lambda rack, output: partial(output, "itc-"),
    "it is measured, and the guard dies as well": lambda rack, output: partial(output, "clock-"),
}


@pytest.mark.emulated
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_releases_the_place_and_the_run_is_resumed(rack: Rack, moment: str) -> None:
    output = rack.folder / re.sub(r"\W", "-", moment)
    call = [word.replace("samples=100", "samples=2000") for word in CALL]
    process = started(rack, *call, "--target", "desk1", "--output", str(output))
    reached = MOMENTS[moment]
    wait_for(lambda: process.poll() is not None or reached(rack, output))
    assert process.poll() is None, process.communicate()
    held = str(this_process(process.pid))
    if "guard" in moment:
        for child in children(process.pid):
            if b"farm.guard" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(child, signal.SIGKILL)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it had not ended"
    rack.machines[0].power_cycle()  # it runs on without its debugger, and would take a processor
    if "guard" in moment:
        assert rack.owner("shelf-1") == held and is_dead(held)
    else:
        wait_for(lambda: rack.owner("shelf-1") == "", 30)
    if partial(output):
        again = started(rack, "run", "--resume", "latest", "--output", str(output))
        code, errors = ended(again)
        assert code == 0, errors
        (folder,) = output.iterdir()
        assert len(whole(folder).manifest.resumed) == 1
        assert rack.owner("shelf-1") == ""


@pytest.mark.emulated
def test_a_place_of_somebody_else_is_named_and_never_released(rack: Rack) -> None:
    rack.client("-p", "shelf-2", "acquire", check=True)
    try:
        code, errors = ended(started(rack, *CALL, "--target", "desk2"))
        assert code == 2
        assert "place shelf-2 is acquired by elsewhere/somebody" in errors
        assert rack.owner("shelf-2") == "elsewhere/somebody"
    finally:
        rack.client("-p", "shelf-2", "release", check=True)


@pytest.mark.emulated
def test_kadenz_queues_for_a_place_and_gets_it(rack: Rack) -> None:
    rack.client("-p", "shelf-3", "acquire", check=True)
    free = threading.Timer(1.0, lambda: rack.client("-p", "shelf-3", "release", check=True))
    free.start()
    coordinator = Coordinator(LabgridTable(coordinator=rack.address, wait_s=30), this_process())
    try:
        coordinator.acquire("shelf-3")
        assert rack.owner("shelf-3") == str(this_process())
        assert coordinator.line("shelf-3") == f"socket://127.0.0.1:{rack.machines[2].line}"
    finally:
        free.join()
        coordinator.release("shelf-3")
        coordinator.close()
    assert rack.owner("shelf-3") == ""
    assert "Reservation" not in rack.client("reservations").stdout


@pytest.mark.emulated
def test_a_rack_that_cannot_be_used_is_named(
    rack: Rack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    coordinator = Coordinator(LabgridTable(coordinator=rack.address), this_process())
    try:
        with pytest.raises(UsageError) as unknown:
            coordinator.acquire("shelf-4")
        assert "has no place `shelf-4`" in unknown.value.message
        assert "shelf-" in unknown.value.remedy
        rack.client("-p", "bare", "create", check=True)
        with pytest.raises(UsageError, match="place bare has no serial line"):
            coordinator.line("bare")
    finally:
        coordinator.close()
    with pytest.raises(UsageError, match="the coordinator 127.0.0.1:9 cannot be reached"):
        Coordinator(LabgridTable(coordinator="127.0.0.1:9"), this_process())
    code, errors = ended(started(rack, *CALL[:-2], "--target", "desk1"))
    assert code == 2 and "Pass --farm CONFIG" in errors
    monkeypatch.setitem(sys.modules, "labgrid.remote.client", None)
    with pytest.raises(UsageError) as missing:
        Coordinator(LabgridTable(coordinator=rack.address), this_process())
    assert "kadenz[farm]" in missing.value.remedy


def test_only_a_dead_kadenz_of_this_user_and_machine_counts_as_dead() -> None:
    mine = str(this_process())
    gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dead = str(this_process(gone.pid))
    assert not is_dead(mine) and not is_dead(dead)
    gone.communicate(b"\n")
    assert is_dead(dead)
    host, user = socket.gethostname(), owner._user()
    for other in (
        f"{host}/{user}",
        dead.replace(f"{host}/", "elsewhere/"),
        dead.replace(f"/{user}.", "/somebody."),
        dead.replace(owner._machine(), "0badf00d"),
        dead.replace(f"-{owner._space()}-", "-1-"),
    ):
        assert not is_dead(other), other
