# SPDX-License-Identifier: Apache-2.0
"""Writes a trace in the Common Trace Format 1.8 as LTTng's kernel tracer lays it out: a description
and a stream for each processor, whose packets begin with times and the number of lost events."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Sequence
from pathlib import Path

from tests.recordings.scenario_events import Line

_MAGIC = 0xC1FC1FC1
_UUID = uuid.UUID("b1b9a2a4-51a2-4b59-9a34-0b6a2c0b8f11")
_EPOCH = 1_700_000_000  # the clock's offset: LTTng's times are of the day
# LTTng's name, and its fields: t text, i 32 bits, q 64 bits, P priority (less 100).
_WAKE = "comm:t tid:i prio:P target_cpu:i"
_EVENTS = {
    "sched_switch": (
        "sched_switch",
        "prev_comm:t prev_tid:i prev_prio:P prev_state:q next_comm:t next_tid:i next_prio:P",
    ),
    "sched_waking": ("sched_waking", _WAKE),
    "sched_wakeup": ("sched_wakeup", _WAKE),
    "sched_migrate_task": (
        "sched_migrate_task",
        "comm:t tid:i prio:P orig_cpu:i dest_cpu:i",
    ),
    "sched_process_exit": ("sched_process_exit", "comm:t tid:i prio:P"),
    "irq_handler_entry": ("irq_handler_entry", "irq:i name:t"),
    "irq_handler_exit": ("irq_handler_exit", "irq:i"),
    "softirq_entry": ("irq_softirq_entry", "vec:i"),
    "softirq_exit": ("irq_softirq_exit", "vec:i"),
    "local_timer_entry": ("x86_irq_vectors_local_timer_entry", "vector:i"),
    "local_timer_exit": ("x86_irq_vectors_local_timer_exit", "vector:i"),
    "page_fault_user": ("x86_exceptions_page_fault_user", "address:q"),
    "sys_enter_clock_nanosleep": ("syscall_entry_clock_nanosleep", "which_clock:i"),
    "sys_exit_clock_nanosleep": ("syscall_exit_clock_nanosleep", "ret:q"),
    "sys_enter_futex": ("syscall_entry_futex", "op:i"),
    "sys_exit_futex": ("syscall_exit_futex", "ret:q"),
}
_TYPES = {
    "t": "integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } _{name}[16];",
    "i": "integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _{name};",
    "q": "integer { size = 64; align = 8; signed = 1; encoding = none; base = 10; } _{name};",
}
_TYPES["P"] = _TYPES["i"]
_U = "integer {{ size = {bits}; align = 8; signed = 0; encoding = none; base = 10; }}"
U8, U32, U64 = (_U.format(bits=bits) for bits in (8, 32, 64))
_PACKET_EVENTS = 50


def write_trace(
    folder: Path, lines: Sequence[Line], *, with_threads: bool = True, version: str = "2.13"
) -> Path:
    """A trace in a folder; `with_threads`: with the context `tid`, as `lttng add-context`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metadata").write_text(_metadata(with_threads, version))
    for cpu in {line.cpu for line in lines}:
        of_cpu = [line for line in lines if line.cpu == cpu]
        (folder / f"channel0_{cpu}").write_bytes(_stream(cpu, of_cpu, with_threads))
    return folder


def _metadata(with_threads: bool, version: str) -> str:
    major, minor = version.split(".")
    events = ""
    for number, (name, fields) in enumerate(_EVENTS.values()):
        body = " ".join(
            _TYPES[kind].replace("{name}", title)
            for title, _, kind in (field.partition(":") for field in fields.split())
        )
        events += (
            f'event {{ name = "{name}"; id = {number}; stream_id = 0; '
            f"fields := struct {{ {body} }}; }};\n"
        )
    context = f"event.context := struct {{ {U32} _tid; }};" if with_threads else ""
    return f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; uuid = "{_UUID}"; byte_order = le;
  packet.header := struct {{ {U32} magic; {U8} uuid[16]; {U32} stream_id; }}; }};
env {{ hostname = "there"; domain = "kernel"; tracer_name = "lttng-modules";
  tracer_major = {major}; tracer_minor = {minor}; }};
clock {{ name = "monotonic"; freq = 1000000000; offset_s = {_EPOCH}; }};
typealias integer {{ size = 64; align = 8; signed = 0; map = clock.monotonic.value; }} := time_t;
stream {{ id = 0;
  packet.context := struct {{ time_t timestamp_begin; time_t timestamp_end; {U64} content_size;
    {U64} packet_size; {U64} events_discarded; {U32} cpu_id; }};
  event.header := struct {{ {U32} id; time_t timestamp; }};
  {context}
}};
{events}"""


def _stream(cpu: int, lines: Sequence[Line], with_threads: bool) -> bytes:
    """Packets of some events; a loss is at the end of the packet before it."""
    packets: list[list[Line]] = [[]]
    for line in lines:
        if line.lost or len(packets[-1]) == _PACKET_EVENTS:
            packets.append([])
        packets[-1].append(line)
    stream, lost = b"", 0
    for packet, after in zip(packets, [*packets[1:], []], strict=True):
        end = after[0].at if after else packet[-1].at
        lost += after[0].lost if after else 0
        body = b"".join(_event(line, with_threads) for line in packet)
        bits = (24 + 44 + len(body)) * 8
        stream += struct.pack("<I16sI", _MAGIC, _UUID.bytes, 0)
        stream += struct.pack("<QQQQQI", packet[0].at, end, bits, bits, lost, cpu) + body
    return stream


def _event(line: Line, with_threads: bool) -> bytes:
    content = struct.pack("<IQ", list(_EVENTS).index(line.name), line.at)
    content += struct.pack("<I", line.pid) if with_threads else b""
    kinds = [field[-1] for field in _EVENTS[line.name][1].split()]
    values = [*line.fields, *[0] * (len(kinds) - len(line.fields))]
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(value, str):
            content += value.encode().ljust(16, b"\0")
        else:
            number = value - 100 if kind == "P" else value
            content += struct.pack("<q" if kind == "q" else "<i", number)
    return content
