# SPDX-License-Identifier: Apache-2.0
"""Traces of LTTng's kernel tracer (Common Trace Format) through `babeltrace2`: one line an event.

Names and fields: lttng-modules, include/instrumentation/events. A priority there is the kernel's
less 100; in wake-ups since version 2.8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from kadenz.capture.tool_lines import lines_of
from kadenz.errors import UsageError
from kadenz.ftrace import Who
from kadenz.recordings.form import HEAD_BYTES, Format
from kadenz.recordings.running import Running
from kadenz.regular_files import open_regular, read_regular
from kadenz.watching.events import (
    REAL_TIME,
    Call,
    End,
    Enter,
    Fault,
    Happening,
    Leave,
    Loss,
    Migration,
    Other,
    Start,
    Switch,
    Wake,
    place_of,
    soft_interrupt,
    state_of,
)

METADATA = "metadata"  # the file of a trace that describes the others
# Metadata in packets, in both orders of bytes; as text; of version 2, as a sequence of JSON texts.
_HEADS = (b"\x57\x1d\xd1\x75", b"\x75\xd1\x1d\x57", b"/* CTF", b'\x1e{"')
# "[1000.000000002] host sched_waking: { cpu_id = 0 }, { tid = 7 }, { comm = "ctl", … }"
_LINE = re.compile(
    r"^\[(?P<s>\d{1,12})\.(?P<ns>\d{9})\] [^{]{0,256}?(?P<name>[\w:]{1,128}): (?P<body>\{.*)$"
)
_CPU = re.compile(r"cpu_id = (\d{1,6})\b")
_FIELD = re.compile(
    r'(?P<name>\w+) = (?:\( [^()]{0,256}: container = )?(?P<value>"(?:[^"\\]|\\.)*"|-?\w+)'
)
_CONTEXT = re.compile(r"\bv?tid = (\d{1,10})\b")
_SCOPE = "}, {"
# "WARNING: Tracer discarded 77 events between [1.0…] and [2.0…] in trace … within stream "…_0" (…)"
_LOST = re.compile(r"Tracer (?:may have )?discarded (?P<count>\d{1,18})?")
_UNTIL = re.compile(r"\] and \[(?P<s>\d{1,12})\.(?P<ns>\d{9})\]")
_STREAM = re.compile(r'within stream "[^"]{0,4096}_(?P<cpu>\d{1,6})"')
_MAJOR = re.compile(rb"tracer_major = (\d{1,3});")
_MINOR = re.compile(rb"tracer_minor = (\d{1,3});")
_FROM = (2, 8)
_RECORD = (
    "lttng enable-event --kernel 'sched_*,irq_*,x86_irq_vectors_*'; "
    "lttng enable-event --kernel --syscall clock_nanosleep,futex"
)


def _events(trace: Path) -> Iterator[Happening]:
    command = ("babeltrace2", "--clock-seconds", "--no-delta", "--color=never", str(trace))
    # In order with the warnings of lost events, which are on standard error.
    lines = lines_of(trace, command, "babeltrace2", mixed=True)
    return _Trace(_offset(trace)).events(lines)


def metadata_of(folder: Path) -> Path | None:
    """The description of a trace in a folder, or of the first one in its folders; None without."""
    for pattern in ("", "*/", "*/*/", "*/*/*/"):
        for file in sorted(folder.glob(f"{pattern}{METADATA}")):
            with open_regular(file) as source:
                if is_metadata(source.read(HEAD_BYTES)):
                    return file
    return None


def is_metadata(head: bytes) -> bool:
    """Whether a file that begins with `head` describes a trace."""
    return head.startswith(_HEADS)


def _offset(trace: Path) -> int:
    """The offset of the priority of a wake-up."""
    try:
        text = read_regular(metadata_of(trace) or trace / METADATA)
    except OSError as error:
        raise UsageError(f"{trace}: {error.strerror}", remedy="Copy the whole folder") from None
    major, minor = _MAJOR.search(text), _MINOR.search(text)
    version = (int(major[1]), int(minor[1])) if major and minor else _FROM
    return REAL_TIME if version >= _FROM else 0


Fields = Mapping[str, str]


class _Trace:
    """Takes lines; knows which thread each processor runs."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._running = Running()
        self._losses: dict[int, tuple[int, int]] = {}  # by processor: until when, how many
        self._everywhere: tuple[int, int] | None = None  # of a processor that is not known
        self._readers: dict[str, Callable[[int, int, int, Fields], Happening]] = {
            "sched_waking": self._waking,
            "sched_wakeup": self._wakeup,
            "sched_wakeup_new": self._wakeup,
            "sched_migrate_task": lambda at, cpu, current, of: Migration(
                at, cpu, current, int(of["tid"]), int(of["dest_cpu"])
            ),
            "sched_process_fork": lambda at, cpu, current, of: Start(
                at, cpu, current, int(of["child_tid"]), _text(of["child_comm"])
            ),
            "sched_process_exit": lambda at, cpu, current, of: End(
                at, cpu, current, int(of["tid"])
            ),
        }

    def events(self, lines: Iterator[str]) -> Iterator[Happening]:
        """The events, with a Loss before the first of a processor behind a gap."""
        for line in lines:
            match = _LINE.match(line)
            if match is None:
                self._lose(line)
                continue
            body = match["body"]
            if (where := _CPU.search(body)) is None:
                continue  # not of a tracer with buffers for each processor
            at, cpu = int(match["s"]) * 10**9 + int(match["ns"]), int(where[1])
            if (lost := self._lost(at, cpu)) is not None:
                yield Loss(at, cpu, -1, lost)
            try:
                event = self._event(at, cpu, match["name"], body)
            except (KeyError, ValueError):
                event = None  # without its fields: of another program
            if event is not None:
                yield event

    def _event(self, at: int, cpu: int, name: str, body: str) -> Happening | None:
        context, _, payload = body.rpartition(_SCOPE)
        if name == "sched_switch":
            return self._running.switch(_switch(at, cpu, _fields(payload)))
        named = _CONTEXT.search(context)
        current = int(named[1]) if named else self._running.on(cpu)
        if current is None:
            return None
        if reader := self._readers.get(name):
            return reader(at, cpu, current, _fields(payload))
        return _of_kernel(at, cpu, current, name, payload)

    def _waking(self, at: int, cpu: int, current: int, of: Fields) -> Wake:
        return self._wake(at, cpu, current, of, queued=False)

    def _wakeup(self, at: int, cpu: int, current: int, of: Fields) -> Wake:
        return self._wake(at, cpu, current, of, queued=True)

    def _wake(self, at: int, cpu: int, current: int, of: Fields, *, queued: bool) -> Wake:
        name, priority = _text(of["comm"]), int(of["prio"]) + self._offset
        return Wake(at, cpu, current, int(of["tid"]), name, priority, int(of["target_cpu"]), queued)

    def _lose(self, line: str) -> None:
        """Notes a warning of lost events: they were behind the last event before its end."""
        match = _LOST.search(line)
        if match is None:
            return
        end, stream = _UNTIL.search(line), _STREAM.search(line)
        until = int(end["s"]) * 10**9 + int(end["ns"]) if end else 0
        lost = (until, int(match["count"] or 0))
        if stream:
            self._losses[int(stream["cpu"])] = lost
        else:
            self._everywhere = lost

    def _lost(self, at: int, cpu: int) -> int | None:
        """How many events of a processor were lost before this one; 0 if that is not known."""
        until, count = self._losses.get(cpu) or self._everywhere or (at + 1, 0)
        if at < until:
            return None
        if self._losses.pop(cpu, None) is None:
            self._everywhere = None
        self._running.lose(cpu)
        return count


