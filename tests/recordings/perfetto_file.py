# SPDX-License-Identifier: Apache-2.0
"""Writes a trace of Perfetto by the messages of its package, as its service writes it: a bundle of
each processor in turn, and switches and wake-ups in columns if asked for."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

from tests.recordings.scenario_events import Line

_SPAN_NS = 10_000_000  # of a bundle
_NUMBERS = {"clock_nanosleep": 230, "futex": 202}  # x86-64
_FIELDS = {
    "sched_switch": "prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio",
    "sched_waking": "comm pid prio target_cpu",
    "sched_wakeup": "comm pid prio target_cpu",
    "sched_migrate_task": "comm pid prio orig_cpu dest_cpu",
    "sched_process_exit": "comm pid prio",
    "irq_handler_entry": "irq name",
    "irq_handler_exit": "irq",
    "softirq_entry": "vec",
    "softirq_exit": "vec",
}


def perfetto_trace(
    lines: Sequence[Line], *, compact: bool = False, compressed: bool = False
) -> bytes:
    """A whole file of these events, as bytes."""
    trace = messages.Trace()
    trace.packet.add().system_info.utsname.machine = "x86_64"
    for _, span in groupby(lines, key=lambda line: line.at // _SPAN_NS):
        by_cpu = sorted(span, key=lambda line: line.cpu)
        for cpu, of_cpu in groupby(by_cpu, key=lambda line: line.cpu):
            _bundles(trace, cpu, list(of_cpu), compact)
    content: bytes = trace.SerializeToString()
    if not compressed:
        return content
    outer = messages.Trace()
    outer.packet.add().compressed_packets = zlib.compress(content)
    packed: bytes = outer.SerializeToString()
    return packed


def _bundles(trace: Any, cpu: int, lines: Sequence[Line], compact: bool) -> None:
    bundle: Any = None
    for line in lines:
        if bundle is None or line.lost:
            bundle = trace.packet.add().ftrace_events
            bundle.cpu, bundle.lost_events = cpu, bool(line.lost)
            last = {"switch": 0, "waking": 0}
        if compact and line.name in ("sched_switch", "sched_waking"):
            _column(bundle.compact_sched, line, last)
        elif not compact or line.name != "sched_wakeup":
            _event(bundle.event.add(), line)


def _event(event: Any, line: Line) -> None:
    event.timestamp, event.pid = line.at, line.pid
    if line.name.startswith("sys_"):
        _, way, call = line.name.split("_", 2)
        of = event.sys_enter if way == "enter" else event.sys_exit
        of.id = _NUMBERS[call]
        if way == "enter":
            of.args.extend((0x7F00, int(line.fields[0])))
    elif line.name in _FIELDS:
        of = getattr(event, line.name)
        for title, value in zip(_FIELDS[line.name].split(), line.fields, strict=True):
            setattr(of, title, value)
    else:
        event.generic.event_name = line.name
        if line.fields:
            field = event.generic.field.add()
            field.name, field.int_value = "vector", line.fields[0]


def _column(columns: Any, line: Line, last: dict[str, int]) -> None:
    kind = line.name.removeprefix("sched_")
    getattr(columns, f"{kind}_timestamp").append(line.at - last[kind])
    last[kind] = line.at
    of = line.fields
    name = of[4] if kind == "switch" else of[0]
    if name not in columns.intern_table:
        columns.intern_table.append(name)
    index = list(columns.intern_table).index(name)
    if kind == "switch":
        columns.switch_prev_state.append(of[3])
        columns.switch_next_pid.append(of[5])
        columns.switch_next_prio.append(of[6])
        columns.switch_next_comm_index.append(index)
    else:
        columns.waking_pid.append(of[1])
        columns.waking_prio.append(of[2])
        columns.waking_target_cpu.append(of[3])
        columns.waking_comm_index.append(index)
