# SPDX-License-Identifier: Apache-2.0
"""Every IPC path, in every placement, between threads and processes, without leftovers."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from tests.pauses import timing
from tests.posix.conftest import Run, decode
from tests.posix.test_linux_target import TOLERANT, as_nobody

REALTIME = pytest.mark.linux

CHANNELS = ("pipe", "fifo", "message-queue", "unix-socket")
WAKES = ("eventfd", "futex", "semaphore-posix", "semaphore-sysv", "condition", "signal")
MUTEXES = ("mutex-plain", "mutex-inherit", "mutex-robust", "mutex-ceiling")
NEVER_QUEUED = "task 2 did not wait for a mutex that task 1 owned"
ORDERS = ((8, 7), (7, 7), (7, 8))
TWO_CORES = len(os.sched_getaffinity(0)) > 1


def everywhere(bench: str, samples: int, first: int) -> str:
    """One plan line per order of ranks, placement, and kind of task 2."""
    points = product(ORDERS, (0, 1) if TWO_CORES else (0,), (0, 1))
    return "".join(
        f"{bench} id={first + i} samples={samples} period_us=300 rank_a={a} rank_b={b} "
        f"core_b={core} processes={processes}\n"
        for i, ((a, b), core, processes) in enumerate(points)
    )


@REALTIME
@pytest.mark.parametrize("kind", CHANNELS + WAKES + MUTEXES)
def test_a_path_is_measured_and_proved_in_every_placement(run: Run, kind: str) -> None:
    plan = everywhere(f"itc/{kind}-one-way", 20, 0)
    if kind not in MUTEXES:
        plan += everywhere(f"itc/{kind}-round-trip", 20, 100)
    said = run(plan + "end\n")
    assert said.done
    assert len(said.ends) == len(plan.splitlines())
    if kind in MUTEXES:
        with timing():  # a pause of one processor, as long as 100 periods of 0.3 ms
            assert NEVER_QUEUED not in {end.reason for end in said.ends}
    for end in said.ends:
        assert (end.status, end.reason) == ("ok", "")
        assert end.proof.failed == 0 and end.proof.checked >= 40
        assert len(said.values(end.record)) == 20
        assert said.values(end.record).max() < 2**31  # an end before its beginning would wrap


@REALTIME
@pytest.mark.parametrize("kind", CHANNELS + WAKES)
def test_samples_without_pauses_finish(run: Run, kind: str) -> None:
    # Task 1 has the higher rank: it sends its last message before task 2, preempted while answering
    # the previous one, has checked whether to end.
    plan = "".join(
        f"itc/{kind}-{part} id={i} samples=50 period_us=0 core_b={core} processes={processes}\n"
        for i, (part, core, processes) in enumerate(
            product(("one-way", "round-trip"), (0, 1) if TWO_CORES else (0,), (0, 1))
        )
    )
    said = run(plan + "end\n")
    assert said.done
    assert [(end.status, end.lanes[0].taken) for end in said.ends] == [("ok", 50)] * len(said.ends)
    assert len(said.ends) == len(plan.splitlines())


@REALTIME
def test_each_channel_refuses_impossible_sizes_with_a_remedy(run: Run) -> None:
    queue_limit = int(Path("/proc/sys/fs/mqueue/msgsize_max").read_text())
    said = run(
        "itc/pipe id=1 samples=5 period_us=300 size_bytes=4096 processes=1\n"
        "itc/pipe id=2 samples=5 size_bytes=4097\n"
        "itc/fifo id=3 samples=5 size_bytes=4097\n"
        f"itc/message-queue id=4 samples=5 period_us=300 size_bytes={min(queue_limit, 65536)}\n"
        f"itc/message-queue id=5 samples=5 size_bytes={min(queue_limit + 1, 65536)}\n"
        "itc/unix-socket id=6 samples=5 period_us=300 size_bytes=65536 processes=1\n"
        "end\n"
    )
    by_id = {end.record: end for end in said.ends}
    for record in (1, 4, 6):
        assert (by_id[record].status, by_id[record].reason) == ("ok", "")
    for record in (2, 3):
        assert by_id[record].status == "failed"
        assert "PIPE_BUF = 4096" in by_id[record].reason
        assert "itc/unix-socket" in by_id[record].reason
    if queue_limit < 65536:
        assert by_id[5].status == "failed"
        assert "msgsize_max" in by_id[5].reason


def children(pid: int) -> set[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return {int(child) for child in listed.read_text().split()} if listed.exists() else set()


@contextmanager
def measuring(
    program: Path, plan: str, *arguments: str, **options: object
) -> Iterator[subprocess.Popen[bytes]]:
    """The program in the middle of a plan, with its first frames written."""
    with subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd="/",
        **options,  # type: ignore[call-overload]
    ) as process:
        process.stdin.write(plan.encode())
        process.stdin.flush()
        time.sleep(0.4)
        try:
            yield process
        finally:
            process.kill()


@REALTIME
@pytest.mark.parametrize("processes", [0, 1])
def test_a_process_is_a_process(program: Path, processes: int) -> None:
    plan = f"itc/pipe id=1 samples=100000 period_us=1000 processes={processes}\n"
    with measuring(program, plan) as process:
        found = children(process.pid)
        assert len(found) == processes
        for child in found:  # its own PID and name: not a thread of the program
            assert Path(f"/proc/{child}/comm").read_text() == "task 2\n"
            assert f"Tgid:\t{child}\n" in Path(f"/proc/{child}/status").read_text()


def page_faults(stat: Path) -> tuple[str, str]:
    """Minor and major ones since the start: fields 10 and 12 of proc(5)'s stat."""
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return fields[7], fields[9]