def _fields(payload: str) -> Fields:
    return {match["name"]: match["value"] for match in _FIELD.finditer(payload)}


def _text(value: str) -> str:
    return value.strip('"').replace('\\"', '"').replace("\\\\", "\\")


def _switch(at: int, cpu: int, of: Fields) -> Switch:
    return Switch(
        at,
        cpu,
        int(of["prev_tid"]),
        _text(of["prev_comm"]),
        int(of["prev_prio"]) + REAL_TIME,
        state_of(int(of["prev_state"], 0)),
        int(of["next_tid"]),
        _text(of["next_comm"]),
        int(of["next_prio"]) + REAL_TIME,
    )


def _of_kernel(at: int, cpu: int, current: int, name: str, payload: str) -> Happening:
    """System calls, interrupts and page faults; others show who runs."""
    if name.startswith("syscall_"):
        return _call(at, cpu, current, name, payload)
    if who := _who(name, payload):
        return (Enter if name.endswith("_entry") else Leave)(at, cpu, current, who)
    if "page_fault" in name:
        return Fault(at, cpu, current)
    return Other(at, cpu, current)


def _call(at: int, cpu: int, current: int, name: str, payload: str) -> Call:
    """A system call: "syscall_entry_futex", "syscall_exit_futex"."""
    _, way, call = name.split("_", 2)
    if way != "entry":
        return Call(at, cpu, current, "")
    operation = _fields(payload).get("op", "-1") if call == "futex" else "-1"
    return Call(at, cpu, current, place_of(call, int(operation, 0)))


def _who(name: str, payload: str) -> Who | None:
    """The interrupt of an event; None for others."""
    if not name.endswith(("_entry", "_exit")):
        return None
    if name.startswith(("irq_softirq", "softirq")):
        return soft_interrupt(int(_fields(payload)["vec"]))
    if name.startswith(("irq_handler", "x86_irq_vectors")):
        fields = _fields(payload)
        title = name.removeprefix("x86_irq_vectors_").removesuffix("_entry").removesuffix("_exit")
        if title == "irq_handler":
            return Who("interrupt", _text(fields.get("name", "")), int(fields["irq"]))
        return Who("interrupt", title.replace("_", " "), int(fields["vector"]))
    return None


LTTNG = Format(tool="LTTng", recognises=is_metadata, read=_events, record=_RECORD)
