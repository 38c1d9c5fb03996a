# SPDX-License-Identifier: Apache-2.0
"""The suite on this Linux: stop requests, crashes, processes, and errors for missing rights.

Nothing here depends on time. What the port measures is tested in guests: tests/guest/test_port.py,
test_paths.py and test_wake_ups.py.
"""

from __future__ import annotations

import ctypes
import errno
import os
import pty
import resource
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.decoded import decode
from tests.posix.conftest import TOLERANT, Run, measuring, without_rights
from tests.processes import slept, thread_status
from tests.waiting import PATIENCE_S, wait_for

CYCLIC = "cyclic/wakeup-latency id=1"
# Longer than any test: it ends by a signal.
ENDLESS = "samples=1000000 period_us=1000"


def limit(what: int, value: int) -> dict[str, Any]:
    return {"preexec_fn": lambda: resource.setrlimit(what, (value, value))}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_on_a_stop_request_it_delivers_its_samples(program: Path, number: signal.Signals) -> None:
    plan = f"itc/pipe id=1 {ENDLESS}\nitc/pipe id=2 samples=9"
    with measuring(program, plan, TOLERANT) as (process, begun):
        process.send_signal(number)
        assert process.stdout is not None
        said = decode(begun + process.stdout.read())
        assert process.wait() == 0
    (end,) = said.ends  # the second line does not start
    assert said.done
    assert end.status == "ok" and "stopped on request" in end.reason
    (lane,) = end.lanes
    assert 0 < lane.taken < 1000000  # a record that has begun measures once, whenever it is to end
    assert lane.missed == 0  # unrequested samples are not missed
    assert len(said.values(1)) == lane.taken


def test_a_crash_is_reported_with_its_thread(run: Run) -> None:
    said = run("test/crash id=1 samples=1\nend\n", TOLERANT)
    assert said.code == 1
    assert said.fault.kind == "exception"
    assert said.fault.message.startswith("SIGSEGV")
    assert said.fault.thread == "doomed"
    assert said.fault.registers["address_low"] == 0x10


def test_without_rights_it_ends_and_names_the_remedy(run: Run) -> None:
    said = run("itc/pipe id=1 samples=5\nend\n", **without_rights())
    assert said.code == 1
    assert said.fault.kind == "denied"
    assert "cannot lock memory" in said.fault.message
    assert TOLERANT.replace("=", " ") in said.fault.message
    assert not said.ends


def test_without_rights_but_allowed_it_measures_with_a_warning(run: Run) -> None:
    said = run("itc/pipe id=1 samples=20 period_us=1000\nend\n", TOLERANT, **without_rights())
    assert said.code == 0 and said.done
    assert said.ends[0].status == "ok"
    assert said.hello.settings["policy"] == "SCHED_OTHER"
    assert said.hello.settings["memory_locked"] == "no"
    for what in ("cannot lock memory", "SCHED_FIFO is denied"):
        assert what in said.notes
    if not os.access("/dev/cpu_dma_latency", os.W_OK) or os.geteuid() == 0:
        assert said.hello.settings["idle_states"] == "as the system has them"
        assert "/dev/cpu_dma_latency" in said.notes
    # An option that was passed is not advised.
    assert "measured all the same" in said.notes and "pass --allow" not in said.notes
    # Ranks without effect are not claimed.
    assert "priority-inheritance" not in said.hello.capabilities


def without_capabilities() -> None:
    """As root in a container: no right to real time or to locked memory, and no way to it."""
    drop, nice, lock = 24, 23, 14  # PR_CAPBSET_DROP, CAP_SYS_NICE, CAP_IPC_LOCK
    for capability in (nice, lock):
        ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0)
    for what in (resource.RLIMIT_MEMLOCK, resource.RLIMIT_RTPRIO):
        resource.setrlimit(what, (0, 0))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be root without its rights")
def test_root_reads_the_error_of_the_call_and_a_remedy_that_root_has_not_followed(run: Run) -> None:
    notes = run("end\n", TOLERANT, preexec_fn=without_capabilities).notes
    assert f"SCHED_FIFO is denied: {os.strerror(errno.EPERM)}" in notes
    assert f"cannot lock memory: {os.strerror(errno.EPERM)}" in notes
    assert "Run as root" not in notes
    assert notes.count("container needs") + notes.count("real-time budget") >= 2


def test_a_deadline_thread_that_is_bound_is_refused_with_the_remedy(run: Run) -> None:
    said = run(f"{CYCLIC} samples=5 policy=deadline\nend\n", TOLERANT, **without_rights())
    (end,) = said.ends
    assert end.status == "failed"
    assert "SCHED_DEADLINE is denied" in end.reason and "threads=N" in end.reason


