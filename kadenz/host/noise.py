# SPDX-License-Identifier: Apache-2.0
"""Occasional disturbances: settings and programs that are common on a Linux machine.

They are findings of the preflight but not warnings of a run: nearly every machine has them, and
each has a small effect.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kadenz.config import manifest
from kadenz.config.processors import parse_cpus, show_cpus
from kadenz.host.system import System
from kadenz.machine_files import MachineFiles

# The suite's threads on Linux use priorities up to 97, those of the studies 90 and 95.
_SUITE_PRIORITY = 90
_PF_KTHREAD = 0x00200000  # include/linux/sched.h
_SCHED_FIFO, _SCHED_RR = 1, 2


@dataclass
class Noise:
    """Findings with remedies, and reasons for unknown checks, by code."""

    warnings: list[manifest.Warning] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)

    def say(self, code: str, message: str, remedy: str) -> None:
        """Adds a warning with its remedy."""
        self.warnings.append(manifest.Warning(code=code, message=message, remedy=remedy))


def read_noise(files: MachineFiles, system: System) -> Noise:
    """Checks for each disturbance below `files`."""
    noise = Noise()
    _settings(files, system, noise)
    _kernel(files, noise)
    _placement(files, system, noise)
    _programs(files, noise)
    return noise


def _settings(files: MachineFiles, system: System, noise: Noise) -> None:
    kernel, vm = "/proc/sys/kernel", "/proc/sys/vm"
    if system.cpus > 1 and files.number(f"{kernel}/timer_migration") == 1:
        noise.say(
            "timer-migration",
            "timers may expire on another processor than the one that set them",
            "sysctl -w kernel.timer_migration=0",
        )
    nodes = len(files.glob("/sys/devices/system/node/node[0-9]*"))
    if nodes > 1 and (files.number(f"{kernel}/numa_balancing") or 0) > 0:
        noise.say(
            "numa-balancing",
            f"the kernel migrates pages between {nodes} memory nodes (NUMA balancing)",
            "sysctl -w kernel.numa_balancing=0",
        )
    if "[always]" in files.text("/sys/kernel/mm/transparent_hugepage/enabled"):
        noise.say(
            "huge-pages",
            "the kernel merges pages of all programs into huge pages",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        )
    if files.number("/sys/kernel/mm/ksm/run") == 1:
        noise.say(
            "page-merging",
            "the kernel merges identical pages (KSM)",
            "echo 0 > /sys/kernel/mm/ksm/run",
        )
    if files.number(f"{kernel}/nmi_watchdog") == 1:
        seconds = files.number(f"{kernel}/watchdog_thresh") or 10
        noise.say(
            "nmi-watchdog",
            f"the hard lock-up detector interrupts each busy processor every {seconds} s and "
            "cannot be masked",
            "sysctl -w kernel.nmi_watchdog=0",
        )
    if files.number(f"{vm}/stat_interval") == 1:
        noise.say(
            "stat-interval",
            "the kernel folds memory counters on each processor every second",
            "sysctl -w vm.stat_interval=120",
        )


def _kernel(files: MachineFiles, noise: Noise) -> None:
    if files.exists("/proc/lockdep"):
        noise.say(
            "lock-checking",
            "this kernel checks its locks (CONFIG_LOCKDEP)",
            "Boot a kernel that was built without debugging",
        )
    for folder in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        tracer = files.text(f"{folder}/current_tracer")
        if tracer:
            if tracer != "nop" and files.text(f"{folder}/tracing_on") == "1":
                noise.say(
                    "tracing",
                    f"the kernel's tracer `{tracer}` is on",
                    f"echo nop > {folder}/current_tracer",
                )
            return
    noise.unknown["tracing"] = "tracefs is not mounted or not readable for this user"


def _placement(files: MachineFiles, system: System, noise: Noise) -> None:
    if system.cpus < 2:
        return
    _isolation(files, system, noise)
    lists = [files.text(p) for p in files.glob("/proc/irq/[0-9]*/smp_affinity_list")]
    wide = sum(1 for text in lists if text and len(parse_cpus(text)) >= system.cpus)
    if wide:
        noise.say(
            "interrupts-everywhere",
            f"{wide} of {len(lists)} interrupts may arrive on every processor",
            "Write the other processors to /proc/irq/*/smp_affinity_list, or irqaffinity= at boot",
        )


def _isolation(files: MachineFiles, system: System, noise: Noise) -> None:
    """Checks that other programs may not run on the processors meant to be isolated."""
    apart = _meant_apart(files, system)
    if not apart:
        noise.say(
            "no-isolation",
            "no processor is isolated from other programs",
            "isolcpus=, nohz_full= and rcu_nocbs= at boot",
        )
        return
    inside = [
        (f"{name} ({number})", cpus)
        for number, name, _ in _user_programs(files)
        if (cpus := _allowed(files, number) & apart)
    ]
    if inside:
        names = ", ".join(name for name, _ in inside[:3])
        more = f" and {len(inside) - 3} more" if len(inside) > 3 else ""
        entered = show_cpus(frozenset().union(*(cpus for _, cpus in inside)))
        noise.say(
            "no-isolation",
            f"processors {show_cpus(apart)} are meant to be isolated, but other programs may run "
            f"on {entered}: {names}{more}",
            "Reapply the tuning (kadenz tune restore, then apply), or move them: taskset -a -p -c "
            "LIST NUMBER",
        )


def _meant_apart(files: MachineFiles, system: System) -> frozenset[int]:
    """Processors isolated by isolcpus=, an isolated partition (cgroup version 2) or `isolated`."""
    isolated = parse_cpus(system.isolated)
    isolated |= parse_cpus(files.text("/sys/fs/cgroup/cpuset.cpus.isolated"))
    online = parse_cpus(files.text("/sys/devices/system/cpu/online"))
    for mount in ("/sys/fs/cgroup/cpuset", "/sys/fs/cgroup"):
        group = f"{mount}/kadenz-housekeeping/cpuset.cpus"
        others = parse_cpus(files.text(f"{group}.effective") or files.text(group))
        if others:
            isolated |= online - others
    return isolated & online


def _allowed(files: MachineFiles, number: str) -> frozenset[int]:
    """The processors on which affinity and control groups let a program run."""
    text = files.text(f"/proc/{number}/status")
    match = re.search(r"^Cpus_allowed_list:\s*(\S+)$", text, re.MULTILINE)
    return parse_cpus(match[1]) if match else frozenset()


def _user_programs(files: MachineFiles) -> Iterator[tuple[str, str, list[str]]]:
    """PID, name and the following fields of /proc/PID/stat of every program except this one."""
    for path in files.glob("/proc/[0-9]*/stat"):
        before, _, rest = files.text(path).rpartition(")")
        number, _, name = before.partition(" (")
        fields = rest.split()
        if len(fields) < 39 or int(fields[6]) & _PF_KTHREAD or number == str(os.getpid()):
            continue
        yield number, name, fields


def _programs(files: MachineFiles, noise: Noise) -> None:
    competitors = []
    for number, name, fields in _user_programs(files):
        if name == "irqbalance":
            noise.say(
                "irqbalance",
                "irqbalance is running and moves interrupts",
                "systemctl stop irqbalance",
            )
        priority, policy = int(fields[37]), int(fields[38])  # fields 40 and 41 of proc(5)
        if policy in (_SCHED_FIFO, _SCHED_RR) and priority >= _SUITE_PRIORITY:
            competitors.append(f"{name} ({number}) at {priority}")
    if competitors:
        more = f" and {len(competitors) - 3} more" if len(competitors) > 3 else ""
        noise.say(
            "rt-competitor",
            f"programs run with real-time priority: {', '.join(competitors[:3])}{more}",
            "Stop them, or lower their priority below 90: chrt -f -p 80 NUMBER",
        )
