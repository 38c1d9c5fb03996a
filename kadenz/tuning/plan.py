# SPDX-License-Identifier: Apache-2.0
"""The plan of a profile on a machine: changes, values already set, and missing features.

Reads only. Changes are in the order in which they have to be made; restoring reverses it.
"""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from kadenz.config import inventory
from kadenz.config.processors import asked_cpus, parse_cpus, show_cpus
from kadenz.config.tuning import ThreadRule, Tuning
from kadenz.errors import ConfigError
from kadenz.tuning import cpuset
from kadenz.tuning.change import Change, Gone, Kind, current, same
from kadenz.tuning.effects import EFFECTS, Effect
from kadenz.tuning.machine import (
    CPU,
    Machine,
    Task,
    matches,
    parse_mask,
    show_mask,
)

# Throttling is switched off last: without it a mistake in a later change could not be repaired. The
# fair server follows, and is therefore restored first: while sched_rt_runtime_us is -1 the kernel
# admits it regardless of deadline threads (__dl_overflow).
_LAST = {"scheduler.rt_runtime_us": 1, "scheduler.fair_server_runtime_ns": 2}
_FAIR_SERVER = "/sys/kernel/debug/sched/fair_server"
_NO_CPUS = "the profile names no real-time processors; add `,cpus=LIST` to its name"


@dataclass(frozen=True)
class Item:
    """One key of a profile on this machine."""

    key: str  # "scheduler.rt_runtime_us", "thread irq/*"
    wanted: str
    effect: str
    risk: str
    changes: tuple[Change, ...] = ()  # changes to make
    as_wanted: tuple[Change, ...] = ()  # nothing to do: `was` and `value` mean the same
    missing: str = ""  # why this machine lacks it
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """A profile on this machine."""

    profile: str
    tuning: Tuning
    realtime: frozenset[int]
    housekeeping: frozenset[int]
    items: tuple[Item, ...] = field(default=())

    def changes(self) -> list[Change]:
        """Every change, in order."""
        return [change for item in self.items for change in item.changes]


def make_plan(machine: Machine, profile: str, tuning: Tuning, cpus: str = "") -> Plan:
    """The plan of `tuning` on this machine. `cpus` replaces the profile's real-time processors.

    Raises ConfigError if they do not exist or no processor is left for everything else.
    """
    realtime = _realtime(machine, cpus or tuning.placement.realtime or "", cpus)
    housekeeping = machine.online() - realtime
    items = [
        *_files(machine, tuning),
        *_placement(machine, tuning, realtime, housekeeping),
        *_threads(machine, tuning, realtime, housekeeping),
        *_interrupt_rules(machine, tuning, realtime, housekeeping),
        *_sysctls(machine, tuning),
    ]
    items.sort(key=lambda item: _LAST.get(item.key, 0))
    return Plan(profile, tuning, realtime, housekeeping, tuple(_last_word(items)))


def plan_of(machine: Machine, profile: str, cpus: str = "") -> tuple[Plan, str]:
    """The plan of a profile, given by name or file, and the digest of its file."""
    tuning, file = inventory.read_tuning(profile)
    if profile.endswith(".toml"):
        profile = str(file.resolve())  # `verify` may run in another folder
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return make_plan(machine, profile, tuning, cpus), digest


def _last_word(items: Sequence[Item]) -> list[Item]:
    """If two keys concern the same value, the later one decides."""
    decided: set[tuple[str, str, int, int]] = set()
    kept = []
    for item in reversed(items):
        kept.append(_without(item, decided))
        decided |= {change.identity for change in (*item.changes, *item.as_wanted)}
    return kept[::-1]


def _without(item: Item, decided: set[tuple[str, str, int, int]]) -> Item:
    """The item without values that a later key overrides."""
    changes = tuple(c for c in item.changes if c.identity not in decided)
    as_wanted = tuple(c for c in item.as_wanted if c.identity not in decided)
    gone = bool(item.changes or item.as_wanted) and not (changes or as_wanted)
    missing = "a later rule of the profile overrides it" if gone else item.missing
    return replace(item, changes=changes, as_wanted=as_wanted, missing=missing)


