# SPDX-License-Identifier: Apache-2.0
"""Traces that were damaged are analysed or refused, and nothing is invented."""

from __future__ import annotations

import random

from kadenz.ftrace import events_of
from kadenz.watching.causes import causes_of, parts_of
from kadenz.watching.events import of_trace
from kadenz.watching.judging import judge
from kadenz.watching.selection import Selection
from kadenz.watching.threads import Observer
from tests.watching.scenario import periodic
from tests.watching.test_jobs import interrupted, lock_held, migrated, preempted

DISTURBED = {3: preempted, 9: lock_held, 14: interrupted, 20: migrated}


def lines() -> list[str]:
    scenario = periodic(30, DISTURBED)
    return [line for _, line in sorted(scenario.lines, key=lambda entry: entry[0])]


def analysed(trace: list[str]) -> None:
    """The parts of every job add up to it, whatever the trace says."""
    selection = Selection((), ("*",), everything=True)
    observed = Observer(selection.keeps).observe(of_trace(events_of(trace)))
    for each in judge(observed, selection):
        for job in each.thread.jobs:
            assert job.release <= job.start <= job.end
            assert sum(part.spent for part in parts_of(job)) == job.response
        causes_of(each.thread.jobs, 1.0)


def test_missing_repeated_and_exchanged_lines() -> None:
    whole, chance = lines(), random.Random(11)
    for _ in range(60):
        trace = list(whole)
        for _ in range(chance.randrange(1, 20)):
            at, other = chance.randrange(len(trace)), chance.randrange(len(trace))
            match chance.randrange(3):
                case 0:
                    del trace[at]
                case 1:
                    trace.insert(other, trace[at])
                case 2:
                    trace[at], trace[other] = trace[other], trace[at]
        analysed(trace)


def test_changed_characters() -> None:
    whole, chance = lines(), random.Random(12)
    for _ in range(60):
        trace = list(whole)
        for _ in range(chance.randrange(1, 30)):
            at = chance.randrange(len(trace))
            place = chance.randrange(len(trace[at]))
            trace[at] = trace[at][:place] + chr(chance.randrange(32, 127)) + trace[at][place + 1 :]
        analysed(trace)


def test_a_trace_that_is_cut_in_half() -> None:
    whole = lines()
    for cut in range(0, len(whole), 7):
        analysed(whole[:cut])
        analysed(whole[cut:])


def test_numbers_without_end_are_no_event() -> None:
    times = ("999999999999.999999999", "0.000000000", "5000000000.0")
    text = "sched_waking: comm=ctl pid=9999999999 prio=-999 target_cpu=999999"
    analysed([f"ctl-9999999999 [999999] {time}: {text}" for time in times] * 20)
