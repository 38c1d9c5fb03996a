# SPDX-License-Identifier: Apache-2.0
"""The bundles of one processor in a trace of Perfetto, as typed events.

Messages FtraceEventBundle and FtraceEvent (protos/perfetto/trace/ftrace). A bundle has whole
events, and switches and wake-ups in columns: times as differences, names by number.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kadenz.ftrace import Who
from kadenz.recordings.running import Running
from kadenz.recordings.system_calls import names_of
from kadenz.watching.events import (
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

_WAKES = {"sched_waking": False, "sched_wakeup": True, "sched_wakeup_new": True}
_FUTEX_OPERATION = 1  # its argument's number
# Columns of a bundle, each with a value for every event of the kind; the last are numbers of names.
_SWITCHES = ("timestamp", "prev_state", "next_pid", "next_prio", "next_comm_index")
_WAKINGS = ("timestamp", "pid", "target_cpu", "prio", "comm_index")
_COLUMNS = {"switch": _SWITCHES, "waking": _WAKINGS}


class _Switched(NamedTuple):
    """A switch in columns: the state of the previous thread, the next one."""

    state: str
    thread: tuple[int, str, int]


class _Woken(NamedTuple):
    """A wake-up in columns."""

    pid: int
    name: str
    priority: int
    target: int


def damage_of(bundle: Any) -> str:
    """Why the columns of a bundle are no events; "" for a whole one."""
    compact = bundle.compact_sched
    for kind, names in _COLUMNS.items():
        columns = [getattr(compact, f"{kind}_{name}") for name in names]
        if len({len(column) for column in columns}) > 1:
            return f"its columns of {kind} differ in length"
        if columns[-1] and max(columns[-1]) >= len(compact.intern_table):
            return f"a name of {kind} is not in its table"
    return ""


class Bundles:
    """Reads the bundles of a processor. `machine`: of `uname -m`, for the names of calls."""

    def __init__(self, cpu: int, machine: str) -> None:
        self._cpu = cpu
        self._calls = names_of(machine)
        self._running = Running()

    def events(self, bundles: Iterable[Any]) -> Iterator[Happening]:
        """The events, with a Loss before the first behind a gap."""
        for bundle in bundles:
            lost = bundle.lost_events
            if lost:
                self._running.lose(self._cpu)
            parts = (
                ((event.timestamp, 0, event) for event in bundle.event),
                _switches(bundle.compact_sched),
                _wakes(bundle.compact_sched),
            )
            for at, kind, entry in heapq.merge(*parts, key=lambda part: part[:2]):
                event = self._column(at, entry) if kind else self._event(at, entry)
                if lost:
                    yield Loss(at, self._cpu, -1, 0)
                    lost = False
                if event is not None:
                    yield event

    def _column(self, at: int, entry: _Switched | _Woken) -> Happening | None:
        if isinstance(entry, _Switched):
            return self._running.to(at, self._cpu, entry.state, entry.thread)
        current = self._running.on(self._cpu)
        if current is None:
            return None
        return Wake(
            at, self._cpu, current, entry.pid, entry.name, entry.priority, entry.target, False
        )

    def _event(self, at: int, event: Any) -> Happening | None:
        name: str = event.WhichOneof("event") or ""
        of: Any = getattr(event, name) if name else None
        where = (at, self._cpu, event.pid)
        if name == "sched_switch":
            return self._switch(at, of)
        if name in _WAKES:
            return Wake(*where, of.pid, _text(of.comm), of.prio, of.target_cpu, _WAKES[name])
        if name in ("sys_enter", "sys_exit"):
            return self._call(where, name, of)
        if name == "generic":
            return _generic(where, of)
        if who := _who(name, of):
            return (Enter if name.endswith("_entry") else Leave)(*where, who)
        return _rare(where, name, of)

    def _switch(self, at: int, of: Any) -> Switch:
        before = (of.prev_pid, _text(of.prev_comm), of.prev_prio, state_of(of.prev_state))
        after = (of.next_pid, _text(of.next_comm), of.next_prio)
        return self._running.switch(Switch(at, self._cpu, *before, *after))

    def _call(self, where: tuple[int, int, int], name: str, of: Any) -> Happening:
        call = self._calls.get(of.id, "")
        if not call:
            return Other(*where)
        if name == "sys_exit":
            return Call(*where, "")
        is_futex = call == "futex" and len(of.args) > _FUTEX_OPERATION
        operation = of.args[_FUTEX_OPERATION] & 0xFFFFFFFF if is_futex else -1
        return Call(*where, place_of(call, operation))


def _rare(where: tuple[int, int, int], name: str, of: Any) -> Happening:
    """Migrations, starts and ends of threads."""
    if name == "sched_migrate_task":
        return Migration(*where, of.pid, of.dest_cpu)
    if name == "sched_process_fork":
        return Start(*where, of.child_pid, _text(of.child_comm))
    if name == "sched_process_exit":
        return End(*where, of.pid)
    return Other(*where)


def _who(name: str, of: Any) -> Who | None:
    """The interrupt of an event; None for others."""
    if name in ("softirq_entry", "softirq_exit"):
        return soft_interrupt(of.vec)
    if name == "irq_handler_entry":
        return Who("interrupt", _text(of.name), of.irq)
    if name == "irq_handler_exit":
        return Who("interrupt", "", of.irq)
    return None


def _generic(where: tuple[int, int, int], of: Any) -> Happening:
    """An event that the schema does not name: vectors of x86, page faults."""
    name = _text(of.event_name)
    if name in ("page_fault_user", "page_fault_kernel"):
        return Fault(*where)
    numbers = {_text(field.name): field.int_value or field.uint_value for field in of.field}
    if name.endswith(("_entry", "_exit")) and "vector" in numbers:
        title = name.removesuffix("_entry").removesuffix("_exit").replace("_", " ")
        who = Who("interrupt", title, numbers["vector"])
        return (Enter if name.endswith("_entry") else Leave)(*where, who)
    return Other(*where)


def _switches(compact: Any) -> Iterator[tuple[int, int, _Switched]]:
    for at, state, pid, priority, name in _rows(compact, "switch"):
        yield at, 2, _Switched(state_of(state), (pid, name, priority))


def _wakes(compact: Any) -> Iterator[tuple[int, int, _Woken]]:
    for at, pid, target, priority, name in _rows(compact, "waking"):
        yield at, 1, _Woken(pid, name, priority, target)


def _rows(compact: Any, kind: str) -> Iterator[tuple[Any, ...]]:
    """The events of a kind, in the order of its columns: with their times and names."""
    at = 0
    columns = (getattr(compact, f"{kind}_{name}") for name in _COLUMNS[kind])
    for after, *values, name in zip(*columns, strict=True):
        at += after
        yield at, *values, _text(compact.intern_table[name])


def _text(name: str | bytes) -> str:
    """A name of a thread; the messages give bytes where it is no UTF-8."""
    return name if isinstance(name, str) else name.decode(errors="replace")