def _realtime(machine: Machine, text: str, asked: str) -> frozenset[int]:
    online = machine.online()
    ordered = sorted(online)
    if text == "":
        return frozenset()
    if text in ("last", "upper-half"):
        if len(ordered) == 1:
            return frozenset()  # _placement reports that no processor can be isolated
        return frozenset(ordered[-1:] if text == "last" else ordered[-(len(ordered) // 2) :])
    where = "`cpus`" if asked else "`placement.realtime`"
    wanted = asked_cpus(where, text)
    if not wanted <= online:
        raise ConfigError(
            f"{where} {text}: not on this machine", remedy=f"It has {show_cpus(online)}"
        )
    if wanted == online:
        raise ConfigError(
            f"{where} {text}: no processor is left for everything else",
            remedy=f"Leave at least one of {show_cpus(online)} out",
        )
    return wanted


# ---- one file or a group of files with one value -------------------------------------------------
def _files(machine: Machine, tuning: Tuning) -> Iterable[Item]:
    scheduler, memory, watchdog = tuning.scheduler, tuning.memory, tuning.watchdog
    kernel, vm, mm = "/proc/sys/kernel", "/proc/sys/vm", "/sys/kernel/mm"
    simple: list[tuple[str, str, object, Kind]] = [
        (
            "scheduler.timer_migration",
            f"{kernel}/timer_migration",
            scheduler.timer_migration,
            "text",
        ),
        ("scheduler.autogroup", f"{kernel}/sched_autogroup_enabled", scheduler.autogroup, "text"),
        ("scheduler.numa_balancing", f"{kernel}/numa_balancing", scheduler.numa_balancing, "text"),
        (
            "memory.transparent_hugepages",
            f"{mm}/transparent_hugepage/enabled",
            memory.transparent_hugepages,
            "choice",
        ),
        ("memory.same_page_merging", f"{mm}/ksm/run", memory.same_page_merging, "text"),
        (
            "memory.proactive_compaction",
            f"{vm}/compaction_proactiveness",
            memory.proactive_compaction,
            "text",
        ),
        ("memory.swappiness", f"{vm}/swappiness", memory.swappiness, "text"),
        ("memory.stat_interval_s", f"{vm}/stat_interval", memory.stat_interval_s, "text"),
        ("watchdog.hard", f"{kernel}/nmi_watchdog", watchdog.hard, "text"),
        ("watchdog.soft", f"{kernel}/soft_watchdog", watchdog.soft, "text"),
        (
            "scheduler.rt_runtime_us",
            f"{kernel}/sched_rt_runtime_us",
            scheduler.rt_runtime_us,
            "text",
        ),
    ]
    for key, path, value, kind in simple:
        if value is not None:
            text = str(int(value)) if isinstance(value, bool) else str(value)
            yield _item(
                machine, key, text, [Change(key=key, kind=kind, path=path, was="", value=text)]
            )
    yield from _fair_server(machine, tuning)
    yield from _frequency(machine, tuning)
    yield from _idle_states(machine, tuning)


def _fair_server(machine: Machine, tuning: Tuning) -> Iterable[Item]:
    runtime = tuning.scheduler.fair_server_runtime_ns
    if runtime is None:
        return
    key, value = "scheduler.fair_server_runtime_ns", str(runtime)
    changes = [
        Change(key=key, kind="text", path=path, was="", value=value)
        for path in machine.glob(f"{_FAIR_SERVER}/cpu[0-9]*/runtime")
    ]
    missing = (
        f"{_FAIR_SERVER} cannot be read: Linux before 6.12 has none; debugfs is not mounted, or "
        "locked (kernel_lockdown)"
    )
    yield _item(machine, key, value, changes, missing)


def _frequency(machine: Machine, tuning: Tuning) -> Iterable[Item]:
    processor = tuning.processor
    if processor.governor is not None:
        key, wanted = "processor.governor", processor.governor
        folders = machine.glob(f"{CPU}/cpufreq/policy[0-9]*")
        offers = {f: machine.read(f"{f}/scaling_available_governors") for f in folders}
        able = [f for f, offer in offers.items() if offer is None or wanted in offer.split()]
        missing = f"no {CPU}/cpufreq/policy*: this system cannot set the frequency"
        if folders:
            missing = f"the driver offers {offers[folders[0]]}"
        changes = [
            Change(key=key, kind="text", path=f"{f}/scaling_governor", was="", value=wanted)
            for f in able
        ]
        yield _item(machine, key, wanted, changes, missing)
    if processor.turbo is not None:
        key = "processor.turbo"
        no_turbo, boost = f"{CPU}/intel_pstate/no_turbo", f"{CPU}/cpufreq/boost"
        inverted = machine.exists(no_turbo)
        value = str(int(processor.turbo != inverted))
        path = no_turbo if inverted else boost
        change = Change(key=key, kind="text", path=path, was="", value=value)
        wanted = "on" if processor.turbo else "off"
        yield _item(machine, key, wanted, [change], f"neither {no_turbo} nor {boost}")


def _idle_states(machine: Machine, tuning: Tuning) -> Iterable[Item]:
    limit = tuning.processor.idle_above_us
    if limit is None:
        return
    key, changes = "processor.idle_above_us", []
    states = machine.glob(f"{CPU}/cpu[0-9]*/cpuidle/state[0-9]*")
    for state in states:
        latency = machine.read(f"{state}/latency") or ""
        if latency.isdigit() and int(latency) > limit:
            name = f"{machine.read(f'{state}/name') or 'state'}, {latency} us"
            changes.append(
                Change(key=key, kind="text", path=f"{state}/disable", was="", value="1", name=name)
            )
    missing = (
        f"no idle state has an exit latency above {limit} us"
        if states
        else "no cpuidle: this system cannot choose idle states"
    )
    yield _item(machine, key, f"states above {limit} us off", changes, missing)


def _sysctls(machine: Machine, tuning: Tuning) -> Iterable[Item]:
    for setting in tuning.sysctl:
        key = f"sysctl {setting.name}"
        path = f"/proc/sys/{setting.name.replace('.', '/')}"
        change = Change(key=key, kind="text", path=path, was="", value=str(setting.value))
        effect = Effect(setting.effect, setting.risk)
        yield _item(machine, key, str(setting.value), [change], effect=effect)


# ---- placement -----------------------------------------------------------------------------------
def _placement(
    machine: Machine, tuning: Tuning, realtime: frozenset[int], housekeeping: frozenset[int]
) -> Iterable[Item]:
    placement = tuning.placement
    wanted = f"processors {show_cpus(housekeeping)}"
    for name in (
        "interrupts",
        "new_interrupts",
        "workqueues",
        "receive_steering",
        "user_tasks",
        "kernel_threads",
    ):
        if getattr(placement, name) is None:
            continue
        key = f"placement.{name}"
        if placement.receive_steering == "off" and name == "receive_steering":
            changes = [_mask(machine, key, p, frozenset()) for p in _queues(machine)]
            yield _item(machine, key, "off", _existing(changes), "no network device")
            continue
        if not realtime:
            why = (
                "only one processor: it cannot be isolated"
                if len(machine.online()) == 1
                else _NO_CPUS
            )
            yield _item(machine, key, "housekeeping processors", [], why)
            continue
        note, missing = "", "none exists"
        if name == "interrupts":
            changes = [
                _interrupt(machine, key, n, realtime, housekeeping) for n in _numbers(machine)
            ]
            if any(task.name == "irqbalance" for task in machine.tasks()):
                note = "irqbalance is running and moves interrupts: stop it first"
        elif name == "new_interrupts":
            path = "/proc/irq/default_smp_affinity"
            changes = [_mask(machine, key, path, housekeeping, keep=realtime)]
        elif name == "workqueues":
            changes = [
                _mask(machine, key, path, housekeeping, keep=realtime)
                for pattern in ("cpumask", "*/cpumask")
                for path in machine.glob(f"/sys/devices/virtual/workqueue/{pattern}")
            ]
        elif name == "receive_steering":
            changes = [_mask(machine, key, path, housekeeping) for path in _queues(machine)]
            missing = "no network device"
        elif name == "user_tasks":
            confined, missing = cpuset.confine(machine, key, realtime, housekeeping)
            changes = list(confined)
        else:
            continue  # _threads: rules for single threads come before it
        yield _item(machine, key, wanted, _existing(changes), missing, note=note)


def _queues(machine: Machine) -> list[str]:
    return machine.glob("/sys/class/net/*/queues/rx-*/rps_cpus")


def _numbers(machine: Machine) -> list[str]:
    return [p.rpartition("/")[2] for p in machine.glob("/proc/irq/[0-9]*")]


def _away(cpus: frozenset[int], realtime: frozenset[int], housekeeping: frozenset[int]) -> str:
    """Keeps processors chosen by others, except real-time processors."""
    return show_cpus(cpus - realtime or housekeeping)


def _mask(
    machine: Machine,
    key: str,
    path: str,
    cpus: frozenset[int],
    keep: frozenset[int] = frozenset(),
) -> Change | None:
    text = machine.read(path)
    if text is None:
        return None
    value = cpus if not keep else (parse_mask(text) - keep or cpus)
    return Change(key=key, kind="mask", path=path, was="", value=show_mask(value))


def _interrupt(
    machine: Machine,
    key: str,
    number: str,
    realtime: frozenset[int],
    housekeeping: frozenset[int],
) -> Change | None:
    path = f"/proc/irq/{number}/smp_affinity_list"
    text = machine.read(path)
    if not text:
        return None
    value = _away(parse_cpus(text), realtime, housekeeping)
    return _arrives(machine, key, number, value)


def _arrives(machine: Machine, key: str, number: str, cpus: str) -> Change:
    folder = f"/proc/irq/{number}"
    return Change(
        key=key,
        kind="cpus",
        path=f"{folder}/smp_affinity_list",
        was="",
        value=cpus,
        name=", ".join(_devices(machine, number)),
        inside=machine.read(f"{folder}/effective_affinity_list") or "",
    )


def _devices(machine: Machine, number: str) -> list[str]:
    """The devices of an interrupt: each has a folder with its name."""
    return [p.rpartition("/")[2] for p in machine.glob(f"/proc/irq/{number}/*/")]


def _interrupt_rules(
    machine: Machine, tuning: Tuning, realtime: frozenset[int], housekeeping: frozenset[int]
) -> Iterable[Item]:
    for index, rule in enumerate(tuning.interrupt):
        key, changes = f"interrupt {rule.match}", []
        cpus = _named(rule.cpus, realtime, housekeeping)
        later = [other.match for other in tuning.interrupt[index + 1 :]]
        for number in _numbers(machine):
            names = _devices(machine, number)
            if fnmatch.filter(names, rule.match) and not any(
                fnmatch.filter(names, m) for m in later
            ):
                changes.append(_arrives(machine, key, number, cpus))
        missing = f"no interrupt of a device `{rule.match}`"
        if not cpus:
            changes, missing = [], _NO_CPUS
        yield _item(machine, key, f"processors {cpus}", changes, missing, note=rule.note)


def _named(text: str, realtime: frozenset[int], housekeeping: frozenset[int]) -> str:
    known = {"realtime": realtime, "housekeeping": housekeeping if realtime else frozenset()}
    return show_cpus(known[text]) if text in known else text


# ---- kernel threads ------------------------------------------------------------------------------
def _threads(
    machine: Machine, tuning: Tuning, realtime: frozenset[int], housekeeping: frozenset[int]
) -> Iterable[Item]:
    rules = tuning.thread
    everywhere = tuning.placement.kernel_threads is not None and bool(realtime)
    if not rules and not everywhere:
        return
    tasks = [task for task in machine.tasks() if task.kernel]
    for index, rule in enumerate(rules):
        mine = [t for t in tasks if matches(t.name, rule.match)]
        yield from _one_rule(machine, rule, mine, rules[index + 1 :], realtime, housekeeping)
    if everywhere:
        key = "placement.kernel_threads"
        placed = [rule.match for rule in rules if rule.cpus is not None]
        free = [
            t
            for t in tasks
            if not (t.bound or t.worker or t.name.startswith("irq/"))
            and not any(matches(t.name, pattern) for pattern in placed)
        ]
        changes = [_affinity(machine, key, t, realtime, housekeeping) for t in free]
        bound = sum(1 for t in tasks if t.bound)
        note = f"{bound} threads stay: the kernel bound them to a processor"
        wanted = f"processors {show_cpus(housekeeping)}"
        yield _item(machine, key, wanted, _existing(changes), "none exists", note=note)


def _one_rule(
    machine: Machine,
    rule: ThreadRule,
    tasks: list[Task],
    later: Sequence[ThreadRule],
    realtime: frozenset[int],
    housekeeping: frozenset[int],
) -> Iterable[Item]:
    missing = f"no kernel thread `{rule.match}`" + (f": {rule.note}" if rule.note else "")
    if rule.policy is not None:
        wanted = f"{rule.policy}:{rule.priority or 0}"
        key = f"thread {rule.match}"
        overruled = [r.match for r in later if r.policy is not None]
        changes: list[Change | None] = [
            Change(
                key=key, kind="policy", tid=t.tid, start=t.start, name=t.name, was="", value=wanted
            )
            for t in tasks
            if not any(matches(t.name, pattern) for pattern in overruled)
        ]
        if tasks and not changes:
            missing = "a later rule overrides it"
        yield _item(machine, key, wanted, _existing(changes), missing, note=rule.note)
    if rule.cpus is not None:
        key = f"thread {rule.match} cpus"
        cpus = _named(rule.cpus, realtime, housekeeping)
        overruled = [r.match for r in later if r.cpus is not None]
        changes = [
            Change(
                key=key, kind="affinity", tid=t.tid, start=t.start, name=t.name, was="", value=cpus
            )
            for t in tasks
            if not t.bound and not any(matches(t.name, pattern) for pattern in overruled)
        ]
        if not cpus:
            changes, missing = [], _NO_CPUS
        elif tasks and not changes:
            missing = "the kernel bound them to their processors, or a later rule overrides it"
        yield _item(machine, key, f"processors {cpus}", _existing(changes), missing, note=rule.note)


def _affinity(
    machine: Machine,
    key: str,
    task: Task,
    realtime: frozenset[int],
    housekeeping: frozenset[int],
) -> Change | None:
    try:
        now = parse_cpus(machine.affinity(task.tid))
    except OSError:
        return None
    return Change(
        key=key,
        kind="affinity",
        tid=task.tid,
        start=task.start,
        name=task.name,
        was="",
        value=_away(now, realtime, housekeeping),
    )


# ---- items ---------------------------------------------------------------------------------------
def _existing(changes: Iterable[Change | None]) -> list[Change]:
    return [change for change in changes if change is not None]


def _item(
    machine: Machine,
    key: str,
    wanted: str,
    changes: Sequence[Change],
    missing: str = "",
    *,
    note: str = "",
    effect: Effect | None = None,
) -> Item:
    """Reads current values and separates necessary changes from values already set."""
    to_do: list[Change] = []
    done: list[Change] = []
    for change in changes:
        if change.kind in ("group", "move", "group-cpus", "controller"):
            read = change.was  # read by cpuset.py: the group may not exist yet
        else:
            try:
                read = current(machine, change)
            except (Gone, OSError):
                continue
        full = msgspec.structs.replace(change, was=read)
        (done if same(full, read, full.value) else to_do).append(full)
    if not to_do and not done and not missing:
        missing = f"no {changes[0].path}" if changes and changes[0].path else "none exists"
    effect = effect or EFFECTS.get(key) or EFFECTS[_family(key)]
    return Item(
        key=key,
        wanted=wanted,
        effect=effect.effect,
        risk=effect.risk,
        changes=tuple(to_do),
        as_wanted=tuple(done),
        missing="" if to_do or done else missing,
        note=note if to_do or done else "",
    )


def _family(key: str) -> str:
    if key.startswith("thread "):
        return "thread.cpus" if key.endswith(" cpus") else "thread"
    return key.partition(" ")[0]
