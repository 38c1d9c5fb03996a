# SPDX-License-Identifier: Apache-2.0
"""A recording that lost events: nothing spans the gap, and it is shown and counted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kadenz.analysis.linux_timeline import recorded_timeline
from kadenz.analysis.trace import blame
from kadenz.config.timeline import Slice, Timeline
from kadenz.ftrace import LOST, events_of, parse_trace
from kadenz.report.svg.timeline import timeline_picture
from kadenz.report.timelines import chrome, shares, vcd
from tests.forked import kadenz

# As the kernel and trace-cmd print a gap; either may not know the number.
GAPS = {
    "CPU:1 [LOST 88 EVENTS]": 88,
    "CPU:1 [LOST EVENTS]": 0,
    "CPU:1 [88 EVENTS DROPPED]": 88,
    "CPU:1 [EVENTS DROPPED]": 0,
}
SWITCH = (
    "sched_switch: prev_comm={} prev_pid={} prev_prio=1 prev_state=S ==> "
    "next_comm={} next_pid={} next_prio=1"
)


def line(task: str, pid: int, cpu: int, us: int, text: str) -> str:
    return f"{task:>16}-{pid:<7}[{cpu:03d}] {1 + us * 1e-6:.9f}: {text}"


def switch(us: int, before: tuple[str, int], after: tuple[str, int], cpu: int = 1) -> str:
    return line(*before, cpu, us, SWITCH.format(*before, *after))


LOOP, IDLE, OTHER = ("loop", 500), ("swapper/1", 0), ("other", 501)
START = [
    line(*LOOP, 1, 0, "sched_process_exec: filename=/bin/loop pid=500 old_pid=500"),
    switch(10, LOOP, IDLE),
    switch(100, IDLE, LOOP),
]
# Behind the gap the thread runs already; when it began to is among the lost events.
END = [
    line(*LOOP, 1, 50_110, "sys_write(fd: 1)"),
    line(*LOOP, 1, 50_114, "sys_write -> 0x1"),
    switch(50_120, LOOP, IDLE),
    switch(50_200, IDLE, LOOP),
    switch(50_210, LOOP, IDLE),
]


def timeline(*lines: str) -> Timeline:
    recording = recorded_timeline(events_of(lines), "lost.dat")
    assert recording is not None
    return recording


def bars(recording: Timeline, kind: str, name: str) -> list[tuple[str, int, int]]:
    """Names, and begins and ends in us since the program began."""
    (track,) = [row for row in recording.tracks if (row.kind, row.name) == (kind, name)]
    return [(s.name, (s.begin - 10**9) // 1000, (s.end - 10**9) // 1000) for s in track.slices]


@pytest.mark.parametrize("gap", GAPS)
def test_no_execution_spans_a_gap(gap: str) -> None:
    """It was one of 50 ms."""
    read = line(*LOOP, 1, 104, "sys_read(fd: 0)")
    recording = timeline(*START, read, gap, *END)
    threads = [(begin, end) for _, begin, end in bars(recording, "thread", "loop")]
    assert threads == [(0, 10), (100, 104), (50_110, 50_120), (50_200, 50_210)]
    assert bars(recording, "call", "loop") == [("write", 50_110, 50_114)]  # read: 104 to 104
    number = f"{GAPS[gap]} " if GAPS[gap] else ""
    assert bars(recording, "lost", "CPU 1") == [(f"{number}events lost", 104, 50_110)]
    (warning,) = recording.warnings
    assert warning.startswith(f"CPU 1 lost {number}events in 1 gap of 50,006,000 ns")


def test_a_waiting_call_ends_at_the_last_event_before_the_gap() -> None:
    """It may have returned on the processor whose events were lost."""
    call = line(*LOOP, 1, 104, "sys_read(fd: 0)")
    recording = timeline(*START, call, switch(110, LOOP, IDLE), next(iter(GAPS)), *END)
    assert bars(recording, "call", "loop")[0] == ("read", 104, 110)


def test_a_gap_on_another_processor_ends_nothing_here() -> None:
    start = [switch(90, IDLE, OTHER, cpu=0), *START[3:]]
    gap = ["CPU:0 [LOST 7 EVENTS]", line("<idle>", 0, 0, 40_000, "irq_handler_exit: irq=1 ret=x")]
    recording = timeline(*START[:3], *start, *gap, *END[2:])
    threads = [(begin, end) for _, begin, end in bars(recording, "thread", "loop")]
    assert (100, 50_120) in threads
    assert bars(recording, "lost", "CPU 0") == [("7 events lost", 90, 40_000)]


def test_a_handler_behind_a_gap_is_not_the_one_before_it() -> None:
    entry = line(*LOOP, 1, 102, "irq_handler_entry: irq=24 name=nic")
    leave = line(*LOOP, 1, 50_105, "irq_handler_exit: irq=24 ret=handled")
    recording = timeline(*START, entry, next(iter(GAPS)), leave, *END)
    assert not [row for row in recording.tracks if row.kind == "exception"]


def test_shares_are_of_the_time_that_is_known() -> None:
    recording = timeline(*START, next(iter(GAPS)), *END)
    (row,) = shares(recording).rows
    # 10 + 0 + 10 + 10 us of 50,210 without 50,010 us.
    assert [cell.text for cell in row] == ["loop", "thread", "3", "30,000", "15.0 %"]


def test_pictures_and_viewers_show_the_gap() -> None:
    recording = timeline(*START, next(iter(GAPS)), *END)
    assert '"88 events lost"' in chrome(recording)
    assert "$scope module lost $end" in vcd(recording)
    assert "CPU 1" in timeline_picture(recording, (recording.begin, recording.end), "name").svg


def test_a_recording_without_gaps_has_no_row_and_no_warning() -> None:
    recording = timeline(*START, *END)
    assert not recording.warnings and not [row for row in recording.tracks if row.kind == "lost"]
    assert Slice("loop", 10**9 + 100_000, 10**9 + 50_120_000) in recording.tracks[0].slices


# ---- who held the processor ---------------------------------------------------------------------


@pytest.mark.parametrize("gap", GAPS)
def test_a_gap_is_nobodys_time(gap: str) -> None:
    """The thread before it was blamed for all of the gap."""
    text = "\n".join(
        [
            switch(0, IDLE, OTHER),
            gap,
            line("third", 9, 1, 3_000, "irq_handler_entry: irq=24 name=nic"),
            switch(3_500, ("third", 9), LOOP),
        ]
    )
    blamed = blame(parse_trace(text), 500, latency_s=3.4e-3)
    assert blamed is not None and blamed.culprit is not None
    assert blamed.culprit.kind == "lost"
    assert blamed.culprit.seconds == pytest.approx(2.9e-3, abs=1e-6)
    number = f"{GAPS[gap]} events" if GAPS[gap] else "events"
    assert f"2,900 µs went to unknown: the trace lost {number} there" in blamed.sentence
    assert "the trace does not show when it was made ready" in blamed.sentence


def test_a_wake_up_among_lost_events_is_not_shown_as_an_earlier_one() -> None:
    text = "\n".join(
        [switch(0, IDLE, LOOP), "CPU:1 [LOST 9 EVENTS]", line(*LOOP, 1, 5_000, "print: mark")]
    )
    assert blame(parse_trace(text), 500, latency_s=1e-3) is None


def test_lost_events_come_before_the_next_one_of_their_processor() -> None:
    lines = ["CPU:1 [LOST 9 EVENTS]", line(*LOOP, 0, 1, "print: a"), line(*LOOP, 1, 2, "print: b")]
    events = list(events_of(lines))
    assert [(event.name, event.cpu) for event in events] == [("print", 0), (LOST, 1), ("print", 1)]
    assert events[1].time == events[2].time


# ---- the command --------------------------------------------------------------------------------


def test_the_command_warns_with_the_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "trace-cmd"
    lines = "\n".join(["cpus=2", *START, "CPU:1 [1234 EVENTS DROPPED]", *END])
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "lost.dat").write_bytes(b"\x17\x08\x44tracing6\0" + bytes(100))
    answer = kadenz("trace", str(tmp_path / "lost.dat"))
    assert answer.returncode == 0
    assert "lost.dat: CPU 1 lost 1,234 events in 1 gap" in answer.stderr
