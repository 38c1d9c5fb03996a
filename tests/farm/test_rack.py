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
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadenz.config.farm import LabgridTable
from kadenz.errors import TargetFailed, UsageError
from kadenz.farm import owner
from kadenz.farm.guard import Guard
from kadenz.farm.owner import is_dead, this_process
from kadenz.farm.places import Coordinator
from kadenz.farm.power import PlaceSwitch
from kadenz.store import Run, read_run
from tests.e2e.conftest import KADENZ
from tests.farm.rack import PLACES, Rack
from tests.processes import children
from tests.waiting import wait_for

CALL = ("run", "itc/semaphore-binary", "--set", "samples=100", "--farm", "farm.toml")


@pytest.fixture(scope="module")
def one_rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    running = Rack(tmp_path_factory.mktemp("rack"))
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def rack(one_rack: Rack) -> Iterator[Rack]:
    """The rack. A board that was measured runs ahead of its next tick, each on one processor."""
    yield one_rack
    one_rack.end_calls()
    for machine in one_rack.machines:
        machine.power_cycle()


def started(rack: Rack, *arguments: str) -> subprocess.Popen[str]:
    call = subprocess.Popen(
        [KADENZ, *arguments],
        cwd=rack.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    rack.calls.append(call)
    return call


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=400)
    return process.returncode, errors


def measuring(rack: Rack, output: str, *desks: str) -> subprocess.Popen[str]:
    """A call that has measured the first record of the last of `desks` by now."""
    call = [word.replace("samples=100", "samples=400") for word in CALL]
    process = started(rack, *call, *targets(*desks), "--output", output)
    clocks = f"{output}/*.partial/samples/*clock-*"

    def measured() -> bool:
        files = Counter(file.parents[1] for file in rack.folder.glob(clocks))
        # The second file begins when the first record has ended.
        begun = [folder for folder, count in files.items() if count > 1]
        return desks[-1] in (read_run(folder).manifest.target.name for folder in begun)

    wait_for(lambda: process.poll() is not None or measured())  # it builds an image before
    assert process.poll() is None, process.communicate()
    return process


def targets(*desks: str) -> list[str]:
    return [word for desk in desks for word in ("--target", desk)]


def runs_of(rack: Rack, output: str) -> dict[str, Path]:
    """Run folders by the name of the target."""
    folders = sorted((rack.folder / output).iterdir())
    return {read_run(folder).manifest.target.name: folder for folder in folders}


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


@pytest.mark.counted
def test_three_places_are_measured_at_once_and_released(rack: Rack) -> None:
    process = started(rack, *CALL, *targets("desk1", "desk2", "desk3"), "--output", "three")
    wait_for(lambda: set(rack.owners()) == set(PLACES))
    assert all(".kadenz-" in owner for owner in rack.owners().values())
    code, errors = ended(process)
    assert code == 0, errors
    runs = runs_of(rack, "three")
    assert set(runs) == {"desk1", "desk2", "desk3"}
    for folder in runs.values():
        whole(folder)
    assert rack.owners() == {}


@pytest.mark.counted
def test_a_board_that_dies_for_good_costs_only_its_own_run(rack: Rack) -> None:
    process = measuring(rack, "dies", "desk1", "desk3", "desk2")
    rack.machines[1].power_cycle(dead=True)
    code, errors = ended(process)
    runs = runs_of(rack, "dies")
    assert code == 1 and "error: " in errors
    whole(runs["desk1"])
    whole(runs["desk3"])
    harmed = read_run(runs["desk2"]).manifest
    assert harmed.partial or harmed.records[-1].status == "failed"
    assert harmed.records[0].status == "ok", harmed.records
    assert rack.owners() == {}


@pytest.mark.counted
def test_a_board_that_hangs_until_its_power_is_switched_is_measured(rack: Rack) -> None:
    """Its UART or its debug port hangs. A third board stays dead, and frees its place."""
    cured, dead, frozen = rack.machines
    cured.fall_silent()
    dead.fall_silent(for_good=True)
    frozen.freeze()
    with rack.powered():
        call = (*CALL, *targets("desk1", "desk2", "desk3"), "--output", "power")
        code, errors = ended(started(rack, *call))
    assert code == 1
    assert "and none after a reset; its power was switched off and on" in errors
    runs = runs_of(rack, "power")
    for desk in ("desk1", "desk3"):
        said = (whole(runs[desk]).path / "console.txt").read_text()
        assert "its power was switched off and on" in said, said
    assert "desk2" not in runs or read_run(runs["desk2"]).manifest.partial
    assert [machine.switched for machine in rack.machines] == [[False, True]] * 3
    assert rack.owners() == {}


@pytest.mark.counted
def test_only_a_place_that_is_held_is_switched(rack: Rack) -> None:
    coordinator = Coordinator(LabgridTable(coordinator=rack.address), this_process())
    try:
        coordinator.acquire("shelf-1")
        assert coordinator.power("shelf-1") is None  # it has no switch
        coordinator.release("shelf-1")
        with rack.powered():
            coordinator.acquire("shelf-1")
            switch = coordinator.power("shelf-1")
            assert switch is not None
            coordinator.release("shelf-1")
            rack.client("-p", "shelf-1", "acquire", check=True)  # somebody else's now
            try:
                with pytest.raises(TargetFailed, match="not switched: this call no longer"):
                    switch.cycle()
            finally:
                rack.client("-p", "shelf-1", "release", check=True)
        assert rack.machines[0].switched == []
    finally:
        coordinator.close()


