# SPDX-License-Identifier: Apache-2.0
"""tunings/*.toml: priorities and placement of a Linux machine, as data.

A missing key leaves the machine unchanged. Effects and risks of each key are in
kadenz/tuning/effects.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from kadenz.config.model import FileModel
from kadenz.config.processors import parse_cpus

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]
Natural = Annotated[int, msgspec.Meta(ge=0)]
Policy = Literal["fifo", "rr", "other"]
# "housekeeping": all processors except those for real-time work. "realtime": those. Or "0,2-3".
Cpus = Annotated[
    str, msgspec.Meta(pattern=r"^(housekeeping|realtime|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)$")
]


class Scheduler(FileModel, kw_only=True, frozen=True):
    """[scheduler]: /proc/sys/kernel, and the fair server in debugfs."""

    # -1: no throttling. Since Linux 6.12 it only throttles with RT_GROUP_SCHED.
    rt_runtime_us: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    # Runtime of the fair server, its successor, on each processor; 0: off. The period is unchanged.
    fair_server_runtime_ns: Natural | None = None
    timer_migration: bool | None = None
    autogroup: bool | None = None
    numa_balancing: bool | None = None


class Processor(FileModel, kw_only=True, frozen=True):
    """[processor]: frequency and idle states."""

    governor: str | None = None  # "performance"
    turbo: bool | None = None
    # Idle states with a longer exit latency are switched off.
    idle_above_us: Natural | None = None


class Memory(FileModel, kw_only=True, frozen=True):
    """[memory]: background work of the kernel on pages."""

    transparent_hugepages: Literal["always", "madvise", "never"] | None = None
    same_page_merging: bool | None = None
    proactive_compaction: Percent | None = None
    swappiness: Annotated[int, msgspec.Meta(ge=0, le=200)] | None = None
    stat_interval_s: Annotated[int, msgspec.Meta(ge=1, le=3600)] | None = None


class Watchdog(FileModel, kw_only=True, frozen=True):
    """[watchdog]: the kernel's lock-up detectors."""

    hard: bool | None = None  # uses a non-maskable interrupt
    soft: bool | None = None


class Placement(FileModel, kw_only=True, frozen=True):
    """[placement]: what may run where. `realtime` names the processors to isolate."""

    # "last", "upper-half", a list, or "" for none; `,cpus=LIST` after its name overrides it.
    realtime: Annotated[str, msgspec.Meta(pattern=r"^(last|upper-half|[0-9,-]+|)$")] | None = None
    interrupts: Literal["housekeeping"] | None = None
    new_interrupts: Literal["housekeeping"] | None = None
    kernel_threads: Literal["housekeeping"] | None = None
    workqueues: Literal["housekeeping"] | None = None
    receive_steering: Literal["housekeeping", "off"] | None = None
    user_tasks: Literal["housekeeping"] | None = None


class ThreadRule(FileModel, kw_only=True, frozen=True):
    """[[thread]]: kernel threads with a matching name. A later rule overrides an earlier one."""

    match: str  # a glob: "irq/*", "ktimers/*"
    policy: Policy | None = None
    priority: Annotated[int, msgspec.Meta(ge=1, le=99)] | None = None  # for fifo and rr
    cpus: Cpus | None = None
    note: str = ""  # the reason, or an explanation if no such thread exists


class InterruptRule(FileModel, kw_only=True, frozen=True):
    """[[interrupt]]: interrupts with a matching device name. A later rule overrides an earlier
    one."""

    match: str  # a glob for the name in /proc/interrupts: "eth0*"
    cpus: Cpus
    note: str = ""