@REALTIME
@pytest.mark.skipif(
    tuple(int(part) for part in os.uname().release.split(".")[:2]) < (5, 14),
    reason="MADV_POPULATE_WRITE came with Linux 5.14",
)
def test_no_page_is_copied_while_a_process_is_measured(program: Path) -> None:
    """After a fork the next write copies a page: no copy may fall into a sample."""
    plan = "itc/futex-one-way id=1 samples=100000 period_us=1000 processes=1\n"
    with measuring(program, plan) as process:
        (child,) = children(process.pid)
        tasks = [Path(f"/proc/{child}/stat"), *Path(f"/proc/{process.pid}/task").glob("*/stat")]
        before = [page_faults(task) for task in tasks]
        time.sleep(0.4)
        assert [page_faults(task) for task in tasks] == before


@REALTIME
def test_a_process_that_is_killed_ends_the_run_with_a_reason(program: Path) -> None:
    plan = "itc/unix-socket id=1 samples=100000 period_us=1000 processes=1\n"
    with measuring(program, plan) as process:
        (child,) = children(process.pid)
        os.kill(child, signal.SIGKILL)
        assert process.stdout is not None
        stream = process.stdout.read()
        assert process.wait(10) == 1
    fault = decode(stream).fault
    assert "signal 9" in fault.message


def left(tmp: Path, pid: int) -> set[tuple[str, str]]:
    """Leftovers of programs in this system's tables of IPC objects, and in a folder.

    cyclictest's own file is ignored: it may run during a test.
    """
    found = {("message queue", name) for name in queues(pid)}
    for kind in ("sem", "msg", "shm"):
        rows = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
        found |= {(f"System V {kind}", row.split()[1]) for row in rows}
    for folder in (Path("/dev/shm"), tmp):
        found |= {(str(folder), entry.name) for entry in folder.glob("*")}
    return {(where, name) for where, name in found if not name.startswith("cyclictest")}


def queues(pid: int) -> frozenset[str]:
    """Message queues by the program's names for them: this needs no mount."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = set()
    for place in range(16):
        name = f"/kadenz-{pid}-{place}"
        descriptor = libc.mq_open(name.encode(), os.O_RDONLY)
        if descriptor >= 0:
            libc.mq_close(descriptor)
            found.add(name)
    return frozenset(found)


@REALTIME
@pytest.mark.parametrize("rights", ["with rights", "without rights"])
@pytest.mark.parametrize(
    ("kind", "processes"),
    [
        ("fifo", 1),
        ("message-queue", 1),
        ("semaphore-sysv", 0),
        ("semaphore-sysv", 1),
        ("semaphore-posix", 1),
    ],
)
def test_a_kill_leaves_nothing_behind(
    program: Path, tmp_path: Path, kind: str, processes: int, rights: str
) -> None:
    tmp_path.chmod(0o777)
    for parent in list(tmp_path.parents)[:2]:
        parent.chmod(parent.stat().st_mode | 0o011)
    plan = f"itc/{kind}-one-way id=1 samples=100000 period_us=1000 processes={processes}\n"
    options = as_nobody() if rights == "without rights" else {}
    before = left(tmp_path, 0)
    with measuring(program, plan, TOLERANT, env={"TMPDIR": str(tmp_path)}, **options) as process:
        found = children(process.pid)
        assert process.poll() is None
        process.kill()
        process.wait(10)
    until = time.monotonic() + 10
    # Other tests' objects come and go: what this program left stays.
    remains = left(tmp_path, process.pid) - before
    while time.monotonic() < until:
        alive = {pid for pid in found if Path(f"/proc/{pid}").exists()}
        remains &= left(tmp_path, process.pid) - before
        if not alive and not remains:
            break
        time.sleep(0.05)
    assert not alive
    assert remains == set()


@REALTIME
def test_without_inheritance_the_wait_includes_the_middle_thread(run: Run) -> None:
    """With inheritance the wait is bounded by the section; without, the middle thread's work adds
    up."""
    said = run(
        "inversion/mutex id=1 samples=60 period_us=0 section_us=50 middle_us=400\n"
        "inversion/mutex id=2 samples=60 period_us=0 section_us=50 middle_us=400 inheritance=0\n"
        "end\n"
    )
    for end in said.ends:
        assert (end.status, end.reason) == ("ok", "")
        # Five of a sample; with two processors the core of each of three threads, too.
        assert end.proof.checked == 300 + (TWO_CORES and 3 * (60 + 2))
    bounded, unbounded = said.values(1, 0), said.values(2, 0)
    # Both run the same loop: the wait includes it once, and without inheritance eight times more.
    # Each record has set the loop's length by itself.
    with timing():
        assert bounded.min() >= 0.5 * said.values(1, 1).min()
        assert unbounded.min() > 4 * said.values(2, 1).min()


@REALTIME
def test_an_inversion_requires_three_ordered_ranks(run: Run) -> None:
    said = run("inversion/mutex id=1 samples=5 rank_middle=9\nend\n")
    assert said.ends[0].status == "failed"
    assert "rank_low < rank_middle < rank_high" in said.ends[0].reason


@REALTIME
def test_a_deadlock_is_broken_every_time(run: Run) -> None:
    said = run("rhealstone/deadlock-break id=1 samples=200 period_us=300\nend\n")
    assert (said.ends[0].status, said.ends[0].reason) == ("ok", "")
    assert said.ends[0].proof.checked == 1000 + (TWO_CORES and 3 * (200 + 2))
