# SPDX-License-Identifier: Apache-2.0
"""tunings/*.toml: priorities and placement of a Linux machine, as data.

A key that is not there leaves the machine as it is. What each key does to latencies, and what it
risks, is in kadenz/tuning/effects.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from kadenz.config.model import FileModel
from kadenz.config.processors import parse_cpus

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]
Natural = Annotated[int, msgspec.Meta(ge=0)]
Policy = Literal["fifo", "rr", "other"]
# "housekeeping": every processor but those for real time. "realtime": those. Or a list, "0,2-3".
Cpus = Annotated[
    str, msgspec.Meta(pattern=r"^(housekeeping|realtime|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)$")
]


class Scheduler(FileModel, kw_only=True, frozen=True):
    """[scheduler]: /proc/sys/kernel, and the fair server in debugfs."""

    # -1: no throttling. Since Linux 6.12 it throttles with RT_GROUP_SCHED only.
    rt_runtime_us: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    # Of the fair server on each processor, which took its place; 0: off. Its period stays.
    fair_server_runtime_ns: Natural | None = None
    timer_migration: bool | None = None
    autogroup: bool | None = None
    numa_balancing: bool | None = None


class Processor(FileModel, kw_only=True, frozen=True):
    """[processor]: frequency and idle states."""

    governor: str | None = None  # "performance"
    turbo: bool | None = None
    # Idle states that take longer than this to leave are switched off.
    idle_above_us: Natural | None = None


class Memory(FileModel, kw_only=True, frozen=True):
    """[memory]: what the kernel does with pages by itself."""

    transparent_hugepages: Literal["always", "madvise", "never"] | None = None
    same_page_merging: bool | None = None
    proactive_compaction: Percent | None = None
    swappiness: Annotated[int, msgspec.Meta(ge=0, le=200)] | None = None
    stat_interval_s: Annotated[int, msgspec.Meta(ge=1, le=3600)] | None = None


class Watchdog(FileModel, kw_only=True, frozen=True):
    """[watchdog]: the kernel's lock-up detectors."""

    hard: bool | None = None  # by non-maskable interrupt
    soft: bool | None = None


class Placement(FileModel, kw_only=True, frozen=True):
    """[placement]: who may run where. `realtime` names the processors to be kept apart."""

    # "last", "upper-half", a list, or "" for none; `kadenz tune --cpus` comes before it.
    realtime: Annotated[str, msgspec.Meta(pattern=r"^(last|upper-half|[0-9,-]+|)$")] | None = None
    interrupts: Literal["housekeeping"] | None = None
    new_interrupts: Literal["housekeeping"] | None = None
    kernel_threads: Literal["housekeeping"] | None = None
    workqueues: Literal["housekeeping"] | None = None
    receive_steering: Literal["housekeeping", "off"] | None = None
    user_tasks: Literal["housekeeping"] | None = None


class ThreadRule(FileModel, kw_only=True, frozen=True):
    """[[thread]]: kernel threads whose name matches. A later rule wins over an earlier one."""

    match: str  # a glob: "irq/*", "ktimers/*"
    policy: Policy | None = None
    priority: Annotated[int, msgspec.Meta(ge=1, le=99)] | None = None  # of fifo and rr
    cpus: Cpus | None = None
    note: str = ""  # why, or what is known where no such thread exists


class InterruptRule(FileModel, kw_only=True, frozen=True):
    """[[interrupt]]: interrupts whose device's name matches. A later rule wins."""

    match: str  # a glob on the name in /proc/interrupts: "eth0*"
    cpus: Cpus
    note: str = ""


class Sysctl(FileModel, kw_only=True, frozen=True):
    """[[sysctl]]: any other value below /proc/sys, explained by whoever sets it."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_/-]+)+$")]
    value: int | str
    effect: str  # on latencies
    risk: str


class Tuning(FileModel, kw_only=True, frozen=True):
    """A profile: tunings/<name>.toml."""

    title: str
    based_on: str = ""  # a profile whose keys hold wherever this one says nothing
    study: str = ""  # id of the study it repeats
    notes: tuple[str, ...] = ()  # what a reader has to know, and what no longer exists
    scheduler: Scheduler = Scheduler()
    processor: Processor = Processor()
    memory: Memory = Memory()
    watchdog: Watchdog = Watchdog()
    placement: Placement = Placement()
    thread: tuple[ThreadRule, ...] = ()
    interrupt: tuple[InterruptRule, ...] = ()
    sysctl: tuple[Sysctl, ...] = ()

    def over(self, base: Tuning) -> Tuning:
        """This profile on top of `base`: tables by key, rules after those of `base`.

        Notes are its own where it has any: what is true of the base may not be true of it.
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
    """What the types cannot say: "" or what is wrong, with the key."""
    for index, rule in enumerate(tuning.thread):
        where = f"`thread[{index}]`"
        if rule.policy in ("fifo", "rr") and rule.priority is None:
            return f"{where}: policy {rule.policy} needs a `priority` from 1 to 99"
        if rule.priority is not None and rule.policy not in ("fifo", "rr"):
            return f'{where}: a `priority` needs `policy = "fifo"` or `"rr"`'
        if rule.policy is None and rule.cpus is None:
            return f"{where}: says neither `policy` nor `cpus`"
    for table in ("thread", "interrupt"):
        for index, one in enumerate(getattr(tuning, table)):
            if one.cpus in (None, "housekeeping", "realtime"):
                continue
            try:
                parse_cpus(one.cpus)
            except ValueError as wrong:
                return f"`{table}[{index}].cpus`: {wrong}"
    return ""


# Findings of `kadenz doctor` that a key takes away when it has one of these values.
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
# The same by the name of a sysctl.
_REMOVES_BY_SYSCTL = {"fs.mqueue.msg_max": "mq-limits", "fs.mqueue.msgsize_max": "mq-limits"}


def removes(tuning: Tuning) -> set[str]:
    """Codes of the findings that this profile takes away, where the machine has the key at all."""
    found = {code for key, (code, values) in _REMOVES.items() if _value(tuning, key) in values}
    if tuning.processor.idle_above_us is not None and tuning.processor.idle_above_us <= 2:
        found.add("idle-states")
    if tuning.memory.stat_interval_s is not None and tuning.memory.stat_interval_s > 1:
        found.add("stat-interval")
    return found | {
        _REMOVES_BY_SYSCTL[one.name] for one in tuning.sysctl if one.name in _REMOVES_BY_SYSCTL
    }


def _value(tuning: Tuning, key: str) -> Any:
    table, _, name = key.partition(".")
    value = getattr(getattr(tuning, table), name)
    return () if value is None else value


def _over(table: FileModel, base: FileModel) -> FileModel:
    said = {
        name: value
        for name in table.__struct_fields__
        if (value := getattr(table, name)) is not None
    }
    return msgspec.structs.replace(base, **said)
