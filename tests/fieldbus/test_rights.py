# SPDX-License-Identifier: Apache-2.0
"""Segment and motion give up the rights of root once their sockets are open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadenz.images.program import build_program
from tests.fieldbus.conftest import RING, Starter, Veth, stop
from tests.rights import (
    AS_USER,
    IPC_LOCK,
    NOBODY,
    ROOT_ONLY,
    SYS_NICE,
    SYS_RESOURCE,
    USER,
    WITHOUT,
    rights_of,
    without,
)
from tests.waiting import wait_for

pytestmark = [pytest.mark.machine, ROOT_ONLY]

Motion = Callable[..., "subprocess.Popen[str]"]


def limits_can_be_raised() -> bool:
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> SYS_RESOURCE & 1)


# What stays where no limit can take its place.
LOCKING = () if limits_can_be_raised() else (IPC_LOCK,)
REAL_TIME = () if limits_can_be_raised() else (IPC_LOCK, SYS_NICE)


@pytest.mark.parametrize(("options", "kept"), [([], ()), (["--priority", "10"], LOCKING)])
def test_a_segment_serves_a_master_without_rights(
    start_segment: Starter, veth: Veth, tmp_path: Path, options: list[str], kept: tuple[int, ...]
) -> None:
    pysoem = pytest.importorskip("pysoem", reason="pysoem is not installed: pip install -e .[dev]")
    frames = tmp_path / "frames.pcapng"
    process = start_segment(*options, "--record", str(frames))
    soem = pysoem.Master()
    soem.open(veth.master)
    devices = next((count for count in (soem.config_init() for _ in range(3)) if count > 0), 0)
    assert devices == 9
    assert rights_of([process.pid]) == {without(NOBODY, *kept)}
    soem.close()
    assert "frames" in stop(process) and process.returncode == 0
    assert frames.stat().st_size > 10_000


def test_with_sudo_a_segment_is_the_callers(
    start_segment: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "1235")
    process = start_segment()
    assert rights_of([process.pid]) == {without(1234)}
    status = Path(f"/proc/{process.pid}/status").read_text()
    assert "\nGid:\t1235\t1235\t1235\t1235\n" in status and "\nGroups:\t \n" in status


def test_a_segment_of_another_user_gives_up_its_capabilities(
    segment_program: Path, veth: Veth
) -> None:
    command = [str(segment_program), "run", "--interface", veth.segment, "--ring", str(RING)]
    with subprocess.Popen([*AS_USER, *command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "devices on" in process.stdout.readline()
        assert rights_of([process.pid]) == {without(USER)}
        process.terminate()


@pytest.mark.parametrize(
    ("lacking", "right", "rights"),
    [
        ("7", "the user root", without(0)),
        (str(SYS_RESOURCE), "CAP_IPC_LOCK", without(NOBODY, IPC_LOCK)),
    ],
)
def test_a_right_that_a_segment_cannot_give_up_is_named(
    segment_program: Path, veth: Veth, lacking: str, right: str, rights: str
) -> None:
    options = ["--priority", "10"] if lacking == str(SYS_RESOURCE) else []
    command = [str(segment_program), "run", "--interface", veth.segment, "--ring", str(RING)]
    with subprocess.Popen(
        [sys.executable, "-c", WITHOUT, lacking, *command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert "devices on" in process.stdout.readline()
        assert rights_of([process.pid]) == {rights}
        process.terminate()
        said = process.stderr.read()
    assert said == f"note: cannot give up {right}: Operation not permitted (os error 1)\n"


@pytest.fixture(scope="session")
def motion_program() -> Path:
    return build_program("kadenz-motion")[0].path


@pytest.fixture
def motion(motion_program: Path) -> Iterator[Motion]:
    """Starts a motion; at the end it is killed, and its interfaces go by themselves."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, plan: str = "") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(motion_program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # a busy machine makes it say much
            text=True,
        )
        started.append(process)
        assert process.stdin is not None
        process.stdin.write(plan)
        process.stdin.close()
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        wait_for(lambda pid=process.pid: interfaces_of(pid) == [])  # type: ignore[misc]


def interfaces_of(pid: int) -> list[str]:
    return [path.name for path in Path("/sys/class/net").glob(f"kdz?{pid}")]


def ring_of(process: subprocess.Popen[str]) -> int:
    """The process that simulates the ring; its name is that of the program."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    (ring,) = [
        child for child in children if Path(f"/proc/{child}/comm").read_text() == "kadenz-motion\n"
    ]
    return int(ring)


def cycles(process: subprocess.Popen[str]) -> bool:
    """Its tasks run: threads with a name of theirs, or with priority."""
    assert process.poll() is None
    for thread in Path(f"/proc/{process.pid}/task").iterdir():
        if (thread / "comm").read_text() == "kdz-main\n":
            return True
        if os.sched_getscheduler(int(thread.name)) == os.SCHED_FIFO:
            return True
    return False


MOTION = "motion/frame-time id=1 samples=60000\nend\n"
EDGES = "ethercat/edge-jitter id=1 samples=60000\nend\n"
BOTH = "motion/frame-time id=1 samples=100\nethercat/edge-jitter id=2 samples=60000\nend\n"


@pytest.mark.parametrize(
    ("arguments", "plan", "kept", "kept_of_ring"),
    [
        (["run", "--segment", "veth", "--duration", "60", "--no-realtime"], "", (), ()),
        (["run", "--segment", "veth", "--duration", "60"], "", REAL_TIME, REAL_TIME),
        (["edge", "--segment", "veth", "--edges", "60000"], "", REAL_TIME, REAL_TIME),
        (["lab"], MOTION, REAL_TIME, REAL_TIME),
        (["lab"], EDGES, REAL_TIME, REAL_TIME),
    ],
)
def test_motion_and_its_ring_run_without_rights(
    motion: Motion,
    arguments: list[str],
    plan: str,
    kept: tuple[int, ...],
    kept_of_ring: tuple[int, ...],
) -> None:
    process = motion(*arguments, plan=plan)
    wait_for(lambda: cycles(process))
    assert rights_of([process.pid]) == {without(NOBODY, *kept)}
    assert rights_of([ring_of(process)]) == {without(NOBODY, *kept_of_ring)}


def test_a_plan_of_two_buses_gives_up_its_rights_once_the_last_is_open(motion: Motion) -> None:
    process = motion("lab", plan=BOTH)
    wait_for(lambda: cycles(process))
    assert rights_of([ring_of(process)]) == {without(NOBODY, *REAL_TIME)}
    # A thread of the master library stays, which loses every capability.
    wanted = {without(NOBODY, *REAL_TIME), without(NOBODY)}
    wait_for(lambda: process.poll() is not None or rights_of([process.pid]) <= wanted)
    wait_for(lambda: cycles(process))
    assert rights_of([process.pid]) <= wanted


@pytest.mark.parametrize("killed", ["neither", "motion", "both"])
def test_the_interfaces_go_however_their_processes_end(motion: Motion, killed: str) -> None:
    process = motion("run", "--segment", "veth", "--duration", "1", "--no-realtime")
    wait_for(lambda: cycles(process))
    assert len(interfaces_of(process.pid)) == 2
    ring = ring_of(process)
    if killed == "both":
        os.kill(process.pid, signal.SIGSTOP)  # it would notice the end of its ring
        os.kill(ring, signal.SIGKILL)
    if killed != "neither":
        process.kill()
    process.wait()
    if killed == "neither":
        assert interfaces_of(process.pid) == []  # at once, so that the next may begin
    wait_for(lambda: interfaces_of(process.pid) == [])
