# SPDX-License-Identifier: Apache-2.0
"""Recordings of perf, `perf.data`, through `perf script`: the kernel's events as its own text.

perf-script(1): the fields `comm`, `tid`, `cpu`, `time`, `event`, `trace`, and lost events.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from kadenz.capture.tool_lines import lines_of
from kadenz.errors import UsageError
from kadenz.ftrace import LOST, Event
from kadenz.recordings.form import Format
from kadenz.regular_files import open_regular
from kadenz.watching.events import Happening, of_trace

# "  ctl loop    77 [001] 29017.939627581:  sched:sched_waking: comm=…"
_LINE = re.compile(
    r"^\s*+(?P<task>.{0,64}?)\s++(?P<pid>-?\d{1,10})\s++\[(?P<cpu>\d{1,6})\]\s++"
    r"(?P<time>\d{1,12}\.\d{1,12}):\s++(?P<event>\S{1,128}) ?(?P<text>.*)$"
)
_CALL = re.compile(r"syscalls:sys_(?P<way>enter|exit)_(?P<name>\w+)")
_LOST = "PERF_RECORD_LOST"
_MAGIC = b"PERFILE2"
_HEAD = struct.Struct("<8s6Q")  # size of the head, of an attribute; attributes, data: place, size
_RECORD = "perf record -a -k mono -e 'sched:*' -e 'irq:*' -e 'syscalls:sys_*_futex' PROGRAM"


def _events(file: Path) -> Iterator[Happening]:
    _check(file)
    command = ("perf", "script", "--force", "--ns", "--show-lost-events")
    fields = ("-F", "comm,tid,cpu,time,event,trace", "-i", str(file))
    lines = lines_of(file, (*command, *fields), "linux-perf", remedy=f"Record again: {_RECORD}")
    return of_trace(_typed(lines))


def _typed(lines: Iterator[str]) -> Iterator[Event]:
    """The lines as the kernel's trace has them: names without their system, calls as `sys_`."""
    lost: dict[int, int] = {}
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        cpu, time, pid = int(match["cpu"]), float(match["time"]), max(0, int(match["pid"]))
        name, text = match["event"].rstrip(":"), match["text"]
        if name == _LOST:
            count = re.search(r"lost (\d{1,18})", text)
            lost[cpu] = lost.get(cpu, 0) + (int(count[1]) if count else 0)
            continue
        if cpu in lost:
            yield Event(time, cpu, "", -1, LOST, str(lost.pop(cpu)))
        if call := _CALL.fullmatch(name):
            name = f"sys_{call['name']}"
            text = f"({text})" if call["way"] == "enter" else f"-> {text}"
        yield Event(time, cpu, match["task"], pid, name.rpartition(":")[2], text)


def _check(file: Path) -> None:
    """UsageError for a file that ends before its parts, or whose recording did not end."""
    with open_regular(file) as source:
        size = os.fstat(source.fileno()).st_size
        head = source.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return  # `perf record -o -`, or cut: perf says so
    _, head_bytes, _, attributes, attribute_bytes, data, data_bytes = _HEAD.unpack(head)
    if head_bytes < _HEAD.size:
        return  # a recording through a pipe has no table of its parts
    if not data_bytes:
        raise UsageError(
            f"{file}: its head has no size of the events: `perf record` did not end by itself",
            remedy="End perf record with Ctrl-C or SIGINT, not SIGKILL, and record again",
        )
    end = max(attributes + attribute_bytes, data + data_bytes)
    if end > size:
        raise UsageError(
            f"{file}: ends at byte {size:,}, before the end of its events at byte {end:,}",
            remedy="Record or copy it again",
        )


PERF = Format(
    tool="perf",
    recognises=lambda head: head.startswith(_MAGIC),
    read=_events,
    record=_RECORD,
)
