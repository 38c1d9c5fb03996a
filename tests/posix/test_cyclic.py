# SPDX-License-Identifier: Apache-2.0
"""cyclic/wakeup-latency on this Linux: threads, policies, timers, context, and the limit."""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pauses import timing
from tests.posix.conftest import Run, Said, decode

pytestmark = pytest.mark.linux

BENCH = "cyclic/wakeup-latency id=1"
POLICIES = {  # plan, sched.h
    "FIFO": ("fifo", 1),
    "RR": ("round-robin", 2),
    "DEADLINE": ("deadline", 6),
    "OTHER": ("fair", 0),
}


def measured(run: Run, params: str, samples: int = 200) -> Said:
    said = run(f"{BENCH} samples={samples} {params}\nend\n")
    (end,) = said.ends
    if end.reason == "every planned sample was missed":
        with timing():  # a pause as long as the whole record
            assert end.status == "ok"
    assert (end.status, end.reason) == ("ok", ""), said.notes
    return said


def beside(said: Said, name: str) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return said.values(1, said.begins[0].lanes.index(name))


@pytest.mark.parametrize("timer", ["sleep", "timerfd", "posix-timer"])
def test_cycle_numbers_have_gaps_at_missed_moments(run: Run, timer: str) -> None:
    """A general-purpose kernel misses some periods of 20 us, with any way of waiting."""
    said = measured(run, f"threads=1 period_us=20 timer={timer}", samples=5000)
    (lane,) = said.ends[0].lanes
    cycle = beside(said, "thread0:cycle").astype(np.int64)
    assert lane.taken + lane.missed == 5000
    assert len(said.values(1)) == len(cycle) == lane.taken > 0
    assert np.all(np.diff(cycle) >= 1)
    assert cycle[0] >= 0 and cycle[-1] <= 4999
    inside = int((np.diff(cycle) - 1).sum())
    assert inside + int(cycle[0]) + 4999 - int(cycle[-1]) == lane.missed


@pytest.mark.parametrize("timer", ["sleep", "timerfd", "posix-timer"])
def test_a_wake_up_is_never_early(run: Run, timer: str) -> None:
    said = measured(run, f"period_us=500 timer={timer}")
    assert len(said.values(1)) + said.ends[0].lanes[0].missed == 200
    assert said.ends[0].proof.failed == 0


def places(pid: int) -> set[tuple[int, int]]:
    """CPUs of a program's measuring threads now, each with its policy, from /proc."""
    found = set()
    for task in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            text = task.read_text()
            fields = text.rpartition(")")[2].split()  # fields from the third on, proc(5)
            if "(cyclic)" in text:
                found.add((int(fields[36]), int(fields[38])))
    return found


def scheduling(program: Path, plan: str) -> tuple[Said, set[int], set[int]]:
    """Policies and CPUs of the measuring threads while they sleep, by the last look at them.

    A thread has its name before it has its policy, and it may not have run on its CPU yet.
    """
    seen: set[tuple[int, int]] = set()
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(plan.encode())
        process.stdin.close()
        until = time.monotonic() + 10
        while time.monotonic() < until and process.poll() is None:
            time.sleep(0.05)
            seen = places(process.pid) or seen
        said = decode(process.stdout.read())
    return said, {policy for _, policy in seen}, {cpu for cpu, _ in seen}


@pytest.mark.parametrize("policy", POLICIES)
def test_threads_run_under_the_requested_policy(program: Path, policy: str) -> None:
    asked, expected = POLICIES[policy]
    plan = f"{BENCH} samples=25 period_us=20000 threads=2 policy={asked}\nend\n"
    said, policies, _ = scheduling(program, plan)
    (end,) = said.ends
    if policy == "DEADLINE" and end.status == "failed":
        assert "SCHED_DEADLINE" in end.reason  # a cpuset or a container: reported, not ignored
        pytest.skip(end.reason)
    assert end.status == "ok"
    with timing():  # checked while they slept
        assert policies
    assert policies == {expected}


def test_threads_run_on_the_requested_core(program: Path, run: Run) -> None:
    cores = run("end\n").hello.cores
    plan = f"{BENCH} samples=25 period_us=20000 threads=3 core={cores - 1} context=cheap\nend\n"
    said, _, cpus = scheduling(program, plan)
    with timing():  # checked while they slept
        assert cpus
    assert len(cpus) == 1
    assert said.begins[0].lanes[:3] == ["thread0", "thread1", "thread2"]
    for number in range(3):
        assert set(map(int, beside(said, f"thread{number}:cpu"))) == cpus


