# SPDX-License-Identifier: Apache-2.0
"""Writes perf.data as `perf record` lays it out (tools/perf/Documentation/perf.data-file-format.txt
of Linux): attributes, records, and the formats of the events as a feature."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence

from tests.recordings.scenario_events import Line

_STATES = '{ 1, "S" }, { 2, "D" }, { 0x10, "X" }, { 0x20, "Z" }'
_SOFT = '{ 3, "NET_RX" }, { 9, "RCU" }'
# Fields (type, name, bytes) and the print format of each event.
_WAKE = (
    "comm:16s pid:i prio:i target_cpu:i",
    '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu',
)
_VECTOR = ("vector:i", '"vector=%d", REC->vector')
_EVENTS = {
    "sched_switch": (
        "prev_comm:16s prev_pid:i prev_prio:i prev_state:q next_comm:16s next_pid:i next_prio:i",
        '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d '
        'next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? '
        f'__print_flags(REC->prev_state & 0xff, "|", {_STATES}) : "R", '
        'REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio',
    ),
    "sched_waking": _WAKE,
    "sched_wakeup": _WAKE,
    "sched_migrate_task": (
        "comm:16s pid:i prio:i orig_cpu:i dest_cpu:i",
        '"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d", REC->comm, REC->pid, REC->prio, '
        "REC->orig_cpu, REC->dest_cpu",
    ),
    "sched_process_exit": (
        "comm:16s pid:i prio:i",
        '"comm=%s pid=%d prio=%d", REC->comm, REC->pid, REC->prio',
    ),
    "irq_handler_entry": ("irq:i name:16s", '"irq=%d name=%s", REC->irq, REC->name'),
    "irq_handler_exit": ("irq:i", '"irq=%d ret=handled", REC->irq'),
    "softirq_entry": (
        "vec:I",
        f'"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, {_SOFT})',
    ),
    "softirq_exit": (
        "vec:I",
        f'"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, {_SOFT})',
    ),
    "local_timer_entry": _VECTOR,
    "local_timer_exit": _VECTOR,
    "page_fault_user": ("address:q", '"address=0x%lx", REC->address'),
    "sys_enter_clock_nanosleep": ("op:q", '"which_clock: 0x%08lx", REC->op'),
    "sys_exit_clock_nanosleep": ("ret:q", '"0x%lx", REC->ret'),
    "sys_enter_futex": ("op:q", '"uaddr: 0x7f00, op: 0x%08lx", REC->op'),
    "sys_exit_futex": ("ret:q", '"0x%lx", REC->ret'),
}
_SYSTEMS = {"irq_h": "irq", "softi": "irq", "local": "irq_vectors", "page_": "exceptions"}
_TYPES = {
    "16s": ("char", 16, "[16]"),
    "i": ("int", 4, ""),
    "I": ("unsigned int", 4, ""),
    "q": ("long", 8, ""),
}
_NUMBERS = {name: 300 + i for i, name in enumerate(_EVENTS)}
_COMMON = """\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""
# PERF_SAMPLE_IDENTIFIER, TID, TIME, CPU, RAW; attr.sample_id_all.
_SAMPLE_TYPE = 1 << 16 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10
_ID_ALL = 1 << 18
_TRACEPOINT = 2
_COMM, _LOST, _SAMPLE = 3, 2, 9
_HEAD_BYTES = 104
_TRACING_DATA = 1  # feature


def perf_data(lines: Sequence[Line]) -> bytes:
    """A whole file of these events, as bytes."""
    attributes, ids = b"", b""
    first_id = _HEAD_BYTES
    for number in _NUMBERS.values():
        place = first_id + len(ids)
        ids += struct.pack("<Q", number)
        attributes += struct.pack(
            "<IIQQQQQIIQQQ", _TRACEPOINT, 64, number, 1, _SAMPLE_TYPE, 0, _ID_ALL, 0, 0, 0, place, 8
        )
    tasks = sorted({(line.pid, line.task) for line in lines if line.pid})
    data = b"".join(_comm(pid, task) for pid, task in tasks)
    data += b"".join(itertools.chain.from_iterable(_records(line) for line in lines))
    attributes_at = _HEAD_BYTES + len(ids)
    data_at = attributes_at + len(attributes)
    tracing = _tracing()
    tracing_at = data_at + len(data) + 16
    head = struct.pack(
        "<8sQQQQQQQQ4Q", b"PERFILE2", _HEAD_BYTES, 80, attributes_at, len(attributes), data_at,
        len(data), 0, 0, 1 << _TRACING_DATA, 0, 0, 0,
    )  # fmt: skip
    return head + ids + attributes + data + struct.pack("<QQ", tracing_at, len(tracing)) + tracing


def _comm(pid: int, name: str) -> bytes:
    text = name.encode().ljust(16, b"\0")
    return _record(_COMM, struct.pack("<II", pid, pid) + text + _sample_id(pid, 0, 0))


def _sample_id(pid: int, at: int, cpu: int) -> bytes:
    return struct.pack("<IIQIIQ", pid, pid, at, cpu, 0, 300)


def _record(kind: int, content: bytes) -> bytes:
    content = content.ljust(-(-len(content) // 8) * 8, b"\0")
    return struct.pack("<IHH", kind, 0, len(content) + 8) + content


def _records(line: Line) -> list[bytes]:
    number = _NUMBERS[line.name]
    spec = [field.partition(":")[2] for field in _EVENTS[line.name][0].split()]
    values = [value.encode() if isinstance(value, str) else value for value in line.fields]
    values += [0] * (len(spec) - len(values))
    raw = struct.pack("<HBBi", number, 0, 0, line.pid)
    raw += struct.pack("<" + "".join(spec), *values)
    raw += b"\0" * (-(len(raw) + 4) % 8)
    sample = struct.pack("<QIIQII", number, line.pid, line.pid, line.at, line.cpu, 0)
    sample += struct.pack("<I", len(raw)) + raw
    lost = struct.pack("<QQ", number, line.lost) + _sample_id(line.pid, line.at, line.cpu)
    return ([_record(_LOST, lost)] if line.lost else []) + [_record(_SAMPLE, sample)]


def _tracing() -> bytes:
    systems: dict[str, list[bytes]] = {}
    for name in _EVENTS:
        system = "syscalls" if name.startswith("sys_") else _SYSTEMS.get(name[:5], "sched")
        systems.setdefault(system, []).append(_sized(_format(name).encode()))
    out = b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096)
    page = (
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
        "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"
    )
    out += b"header_page\0" + _sized(page.encode()) + b"header_event\0" + _sized(b"")
    out += struct.pack("<II", 0, len(systems))
    for system, formats in systems.items():
        out += system.encode() + b"\0" + struct.pack("<I", len(formats)) + b"".join(formats)
    return out + struct.pack("<IIQ", 0, 0, 0)  # symbols, formats of printk, names of threads


def _sized(content: bytes) -> bytes:
    return struct.pack("<Q", len(content)) + content


def _format(name: str) -> str:
    fields, print_format = _EVENTS[name]
    text, at = f"name: {name}\nID: {_NUMBERS[name]}\nformat:\n{_COMMON}", 8
    for field in fields.split():
        title, _, code = field.partition(":")
        kind, size, array = _TYPES[code]
        signed = int(code in "iq")
        text += f"\tfield:{kind} {title}{array};\toffset:{at};\tsize:{size};\tsigned:{signed};\n"
        at += size
    return f"{text}\nprint fmt: {print_format}\n"
