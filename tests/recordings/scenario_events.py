# SPDX-License-Identifier: Apache-2.0
"""The events of a scenario with their fields as numbers, for writers of recordings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kadenz.ftrace import LOST, Event, events_of
from tests.watching.scenario import Scenario

_SWITCH = re.compile(
    r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> "
    r"next_comm=(.*) next_pid=(\d+) next_prio=(-?\d+)"
)
_WAKE = re.compile(r"comm=(.*) pid=(\d+) prio=(-?\d+) target_cpu=(\d+)")
_MIGRATE = re.compile(r"comm=(.*) pid=(\d+) prio=(-?\d+) orig_cpu=(\d+) dest_cpu=(\d+)")
_EXIT = re.compile(r"comm=(.*) pid=(\d+) prio=(-?\d+)")
_IRQ = re.compile(r"irq=(\d+)(?: name=(.*)| ret=.*)")
_VECTOR = re.compile(r"vec(?:tor)?=(\d+)")
_OP = re.compile(r"op: 0x([0-9a-f]+)")
STATES = {"R": 0, "R+": 0x100, "S": 1, "D": 2, "X": 0x10, "Z": 0x20}


@dataclass(frozen=True)
class Line:
    """An event. `fields` in the order of the kernel's; `lost`: events lost before it."""

    at: int  # ns
    cpu: int
    pid: int
    task: str
    name: str  # a call: "sys_enter_futex"
    fields: tuple[int | str, ...]
    lost: int = 0


def lines_of(scenario: Scenario) -> list[Line]:
    """The events in the order of their times."""
    texts = [text for _, text in sorted(scenario.lines, key=lambda entry: entry[0])]
    lines, lost = [], {}
    for event in events_of(texts):
        if event.name == LOST:
            lost[event.cpu] = int(event.text or 0)
        else:
            lines.append(_line(event, lost.pop(event.cpu, 0)))
    return lines


def _line(event: Event, lost: int) -> Line:
    name, text = event.name, event.text
    fields: tuple[int | str, ...] = ()
    if name.startswith("sys_"):
        way = "exit" if text.startswith("->") else "enter"
        name = f"sys_{way}_{name[4:]}"
        op = _OP.search(text)
        fields = (int(op[1], 16) if op else 0,)
    elif name == "sched_switch":
        fields = _values(_SWITCH, text)
        fields = (*fields[:3], STATES[str(fields[3])], *fields[4:])
    else:
        for pattern in (_WAKE, _MIGRATE, _EXIT, _IRQ, _VECTOR):
            if pattern.search(text):
                fields = _values(pattern, text)
                break
    at = round(event.time * 1e9)
    return Line(at, event.cpu, event.pid, event.task, name, fields, lost)


def _values(pattern: re.Pattern[str], text: str) -> tuple[int | str, ...]:
    match = pattern.search(text)
    assert match is not None, text
    groups = (group for group in match.groups() if group is not None)
    return tuple(int(group) if re.fullmatch(r"-?\d+", group) else group for group in groups)
