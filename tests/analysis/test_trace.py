# SPDX-License-Identifier: Apache-2.0
"""A kernel's trace of one wake-up shows who held the processor.

`traces/preempted.txt` was recorded on Linux 6.18 (tracefs instance, clock mono): a SCHED_FIFO 98
thread "planted hog" kept CPU 1 for 3.9 ms over the wake-up of "cyclic", SCHED_FIFO 97. Names of
other programs were replaced.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.analysis.trace import blame, marks
from kadenz.ftrace import parse_trace

RECORDED = (Path(__file__).parent / "traces" / "preempted.txt").read_text()
LATENCY = 3.424206e-3  # as the thread itself measured it

HEAD = "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
SWITCH = (
    "sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state=S ==> "
    "next_comm={} next_pid={} next_prio=2"
)


def line(task: str, cpu: int, micros: float, text: str) -> str:
    return f"{task:>16} [{cpu:03d}] d..2.  {100 + micros * 1e-6:12.6f}: {text}\n"


def to_cyclic(micros: float, task: str = "<idle>-0", prev: str = "swapper/1", pid: int = 0) -> str:
    return line(task, 1, micros, SWITCH.format(prev, pid, "cyclic", 77))


def test_the_thread_that_held_the_processor_in_a_recorded_trace_is_named() -> None:
    blamed = blame(parse_trace(RECORDED), "cyclic", latency_s=LATENCY)
    assert blamed is not None and blamed.culprit is not None
    assert (blamed.cpu, blamed.pid) == (1, 13387)
    assert (blamed.culprit.kind, blamed.culprit.name) == ("thread", "planted hog")
    assert blamed.culprit.seconds == pytest.approx(LATENCY, rel=0.01)
    assert "went to the thread planted hog (pid 13428)" in blamed.sentence


def test_every_line_of_the_recorded_trace_is_understood() -> None:
    events = parse_trace(RECORDED)
    assert len(events) == sum(not row.startswith("#") for row in RECORDED.splitlines())
    assert {event.cpu for event in events} == {0, 1}
    assert any(event.task == "planted hog" for event in events)  # a name with a blank in it


def test_an_interrupt_handler_is_named_and_not_the_interrupted_thread() -> None:
    text = HEAD + (
        line("worker-9", 1, 0, SWITCH.format("swapper/1", 0, "worker", 9))
        + line("worker-9", 1, 50, "irq_handler_entry: irq=24 name=virtio0-input.0")
        + line("worker-9", 1, 450, "irq_handler_exit: irq=24 ret=handled")
        + line("worker-9", 1, 452, "sched_waking: comm=cyclic pid=77 prio=2 target_cpu=001")
        + line("worker-9", 1, 453, "sched_wakeup: comm=cyclic pid=77 prio=2 target_cpu=001")
        + to_cyclic(460, "worker-9", "worker", 9)
    )
    blamed = blame(parse_trace(text), 77, latency_s=410e-6)
    assert blamed is not None and blamed.culprit is not None
    assert blamed.culprit.description == "interrupt 24 (virtio0-input.0)"
    assert blamed.culprit.seconds == pytest.approx(400e-6, abs=1e-6)
    assert blamed.woken is not None and blamed.woken - blamed.due == pytest.approx(402e-6, abs=1e-6)


def test_a_soft_interrupt_is_named_even_under_a_short_interrupt() -> None:
    text = HEAD + (
        line("worker-9", 1, 0, "softirq_entry: vec=3 [action=NET_RX]")
        + line("worker-9", 1, 100, "irq_handler_entry: irq=5 name=eth0")
        + line("worker-9", 1, 110, "irq_handler_exit: irq=5 ret=handled")
        + line("worker-9", 1, 300, "softirq_exit: vec=3 [action=NET_RX]")
        + to_cyclic(310, "worker-9", "worker", 9)
    )
    blamed = blame(parse_trace(text), "cyclic", latency_s=310e-6)
    assert blamed is not None
    assert [
        (occupant.description, round(occupant.seconds * 1e6)) for occupant in blamed.occupants
    ] == [
        ("soft interrupt 3 (NET_RX)", 290),
        ("interrupt 5 (eth0)", 10),
        ("the thread worker (pid 9)", 10),
    ]


def test_a_vector_of_the_processor_is_an_interrupt() -> None:
    text = HEAD + (
        line("worker-9", 1, 0, "local_timer_entry: vector=236")
        + line("worker-9", 1, 200, "local_timer_exit: vector=236")
        + to_cyclic(205, "worker-9", "worker", 9)
    )
    blamed = blame(parse_trace(text), "cyclic", latency_s=205e-6)
    assert blamed is not None and blamed.culprit is not None
    assert blamed.culprit.description == "interrupt 236 (local timer)"


def test_an_idle_processor_is_reported_as_such() -> None:
    text = HEAD + (
        line("<idle>-0", 1, 0, "softirq_entry: vec=1 [action=TIMER]")
        + line("<idle>-0", 1, 1, "softirq_exit: vec=1 [action=TIMER]")
        + line("<idle>-0", 1, 900, "sched_waking: comm=cyclic pid=77 prio=2 target_cpu=001")
        + to_cyclic(905)
    )
    blamed = blame(parse_trace(text), "cyclic", latency_s=900e-6)
    assert blamed is not None and blamed.culprit is not None
    assert blamed.culprit.kind == "idle"
    assert "it was made ready 895 µs after it was due" in blamed.sentence


def test_events_of_other_processors_are_not_counted() -> None:
    text = HEAD + (
        line("<idle>-0", 1, 0, "softirq_exit: vec=1 [action=TIMER]")
        + line("hog-5", 0, 10, "irq_handler_entry: irq=9 name=acpi")
        + line("hog-5", 0, 90, "irq_handler_exit: irq=9 ret=handled")
        + to_cyclic(100)
    )
    blamed = blame(parse_trace(text), "cyclic", latency_s=100e-6)
    assert blamed is not None
    assert [occupant.kind for occupant in blamed.occupants] == ["idle"]


def test_time_before_the_trace_begins_is_unknown() -> None:
    text = HEAD + to_cyclic(100, "worker-9", "worker", 9)
    blamed = blame(parse_trace(text), "cyclic", latency_s=100e-6)
    assert blamed is not None and blamed.culprit is not None
    assert blamed.culprit.kind == "unknown"


def test_a_trace_without_the_thread_blames_nobody() -> None:
    assert blame(parse_trace(HEAD + to_cyclic(100)), "another") is None
    assert blame([], "cyclic") is None


def test_a_start_before_the_thread_was_due_is_that_of_an_earlier_cycle() -> None:
    """The trace lacks the switch to the thread: it must not say that the thread ran at once."""
    events = parse_trace(HEAD + to_cyclic(100))
    assert blame(events, "cyclic", due_s=100 + 900e-6, until_s=100 + 2e-3) is None
    assert blame(events, "cyclic", due_s=100 + 100.9e-6, until_s=100 + 2e-3) is not None


@pytest.mark.parametrize(
    "row",
    [
        "  cyclic-77      (     77) [001] d..2.   100.000100: print: hello",  # option record-tgid
        "  cyclic-77      [001]   100.000100: tracing_mark_write: hello",  # without flags
        "  cyclic-77      [001] .....   100.000100: tracing_mark_write: hello",
    ],
)
def test_other_formats_of_a_line_are_read(row: str) -> None:
    (event,) = marks(parse_trace(row))
    assert (event.task, event.pid, event.cpu, event.text) == ("cyclic", 77, 1, "hello")


def test_a_wake_up_of_an_earlier_period_is_ignored() -> None:
    text = HEAD + (
        line("<idle>-0", 1, 0, "sched_waking: comm=cyclic pid=77 prio=2 target_cpu=001")
        + to_cyclic(5)
        + line("cyclic-77", 1, 20, SWITCH.format("cyclic", 77, "swapper/1", 0))
        + to_cyclic(9000)
    )
    blamed = blame(parse_trace(text), "cyclic", latency_s=100e-6)
    assert blamed is not None
    assert blamed.woken is None
    assert "does not show when" in blamed.sentence