def test_a_power_switch_that_fails_is_named_without_its_password() -> None:
    params = {"model": "simplerest", "host": "http://me:secret@127.0.0.1:9/{value}", "index": "0"}
    with pytest.raises(TargetFailed, match="the power of place shelf-1 was not switched") as failed:
        PlaceSwitch("shelf-1", params, lambda place: True).cycle()
    assert "127.0.0.1" in failed.value.message and "secret" not in failed.value.message
    assert "labgrid-client -p shelf-1 power cycle" in failed.value.remedy


@pytest.mark.counted
def test_a_coordinator_and_exporters_that_go_cost_no_sample(rack: Rack) -> None:
    """The end of the call as well: its summary and its exit code are those of a whole run."""
    process = measuring(rack, "gone", "desk1", "desk2")
    guards = [child for child in children(process.pid) if "farm.guard" in words_of(child)]
    rack.stop()
    try:
        summary, errors = process.communicate(timeout=400)
        assert process.returncode == 0, errors
        assert f"the coordinator {rack.address} is gone: shelf-1, shelf-2 will be" in errors
        assert "desk1" in summary and "desk2" in summary
        for folder in runs_of(rack, "gone").values():
            whole(folder)
    finally:
        rack.restart()
    wait_for(lambda: not any(words_of(guard) for guard in guards))
    assert rack.owners() == {}


def words_of(process: int) -> str:
    """The command of a process; "" if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.counted
def test_a_coordinator_behind_a_broken_network_is_gone_and_the_guard_releases(
    rack: Rack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its machine answers nothing, and nothing says that it is gone."""
    monkeypatch.setattr("kadenz.farm.places._ANSWER_S", 0.5)
    table, me = LabgridTable(coordinator=rack.address), this_process()
    coordinator, guard = Coordinator(table, me), Guard(table, me)
    guard.watch("shelf-1")
    coordinator.acquire("shelf-1")
    rack.coordinator.send_signal(signal.SIGSTOP)
    try:
        for _ in range(2):
            with pytest.raises(UsageError, match=f"the coordinator {rack.address} is gone"):
                coordinator.release("shelf-1")
        with pytest.raises(UsageError, match="is gone"):
            coordinator.acquire("shelf-2")
        coordinator.close()
        guard.take_over()
    finally:
        rack.coordinator.send_signal(signal.SIGCONT)
    wait_for(lambda: "shelf-1" not in rack.owners())
    assert guard._process.wait(60) == 0


def partial(output: Path, samples: str = "") -> bool:
    return any(output.glob(f"*.partial/samples/*{samples}*" if samples else "*.partial/run.json"))


MOMENTS: dict[str, Callable[[Rack, Path], bool]] = {
    "the place is acquired": lambda rack, output: "shelf-1" in rack.owners(),
    "the run begins": lambda rack, output: partial(output),
    "the clock is measured": lambda rack, output: partial(output, "clock-"),
    "the benchmark is measured": lambda rack, output: partial(output, "itc-"),
    "it is measured, and the guard dies as well": lambda rack, output: partial(output, "clock-"),
}


@pytest.mark.counted
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_releases_the_place_and_the_run_is_resumed(rack: Rack, moment: str) -> None:
    output = rack.folder / re.sub(r"\W", "-", moment)
    call = [word.replace("samples=100", "samples=400") for word in CALL]
    process = started(rack, *call, "--target", "desk1", "--output", str(output))
    reached = MOMENTS[moment]
    wait_for(lambda: process.poll() is not None or reached(rack, output))
    assert process.poll() is None, process.communicate()
    held = str(this_process(process.pid))
    if "guard" in moment:
        for child in children(process.pid):
            if "farm.guard" in words_of(child):
                os.kill(child, signal.SIGKILL)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it had not ended"
    rack.machines[0].power_cycle()  # it runs on without its debugger, and would take a processor
    if "guard" in moment:
        assert rack.owners().get("shelf-1") == held and is_dead(held)
    else:
        wait_for(lambda: "shelf-1" not in rack.owners())
    if partial(output):
        again = started(rack, "run", "--resume", "latest", "--output", str(output))
        code, errors = ended(again)
        assert code == 0, errors
        (folder,) = output.iterdir()
        assert len(whole(folder).manifest.resumed) == 1
        assert "shelf-1" not in rack.owners()


@pytest.mark.counted
def test_a_place_of_somebody_else_is_named_and_never_released(rack: Rack) -> None:
    rack.client("-p", "shelf-2", "acquire", check=True)
    try:
        code, errors = ended(started(rack, *CALL, "--target", "desk2"))
        assert code == 2
        assert "place shelf-2 is acquired by elsewhere/somebody" in errors
        assert rack.owners().get("shelf-2") == "elsewhere/somebody"
    finally:
        rack.client("-p", "shelf-2", "release", check=True)


@pytest.mark.counted
def test_kadenz_queues_for_a_place_and_gets_it(rack: Rack) -> None:
    rack.client("-p", "shelf-3", "acquire", check=True)
    free = threading.Timer(1.0, lambda: rack.client("-p", "shelf-3", "release", check=True))
    free.start()
    coordinator = Coordinator(LabgridTable(coordinator=rack.address, wait_s=30), this_process())
    try:
        coordinator.acquire("shelf-3")
        assert rack.owners().get("shelf-3") == str(this_process())
        assert coordinator.line("shelf-3") == f"socket://127.0.0.1:{rack.machines[2].line}"
    finally:
        free.join()
        coordinator.release("shelf-3")
        coordinator.close()
    assert "shelf-3" not in rack.owners()
    assert "Reservation" not in rack.client("reservations").stdout


@pytest.mark.counted
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