def test_threads_run_on_the_requested_core(program: Path, run: Run) -> None:
    hello = run("end\n", TOLERANT).hello
    core = hello.cores - 1
    cpu = sorted(os.sched_getaffinity(0))[core]
    plan = f"{CYCLIC} {ENDLESS} threads=3 core={core} context=cheap\n"
    with measuring(program, plan, TOLERANT) as (process, begun):
        wait_for(lambda: slept(process.pid, "cyclic") >= 20)
        assert thread_status(process.pid, "cyclic", "Cpus_allowed_list") == [str(cpu)] * 3
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        said = decode(begun + process.stdout.read())
    assert said.begins[0].lanes[:3] == ["thread0", "thread1", "thread2"]
    for number in range(3):
        assert set(said.lane(1, f"thread{number}:cpu").tolist()) == {cpu}


def test_a_queue_beyond_the_users_limit_fails_with_the_remedy(run: Run) -> None:
    said = run(
        "itc/message-queue id=1 samples=5\nitc/pipe id=2 samples=5 period_us=1000\nend\n",
        TOLERANT,
        **limit(resource.RLIMIT_MSGQUEUE, 0),
    )
    failed, measured = said.ends
    assert failed.status == "failed"
    assert "ulimit -q" in failed.reason
    assert measured.status == "ok"  # the other lines still run


def test_a_fifo_without_a_place_fails_with_the_remedy(run: Run, tmp_path: Path) -> None:
    place = str(tmp_path / "missing")
    said = run("itc/fifo id=1 samples=5\nend\n", TOLERANT, env={"TMPDIR": place})
    assert said.ends[0].status == "failed"
    assert place in said.ends[0].reason and "Set TMPDIR" in said.ends[0].reason


def test_features_that_linux_lacks_are_n_a_never_zero(run: Run) -> None:
    said = run("itc/queue id=1 samples=5\nend\n", TOLERANT)
    assert said.ends[0].status == "n/a"
    assert said.values(1).size == 0


def test_a_missing_cpu_fails(run: Run) -> None:
    said = run("itc/pipe id=1 samples=5 core_a=200\nend\n", TOLERANT)
    assert said.ends[0].status == ("failed" if said.hello.cores > 1 else "n/a")
    assert "core" in said.ends[0].reason


def test_an_unterminated_plan_ends(run: Run) -> None:
    assert run("# nothing to do", TOLERANT).done


def test_frames_do_not_go_to_a_terminal(program: Path) -> None:
    leader, follower = pty.openpty()
    answer = subprocess.run(
        [program],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.PIPE,
        timeout=PATIENCE_S,
        check=False,
    )
    os.close(leader)
    os.close(follower)
    assert answer.returncode == 2
    assert b"redirect" in answer.stderr


@pytest.mark.parametrize("options", [["--alow"], ["--allow"], ["--allow", "realtime"]])
def test_an_unknown_option_or_name_is_a_usage_error(program: Path, options: list[str]) -> None:
    answer = subprocess.run(
        [program, *options], capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert answer.returncode == 2
    assert b"--allow no-realtime" in answer.stderr


# ---- processes -----------------------------------------------------------------------------------
def children(pid: int) -> set[int]:
    """Children of the program's main thread that have their name."""
    with suppress(FileNotFoundError, ProcessLookupError):
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return {int(child) for child in listed if name(Path(f"/proc/{child}")) == "task 2"}
    return set()


def name(task: Path) -> str:
    with suppress(FileNotFoundError, ProcessLookupError):
        return (task / "comm").read_text().strip()
    return ""


def threads(pid: int) -> set[str]:
    return {name(task) for task in Path(f"/proc/{pid}/task").iterdir()}


def test_a_process_is_a_process(program: Path) -> None:
    plan = f"itc/pipe id=1 {ENDLESS} processes=1\n"
    with measuring(program, plan, TOLERANT) as (process, _):
        wait_for(lambda: bool(children(process.pid)))
        (child,) = children(process.pid)
        # Its own PID: not a thread of the program.
        assert f"Tgid:\t{child}\n" in Path(f"/proc/{child}/status").read_text()
        assert "task 2" not in threads(process.pid)


def test_a_thread_is_no_process(program: Path) -> None:
    plan = f"itc/pipe id=1 {ENDLESS} processes=0\n"
    with measuring(program, plan, TOLERANT) as (process, _):
        wait_for(lambda: "task 2" in threads(process.pid))
        assert not children(process.pid)


def test_a_process_that_is_killed_ends_the_run_with_a_reason(program: Path) -> None:
    plan = f"itc/unix-socket id=1 {ENDLESS} processes=1\n"
    with measuring(program, plan, TOLERANT) as (process, begun):
        wait_for(lambda: bool(children(process.pid)))
        (child,) = children(process.pid)
        os.kill(child, signal.SIGKILL)
        assert process.stdout is not None
        said = decode(begun + process.stdout.read())
        assert process.wait() == 1
    assert "signal 9" in said.fault.message