class Sysctl(FileModel, kw_only=True, frozen=True):
    """[[sysctl]]: any other value below /proc/sys, explained by the profile's author."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_/-]+)+$")]
    value: int | str
    effect: str  # on latencies
    risk: str


class Tuning(FileModel, kw_only=True, frozen=True):
    """What tunings/<name>.toml asks of this Linux."""

    title: str
    based_on: str = ""  # a profile whose keys apply unless this one sets them
    study: str = ""  # id of the study it repeats
    notes: tuple[str, ...] = ()  # notes for readers, e.g. on features that no longer exist
    scheduler: Scheduler = Scheduler()
    processor: Processor = Processor()
    memory: Memory = Memory()
    watchdog: Watchdog = Watchdog()
    placement: Placement = Placement()
    thread: tuple[ThreadRule, ...] = ()
    interrupt: tuple[InterruptRule, ...] = ()
    sysctl: tuple[Sysctl, ...] = ()

    def over(self, base: Tuning) -> Tuning:
        """Merges this profile into `base`: tables by key, rules after those of `base`.

        Its own notes replace those of `base`, which may not apply to it.
        """
        changed: dict[str, Any] = {
            name: _over(getattr(self, name), getattr(base, name))
            for name in ("scheduler", "processor", "memory", "watchdog", "placement")
        }
        for name in ("thread", "interrupt", "sysctl"):
            changed[name] = (*getattr(base, name), *getattr(self, name))
        changed["notes"] = self.notes or base.notes
        return msgspec.structs.replace(self, **changed)


def problem(tuning: Tuning) -> str:
    """Checks beyond the types: "", or the problem with its key."""
    for index, rule in enumerate(tuning.thread):
        where = f"`thread[{index}]`"
        if rule.policy in ("fifo", "rr") and rule.priority is None:
            return f"{where}: policy {rule.policy} needs a `priority` from 1 to 99"
        if rule.priority is not None and rule.policy not in ("fifo", "rr"):
            return f'{where}: a `priority` needs `policy = "fifo"` or `"rr"`'
        if rule.policy is None and rule.cpus is None:
            return f"{where}: has neither `policy` nor `cpus`"
    for table in ("thread", "interrupt"):
        for index, entry in enumerate(getattr(tuning, table)):
            if entry.cpus in (None, "housekeeping", "realtime"):
                continue
            try:
                parse_cpus(entry.cpus)
            except ValueError as wrong:
                return f"`{table}[{index}].cpus`: {wrong}"
    return ""


# Findings of `kadenz doctor` that a key removes if it has one of these values.
_REMOVES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "scheduler.rt_runtime_us": ("rt-throttling", (-1,)),
    "scheduler.fair_server_runtime_ns": ("fair-server", (0,)),
    "scheduler.timer_migration": ("timer-migration", (False,)),
    "scheduler.numa_balancing": ("numa-balancing", (False,)),
    "processor.governor": ("governor", ("performance",)),
    "memory.transparent_hugepages": ("huge-pages", ("madvise", "never")),
    "memory.same_page_merging": ("page-merging", (False,)),
    "watchdog.hard": ("nmi-watchdog", (False,)),
    "placement.interrupts": ("interrupts-everywhere", ("housekeeping",)),
    "placement.user_tasks": ("no-isolation", ("housekeeping",)),
}
# Findings by the name of a sysctl.
_REMOVES_BY_SYSCTL = {"fs.mqueue.msg_max": "mq-limits", "fs.mqueue.msgsize_max": "mq-limits"}


def removes(tuning: Tuning) -> set[str]:
    """Codes of the findings that this profile removes on machines that have its keys."""
    codes = {code for key, (code, values) in _REMOVES.items() if _value(tuning, key) in values}
    if tuning.processor.idle_above_us is not None and tuning.processor.idle_above_us <= 2:
        codes.add("idle-states")
    if tuning.memory.stat_interval_s is not None and tuning.memory.stat_interval_s > 1:
        codes.add("stat-interval")
    return codes | {
        _REMOVES_BY_SYSCTL[sysctl.name]
        for sysctl in tuning.sysctl
        if sysctl.name in _REMOVES_BY_SYSCTL
    }


def _value(tuning: Tuning, key: str) -> Any:
    table, _, name = key.partition(".")
    value = getattr(getattr(tuning, table), name)
    return () if value is None else value


def _over(table: FileModel, base: FileModel) -> FileModel:
    given = {
        name: value
        for name in table.__struct_fields__
        if (value := getattr(table, name)) is not None
    }
    return msgspec.structs.replace(base, **given)
