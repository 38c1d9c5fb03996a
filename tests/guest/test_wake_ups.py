# SPDX-License-Identifier: Apache-2.0
"""cyclic/wakeup-latency in a guest: timers, policies, periods, context, the limit and its trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.kept_traces import kept_traces
from tests.decoded import Decoded, plan
from tests.guest.scripts import Answer, Script

pytestmark = pytest.mark.counted

BENCH = "cyclic/wakeup-latency"
TIMERS = ("sleep", "timerfd", "posix-timer")
POLICIES = {"fifo": 1, "round-robin": 2, "deadline": 6, "fair": 0}  # plan: sched.h
SHORT = 1000  # samples at a period that the guest cannot keep
TRACING = "/sys/kernel/tracing"
INSTANCE = f"{TRACING}/instances/test"
REFUSED = (
    "core=0",
    "threads=2 core=200",
    "threads=1 policy=deadline period_us=5",
)


def points(*params: str, samples: int = 200) -> str:
    return plan(*(f"{BENCH} samples={samples} {of_point}" for of_point in params))


def timed(*params: str) -> Script:
    return Script(points(*params, samples=50))


SCRIPTS = {
    "missed": Script(
        points(*(f"threads=1 period_us=10 timer={timer}" for timer in TIMERS), samples=SHORT)
    ),
    "kept": Script(points(*(f"period_us=500 timer={timer}" for timer in TIMERS))),
    **{
        policy: Script(
            points(f"period_us=20000 threads=2 policy={policy}", samples=25),
            during=("sleep 300", "look"),
        )
        for policy in POLICIES
    },
    "refused": Script(points(*REFUSED, samples=5)),
    "one period": timed("threads=2 period_us=1000"),
    "two periods": timed("threads=2 period_us=1000 distance_us=19000"),
    "one phase": timed("threads=3"),
    "three phases": timed("threads=3 phase_us=100000"),
    "context": Script(
        points("threads=2 core=0 context=cheap", "threads=1 core=0 context=full", "threads=1")
    ),
    "limit": Script(points("threads=2 stop_above_us=1 trace=0", samples=100000)),
    "no trace": Script(
        points("threads=1 stop_above_us=1", samples=1000),
        before=("variable KADENZ_TRACE=/nonexistent",),
    ),
    "trace": Script(
        points("threads=1 stop_above_us=1", samples=1000),
        before=(
            f"mount tracefs {TRACING}",
            f"mkdir {INSTANCE}",
            f"write {INSTANCE}/trace_clock mono",
            *(f"write {INSTANCE}/events/{e}/enable 1" for e in ("sched", "irq", "irq_vectors")),
            f"write {INSTANCE}/tracing_on 1",
            f"cat {INSTANCE}/tracing_on",
            f"variable KADENZ_TRACE={INSTANCE}",
        ),
        after=(f"cat {INSTANCE}/trace", f"cat {INSTANCE}/tracing_on"),
    ),
}


@pytest.fixture
def answers(booted: dict[str, dict[str, Answer]]) -> dict[str, Answer]:
    return booted["wake-ups"]


def measured(answers: dict[str, Answer], script: str) -> Decoded:
    """The frames of a script whose records all have to be measured and proved."""
    said = answers[script].decoded
    assert answers[script].code == 0 and said.done
    assert said.ends
    for end in said.ends:
        assert (end.status, end.reason, end.proof.failed) == ("ok", "", 0), said.notes
    return said


@pytest.mark.parametrize("timer", TIMERS)
def test_missed_periods_are_counted_and_leave_gaps_in_the_cycle_numbers(
    answers: dict[str, Answer], timer: str
) -> None:
    """No way of waiting keeps a period of 5,000 instructions."""
    said, record = measured(answers, "missed"), TIMERS.index(timer)
    (lane,) = said.end(record).lanes
    cycle = said.lane(record, "thread0:cycle").astype(np.int64)
    assert lane.taken + lane.missed == SHORT
    assert lane.taken > 0 and lane.missed > 0 and lane.overrun <= lane.taken
    assert len(said.values(record)) == len(cycle) == lane.taken
    assert np.all(np.diff(cycle) >= 1)
    inside = int((np.diff(cycle) - 1).sum())
    assert inside + int(cycle[0]) + (SHORT - 1) - int(cycle[-1]) == lane.missed


@pytest.mark.parametrize("timer", TIMERS)
def test_a_wake_up_is_never_early_and_none_is_missed_that_can_be_kept(
    answers: dict[str, Answer], timer: str
) -> None:
    said, record = measured(answers, "kept"), TIMERS.index(timer)
    end = said.end(record)
    assert [(lane.taken, lane.missed, lane.overrun) for lane in end.lanes] == [(200, 0, 0)]
    assert end.proof.checked >= 200
    assert said.values(record).max() < 500_000  # ns; an early one would have wrapped
    assert said.lane(record, ":cycle").tolist() == list(range(200))


@pytest.mark.parametrize("policy", POLICIES)
def test_threads_run_under_the_requested_policy(answers: dict[str, Answer], policy: str) -> None:
    said = measured(answers, policy)
    (look,) = answers[policy].looks  # while they sleep
    threads = [thread for thread in look if thread.name == "cyclic"]
    assert [thread.policy for thread in threads] == [POLICIES[policy]] * 2
    assert [lane.taken + lane.missed for lane in said.ends[0].lanes] == [25, 25]


@pytest.mark.parametrize("params", REFUSED)
def test_impossible_parameters_are_refused_with_a_reason(
    answers: dict[str, Answer], params: str
) -> None:
    end = answers["refused"].decoded.end(REFUSED.index(params))
    assert end.status == "failed" and end.reason
    assert all(lane.taken == 0 for lane in end.lanes)


def test_each_thread_has_its_own_period(answers: dict[str, Answer]) -> None:
    said = measured(answers, "two periods")
    assert [lane.taken for lane in said.ends[0].lanes] == [50, 50]
    longer = answers["two periods"].took_ns - answers["one period"].took_ns
    assert longer == pytest.approx(50 * 19_000_000, rel=0.01)  # the second thread's


def test_a_phase_does_not_count_as_latency(answers: dict[str, Answer]) -> None:
    """Each thread starts 100 ms after the previous one; this does not make any of them late."""
    said = measured(answers, "three phases")
    longer = answers["three phases"].took_ns - answers["one phase"].took_ns
    assert longer == pytest.approx(200_000_000, rel=0.01)
    assert all(
        said.values(0, said.begins[0].lanes.index(f"thread{n}")).max() < 100_000 for n in range(3)
    )


def test_the_context_counts_events_since_the_previous_sample(answers: dict[str, Answer]) -> None:
    said = measured(answers, "context")
    for name in ("thread0", "thread1"):
        switches = said.lane(0, f"{name}:voluntary-switches")
        assert len(switches) == 200
        assert set(switches[1:].tolist()) == {1}  # it sleeps once per cycle
        assert not said.lane(0, f"{name}:migrations").any()  # it is bound
        assert not said.lane(0, f"{name}:cpu").any()


def test_the_full_context_counts_interrupts_of_the_cpu(answers: dict[str, Answer]) -> None:
    said = measured(answers, "context")
    assert said.lane(1, "thread0:interrupts").min() >= 1  # its timer's
    assert len(said.lane(1, "thread0:soft-interrupts")) == len(said.lane(1, "thread0:steal")) == 200


def test_without_context_only_the_cycle_accompanies_a_sample(answers: dict[str, Answer]) -> None:
    assert measured(answers, "context").begins[2].lanes == ["thread0", "thread0:cycle"]


def test_a_sample_above_the_limit_ends_the_record_and_is_named(
    answers: dict[str, Answer],
) -> None:
    said = answers["limit"].decoded
    (end,) = said.ends
    assert said.done and end.status == "ok"
    assert end.reason.startswith("ended by its limit of 1 us: thread")
    where, cycle = end.reason.split(": ")[1].split(" took ")[0], int(end.reason.split()[-1])
    at = int(np.flatnonzero(said.lane(0, f"{where}:cycle") == cycle)[0])
    assert said.lane(0, where)[at] > 1000
    # Every wake-up of the guest takes longer: the rest was never requested.
    assert cycle == 0
    assert sorted(lane.taken + lane.missed for lane in end.lanes) in ([0, 1], [1, 1])


def test_without_tracefs_a_stop_reports_that_no_trace_is_kept(
    answers: dict[str, Answer],
) -> None:
    said = answers["no trace"].decoded
    assert said.ends[0].reason.endswith("; no trace was kept")
    assert "tracefs" in said.notes


def test_a_stop_marks_the_kernels_trace_and_ends_it(answers: dict[str, Answer]) -> None:
    answer = answers["trace"]
    said = answer.decoded
    assert said.ends[0].reason.endswith("; the kernel's trace was stopped there")
    (mark,) = [x for x in answer.file(f"{INSTANCE}/trace").splitlines() if "kadenz: above" in x]
    told = dict(word.split("=") for word in mark.split() if "=" in word)
    at = int(np.flatnonzero(said.lane(0, "thread0:cycle") == int(told["cycle"]))[0])
    assert said.values(0)[at] == int(told["latency_ns"]) > 1000
    assert told["lane"] == "thread0" and int(told["due_ns"]) > 0 and int(told["pid"]) > 0
    states = answer.text.split(f"file {INSTANCE}/tracing_on 2\n")
    assert [state[:2] for state in states[1:]] == ["1\n", "0\n"]


def test_the_kernels_trace_shows_the_late_thread(
    answers: dict[str, Answer], tmp_path: Path
) -> None:
    (tmp_path / "trace-00000.txt").write_text(answers["trace"].file(f"{INSTANCE}/trace"))
    (kept,) = kept_traces(tmp_path, None)
    assert kept.lane == "thread0" and kept.cycle == 0
    assert kept.blame is not None and kept.blame.thread == "cyclic"
