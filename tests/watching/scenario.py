# SPDX-License-Identifier: Apache-2.0
"""Traces written event by event, in the words of the kernel; times in µs from 1,000 s."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kadenz.ftrace import events_of
from kadenz.watching.events import of_trace
from kadenz.watching.jobs import Watched, watched
from kadenz.watching.threads import Observed, Observer, Thread

PERIOD = 1000  # µs
CTL, HOG, LOW = 77, 88, 99
NAMES = {0: "swapper", CTL: "ctl loop", HOG: "hog", LOW: "low", 9: "migration/0"}
PRIORITY = {0: 120, CTL: 19, HOG: 9, LOW: 120, 9: 0}


class Scenario:
    """Lines of `trace-cmd report`, or of a tracefs with nanoseconds."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, str]] = []

    def add(self, at: float, cpu: int, pid: int, text: str) -> None:
        line = f"{NAMES[pid]:>16}-{pid}  [{cpu:03d}] {1000 + at * 1e-6:.9f}: {text}"
        self.lines.append((at, line))

    def lose(self, at: float, cpu: int, count: int) -> None:
        self.lines.append((at - 1e-4, f"CPU:{cpu} [{count} EVENTS DROPPED]"))

    def switch(self, at: float, cpu: int, before: int, after: int, state: str = "S") -> None:
        text = (
            f"sched_switch: prev_comm={NAMES[before]} prev_pid={before} "
            f"prev_prio={PRIORITY[before]} prev_state={state} ==> next_comm={NAMES[after]} "
            f"next_pid={after} next_prio={PRIORITY[after]}"
        )
        self.add(at, cpu, before, text)

    def wake(self, at: float, cpu: int, by: int, pid: int, target: int | None = None) -> None:
        for name in ("sched_waking", "sched_wakeup"):
            self.add(
                at,
                cpu,
                by,
                f"{name}: comm={NAMES[pid]} pid={pid} prio={PRIORITY[pid]} "
                f"target_cpu={cpu if target is None else target:03d}",
            )

    def timer(self, begin: float, end: float, cpu: int, on: int) -> None:
        self.add(begin, cpu, on, "local_timer_entry: vector=236")
        self.add(end, cpu, on, "local_timer_exit: vector=236")

    def call(self, at: float, cpu: int, pid: int, text: str) -> None:
        self.add(at, cpu, pid, text)

    def job(self, at: float, work: float = 100.0, calls: bool = True, cpu: int = 0) -> None:
        """A job of ctl: timer at `at`, waking 2 µs later, start 5 µs, end 5 + work."""
        self.release(at, calls, cpu)
        self.finish(at + 5 + work, calls, cpu)

    def release(self, at: float, calls: bool = True, cpu: int = 0) -> None:
        self.timer(at, at + 3, cpu, 0)
        self.wake(at + 2, cpu, 0, CTL)
        self.switch(at + 5, cpu, 0, CTL, "R")
        if calls:
            self.call(at + 5, cpu, CTL, "sys_clock_nanosleep -> 0x0")

    def finish(self, at: float, calls: bool = True, cpu: int = 0) -> None:
        if calls:
            self.call(at, cpu, CTL, "sys_clock_nanosleep(which_clock: 0x1, flags: 0x1)")
        self.switch(at, cpu, CTL, 0)

    def observed(self, kept: Callable[[Thread], bool] = lambda _: True) -> Observed:
        lines = [line for _, line in sorted(self.lines, key=lambda entry: entry[0])]
        return Observer(kept).observe(of_trace(events_of(lines)))

    def watched(self, pid: int = CTL, period_ns: float | None = None) -> Watched:
        observed = self.observed()
        return watched(observed.threads[pid], observed, period_ns)


Disturbance = Callable[[Scenario, float], None]


def periodic(count: int, disturb: Mapping[int, Disturbance], *, calls: bool = True) -> Scenario:
    """`count` cycles of ctl, of 100 µs each; those in `disturb` are written by their function."""
    scenario = Scenario()
    scenario.switch(-10.0, 0, CTL, 0)
    if calls:
        scenario.lines.pop()
        scenario.finish(-10.0)
    for cycle in range(count):
        at = float(cycle * PERIOD)
        if cycle in disturb:
            disturb[cycle](scenario, at)
        else:
            scenario.job(at, calls=calls)
    return scenario