def test_a_deadline_thread_that_is_bound_is_refused_with_the_remedy(run: Run) -> None:
    if run("end\n").hello.cores == 1:
        pytest.skip("one CPU: nothing is bound")
    (end,) = run(f"{BENCH} samples=5 policy=deadline\nend\n").ends
    assert end.status == "failed"
    assert "threads=N" in end.reason


@pytest.mark.parametrize(
    "params", ["core=0", "threads=2 core=200", "threads=1 policy=deadline period_us=5"]
)
def test_impossible_parameters_are_refused_with_a_reason(run: Run, params: str) -> None:
    (end,) = run(f"{BENCH} samples=5 {params}\nend\n").ends
    assert end.status == "failed" and end.reason


def test_each_thread_has_its_own_period(run: Run) -> None:
    begun = time.monotonic()
    said = measured(run, "threads=2 period_us=1000 distance_us=19000", samples=50)
    assert time.monotonic() - begun > 50 * 0.020  # the second thread's
    assert [lane.taken + lane.missed for lane in said.ends[0].lanes] == [50, 50]


def test_a_phase_does_not_count_as_latency(run: Run) -> None:
    """Each thread starts 100 ms after the previous one; this does not make any of them late."""
    begun = time.monotonic()
    said = measured(run, "threads=3 phase_us=100000", samples=20)
    assert time.monotonic() - begun > 0.2
    with timing():
        assert all(np.median(said.values(1, lane)) < 50_000_000 for lane in range(3))


def test_the_context_counts_events_since_the_previous_sample(run: Run) -> None:
    said = measured(run, "threads=2 core=0 context=cheap")
    for number in range(2):
        name = f"thread{number}"
        switches = beside(said, f"{name}:voluntary-switches")
        assert len(switches) == len(said.values(1, number))
        assert np.median(switches) == 1  # it sleeps once per cycle
        assert not beside(said, f"{name}:migrations").any()  # it is bound


def test_the_full_context_counts_interrupts_of_the_cpu(run: Run) -> None:
    said = measured(run, "threads=1 core=0 context=full")
    assert beside(said, "thread0:interrupts").sum() > 0
    assert len(beside(said, "thread0:soft-interrupts")) == len(beside(said, "thread0:steal"))


def test_without_context_only_the_cycle_accompanies_a_sample(run: Run) -> None:
    assert measured(run, "threads=1").begins[0].lanes == ["thread0", "thread0:cycle"]


def test_a_sample_above_the_limit_ends_the_record_and_is_named(run: Run) -> None:
    said = run(f"{BENCH} samples=100000 threads=2 stop_above_us=1 trace=0\nend\n")
    (end,) = said.ends
    assert end.status == "ok"
    assert end.reason.startswith("ended by its limit of 1 us: thread")
    lanes = said.begins[0].lanes
    where, cycle = end.reason.split(": ")[1].split(" took ")[0], int(end.reason.split()[-1])
    at = int(np.flatnonzero(beside(said, f"{where}:cycle") == cycle)[0])
    assert said.values(1, lanes.index(where))[at] > 1000
    counts = [lane.taken + lane.missed for lane in end.lanes]
    # The rest was never requested; by a thread that had not run yet, nothing.
    series = [name for name in lanes if ":" not in name]
    assert max(counts) < 100000 and counts[series.index(where)] > 0
    assert said.done


def test_without_tracefs_a_stop_reports_that_no_trace_is_kept(run: Run) -> None:
    plan = f"{BENCH} samples=1000 threads=1 stop_above_us=1\nend\n"
    said = run(plan, env={"KADENZ_TRACE": "/nonexistent"})
    assert said.ends[0].reason.endswith("; no trace was kept")
    assert "tracefs" in said.notes


def test_a_stop_marks_the_trace_and_ends_it(run: Run, tmp_path: Path) -> None:
    for name in ("trace_marker", "tracing_on"):
        (tmp_path / name).write_text("")
    plan = f"{BENCH} samples=1000 threads=1 stop_above_us=1\nend\n"
    said = run(plan, env={"KADENZ_TRACE": str(tmp_path)})
    assert said.ends[0].reason.endswith("; the kernel's trace was stopped there")
    assert (tmp_path / "tracing_on").read_text() == "0"
    words = (tmp_path / "trace_marker").read_text().split()
    told = dict(word.split("=") for word in words if "=" in word)
    at = int(np.flatnonzero(beside(said, "thread0:cycle") == int(told["cycle"]))[0])
    assert said.values(1)[at] == int(told["latency_ns"]) > 1000
    assert told["lane"] == "thread0" and int(told["due_ns"]) > 0 and int(told["pid"]) > 0
