# SPDX-License-Identifier: Apache-2.0
"""The events that a watch records, and how each becomes a typed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from kadenz.errors import ToolMissing
from kadenz.ftrace import Who
from kadenz.watching.events import (
    CALLS,
    Call,
    End,
    Enter,
    Fault,
    Happening,
    Leave,
    Migration,
    Start,
    Switch,
    Wake,
    place_of,
    soft_interrupt,
    state_of,
)
from kadenz.watching.layouts import Layout, layout
from kadenz.watching.pages import Decoder

SCHEDULER = ("sched/sched_switch", "sched/sched_waking")  # without these there are no jobs
_WAKEUP = "sched/sched_wakeup"
_OPTIONAL = (
    "sched/sched_wakeup",
    "sched/sched_wakeup_new",
    "sched/sched_migrate_task",
    "sched/sched_process_fork",
    "sched/sched_process_exit",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "exceptions/page_fault_user",
    "exceptions/page_fault_kernel",
)
_VECTORS = "irq_vectors"
_SYSTEM_CALLS = tuple(f"syscalls/sys_{way}_{name}" for name in CALLS for way in ("enter", "exit"))
# All events that are recorded, with wildcards: for a kernel whose events are not known yet.
PATTERNS = (
    *SCHEDULER,
    *_OPTIONAL,
    *(f"{_VECTORS}/*_{way}" for way in ("entry", "exit")),
    *_SYSTEM_CALLS,
)


def names(events: Path, where: str = "") -> tuple[list[str], list[str]]:
    """The events to record that a kernel has below its folder `events`, and those that it lacks.

    ToolMissing without those of the scheduler; `where` names the kernel.
    """
    vectors = [
        f"{_VECTORS}/{path.name}"
        for path in sorted((events / _VECTORS).glob("*_e[nx]*"))
        if path.name.endswith(("_entry", "_exit"))
    ]
    every = (*SCHEDULER, *_OPTIONAL, *vectors, *_SYSTEM_CALLS)
    there = {name: (events / name).is_dir() for name in every}
    lacking = [name for name, is_there in there.items() if not is_there]
    without = [name for name in SCHEDULER if not there[name]]
    if without:
        raise ToolMissing(
            f"{where or events}: this kernel has no event {', '.join(without)}",
            remedy="Use a kernel with CONFIG_FTRACE and CONFIG_EVENT_TRACING, as Debian's are",
        )
    groups = {name.partition("/")[0] for name in there if there[name]}
    few = [name for name in lacking if not name.startswith("syscalls/") or "syscalls" not in groups]
    return [name for name, is_there in there.items() if is_there], _short(few)


def _short(lacking: Sequence[str]) -> list[str]:
    """System calls as one."""
    rest = [name for name in lacking if not name.startswith("syscalls/")]
    return rest + (["syscalls"] if len(rest) < len(lacking) else [])


def decoders(events: Path, recorded: Sequence[str]) -> dict[int, Decoder]:
    """How the events `recorded` are read, by their numbers in the buffers."""
    readers = {}
    for name in recorded:
        form = layout(events, name)
        if form is not None:
            readers[form.id] = _decoder(name.partition("/")[2], form)
    return readers


def _decoder(name: str, form: Layout) -> Decoder:
    if name == "sched_switch":
        return _switch(form)
    if name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
        return _wake(form, queued=name != "sched_waking")
    if name.startswith("sys_enter_"):
        return _call(form, name.removeprefix("sys_enter_"))
    if name.startswith("sys_exit_"):
        return lambda at, cpu, current, _: Call(at, cpu, current, "")
    if name.startswith(("page_fault", "sched_")):
        return _rare(form, name)
    return _interrupt(form, name)


def _switch(form: Layout) -> Decoder:
    unpack = form.reader(
        (
            "prev_comm",
            "prev_pid",
            "prev_prio",
            "prev_state",
            "next_comm",
            "next_pid",
            "next_prio",
        )
    ).unpack_from

    def read(at: int, cpu: int, _: int, payload: bytes) -> Switch:
        before, previous, urgency, state, name, pid, priority = unpack(payload)
        return Switch(
            at, cpu, previous, _text(before), urgency, state_of(state), pid, _text(name), priority
        )

    return read


def _wake(form: Layout, *, queued: bool) -> Decoder:
    unpack = form.reader(("comm", "pid", "prio", "target_cpu")).unpack_from

    def read(at: int, cpu: int, current: int, payload: bytes) -> Wake:
        name, pid, priority, target = unpack(payload)
        return Wake(at, cpu, current, pid, _text(name), priority, target, queued)

    return read


def _call(form: Layout, name: str) -> Decoder:
    if name == "futex" and form.has("op"):
        unpack = form.reader(("op",)).unpack_from

        def read(at: int, cpu: int, current: int, payload: bytes) -> Call:
            return Call(at, cpu, current, place_of(name, unpack(payload)[0] & 0xFFFFFFFF))

        return read
    return lambda at, cpu, current, _: Call(at, cpu, current, place_of(name, -1))


def _interrupt(form: Layout, name: str) -> Decoder:
    kind = Enter if name.endswith("_entry") else Leave
    who = _who(form, name)
    return lambda at, cpu, current, payload: kind(at, cpu, current, who(payload))


def _who(form: Layout, name: str) -> Callable[[bytes], Who]:
    if name.startswith("softirq"):
        unpack = form.reader(("vec",)).unpack_from
        return lambda payload: soft_interrupt(unpack(payload)[0])
    if name == "irq_handler_entry":
        unpack = form.reader(("irq", "name")).unpack_from
        return lambda payload: _named(payload, *unpack(payload))
    if name == "irq_handler_exit":
        unpack = form.reader(("irq",)).unpack_from
        return lambda payload: Who("interrupt", "", unpack(payload)[0])
    unpack = form.reader(("vector",)).unpack_from
    title = name.removesuffix("_entry").removesuffix("_exit").replace("_", " ")
    return lambda payload: Who("interrupt", title, unpack(payload)[0])


def _named(payload: bytes, number: int, place: int) -> Who:
    return Who("interrupt", _text(payload[place & 0xFFFF :][: place >> 16]), number)


def _rare(form: Layout, name: str) -> Decoder:
    if name.startswith("page_fault"):
        return lambda at, cpu, current, _: Fault(at, cpu, current)
    if name == "sched_migrate_task":
        moves = form.reader(("pid", "dest_cpu")).unpack_from
        return lambda at, cpu, current, payload: Migration(at, cpu, current, *moves(payload))
    if name == "sched_process_fork":
        return _fork(form)
    ends = form.reader(("pid",)).unpack_from
    return lambda at, cpu, current, payload: End(at, cpu, current, *ends(payload))


def _fork(form: Layout) -> Decoder:
    child = form.reader(("child_comm", "child_pid")).unpack_from
    is_text = form.is_text("child_comm")

    def read(at: int, cpu: int, current: int, payload: bytes) -> Happening:
        name, pid = child(payload)
        text = payload[name & 0xFFFF :][: name >> 16] if is_text else name
        return Start(at, cpu, current, pid, _text(text))

    return read


@lru_cache(maxsize=1 << 12)
def _text(name: bytes) -> str:
    return name.split(b"\0", 1)[0].decode(errors="replace")
