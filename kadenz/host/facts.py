# SPDX-License-Identifier: Apache-2.0
"""The measuring machine, for the manifest, and warnings that a reader must know (rule 9).

Each problem becomes a warning with a stable code and a remedy. None stops a measurement: figures
from an imperfect machine are valid as long as they are labelled.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from kadenz.config import manifest
from kadenz.host.limits import (
    FIFO_PRIORITY,
    Limits,
    Load,
    Rights,
    read_limits,
    read_load,
    try_rights,
)
from kadenz.host.noise import read_noise
from kadenz.host.preflight import preflight
from kadenz.host.system import DEEP_IDLE_US, System, read_system
from kadenz.host.throttling import (
    Throttling,
    about_throttling,
    read_throttling,
    unknown_throttling,
)
from kadenz.machine_files import MachineFiles

# Warnings that prevent a campaign from being measured on this Linux as specified.
NO_RIGHT = frozenset({"no-sched-fifo", "rt-budget-zero", "no-mlock"})
# The largest point of campaigns/yoo2024.toml on Linux: two queues there and back, 3072 bytes.
MQ_QUEUES = 2
MQ_MESSAGES = 10
MQ_BYTES = 3072
# Upper bound of the kernel's overhead per message (mq_overview(7): struct msg_msg and, since Linux
# 3.5, a tree leaf).
_MQ_OVERHEAD_BYTES = 128
# Clock sources that the vDSO reads without a system call (x86-64, arm64, riscv64, KVM guests).
_FAST_CLOCKS = {"tsc", "arch_sys_counter", "riscv_clocksource", "kvm-clock"}
# Threads waited for a processor for more than this share of the last 10 s (/proc/pressure/cpu).
_PRESSURE_PERCENT = 5.0


@dataclass(frozen=True)
class Host:
    """This machine: its entry for the manifest, and the warnings for its figures.

    `preflight` holds every check with its verdict, including those behind the warnings.
    """

    entry: manifest.HostEntry
    warnings: list[manifest.Warning]
    preflight: list[manifest.PreflightEntry] = field(default_factory=list)


def read_host(files: MachineFiles | None = None, rights: Rights | None = None) -> Host:
    """Read this machine and test the rights of this process.

    `files` and `rights` replace the machine in tests. Takes about 50 ms, mostly in the child
    process that tests the rights.
    """
    files = files or MachineFiles()
    rights = rights or try_rights()
    system, limits, load = read_system(files), read_limits(files), read_load(files)
    throttling = read_throttling(files)
    warnings = [
        *_about_the_machine(system, load),
        *_about_the_rights(rights, limits),
        *_about_the_idle_states(system, rights),
        *_about_the_limits(limits, throttling),
    ]
    noise = read_noise(files, system)
    noise.unknown |= unknown_throttling(throttling, limits.rt_runtime_us)
    checks = preflight(system, warnings, noise)
    entry = _entry(system, limits, load, rights)
    entry.facts |= _server_facts(throttling)
    return Host(entry, warnings, checks)


def _entry(system: System, limits: Limits, load: Load, rights: Rights) -> manifest.HostEntry:
    facts = {
        "container": system.container,
        "governor": ", ".join(system.governors),
        "idle_driver": system.idle_driver,
        "deepest_idle_us": str(system.deepest_idle_us),
        "smt": "on" if system.smt else "off",
        "isolated": system.isolated,
        "nohz_full": system.nohz_full,
        "clocksource": system.clocksource,
        "throttled": str(system.throttled),
        "kernel_parameters": system.parameters,
        "rt_runtime_us": _text(limits.rt_runtime_us),
        "rt_period_us": _text(limits.rt_period_us),
        "group_quota": limits.group_quota,
        "mq_msg_max": _text(limits.mq_messages),
        "mq_msgsize_max": _text(limits.mq_bytes),
        "mq_total_bytes": _text(limits.mq_total_bytes),
        "load_1min": f"{load.load_1min:g}",
        "running_threads": str(load.running),
        "cpu_pressure_percent": _text(load.cpu_pressure_percent),
        "sched_fifo": rights.fifo or "yes",
        "mlockall": rights.mlock or "yes",
        "cpu_dma_latency": rights.dma_latency or "yes",
    }
    return manifest.HostEntry(
        os=system.os,
        kernel=system.kernel,
        preempt=system.preempt,
        cpu=system.cpu,
        cpus=system.cpus,
        virtual=system.virtual,
        facts={name: value for name, value in facts.items() if value},
    )


def _server_facts(throttling: Throttling) -> dict[str, str]:
    """Distinct runtimes and periods of the fair server: "50000000/1000000000"."""
    pairs = dict.fromkeys(f"{runtime}/{period}" for runtime, period in throttling.server or ())
    return {"fair_server_ns": ", ".join(pairs)} if pairs else {}


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:g}" if isinstance(number, float) else str(number)


def _about_the_machine(system: System, load: Load) -> list[manifest.Warning]:
    return [
        *_about_the_kernel(system),
        *_about_the_processors(system),
        *_about_other_work(system, load),
    ]


def _about_the_kernel(system: System) -> list[manifest.Warning]:
    warnings = []
    if system.virtual:
        name = "" if system.virtual == "yes" else f" ({system.virtual})"
        warnings.append(
            manifest.Warning(
                code="virtual-machine",
                message=f"this machine is virtual{name}: its host may pause it at any moment, and "
                "its figures make no claim about hardware",
                remedy="Measure on the machine itself",
            )
        )
    if system.preempt != "PREEMPT_RT":
        warnings.append(
            manifest.Warning(
                code="not-preempt-rt",
                message=f"this kernel is {system.preempt}, not PREEMPT_RT: worst cases are not "
                "bounded",
                remedy="Boot a PREEMPT_RT kernel; Debian: apt-get install linux-image-rt-amd64",
            )
        )
    if system.clocksource and system.clocksource not in _FAST_CLOCKS:
        warnings.append(
            manifest.Warning(
                code="slow-clocksource",
                message=f"the clock source is {system.clocksource}: slow to read, or coarse",
                remedy="Find out why the kernel rejected a faster one: dmesg | grep -i clocksource",
            )
        )
    return warnings


def _about_the_processors(system: System) -> list[manifest.Warning]:
    warnings = []
    slow = [name for name in system.governors if name != "performance"]
    if slow:
        warnings.append(
            manifest.Warning(
                code="governor",
                message=f"processors change their frequency (governor {', '.join(slow)})",
                remedy="cpupower frequency-set --governor performance",
            )
        )
    if system.smt:
        warnings.append(
            manifest.Warning(
                code="smt",
                message="two threads share each core (SMT): one slows the other down",
                remedy="echo off > /sys/devices/system/cpu/smt/control",
            )
        )
    if system.throttled:
        warnings.append(
            manifest.Warning(
                code="thermal-throttling",
                message=f"processors were throttled by heat {system.throttled} times since boot",
                remedy="Improve cooling, and check that the count stays constant during a run",
            )
        )
    return warnings


def _about_other_work(system: System, load: Load) -> list[manifest.Warning]:
    waited = load.cpu_pressure_percent
    busy = waited is not None and waited > _PRESSURE_PERCENT
    if not busy and load.running <= 1 + max(1, system.cpus // 2):
        return []
    pressure = "" if waited is None else f", threads waited {waited:g} % of the last 10 s"
    return [
        manifest.Warning(
            code="competing-load",
            message=f"other work runs on this machine: {load.running} threads runnable on "
            f"{system.cpus} processors, load {load.load_1min:g}{pressure}",
            remedy="Stop it, or declare it as a load of the campaign",
        )
    ]


def _about_the_rights(rights: Rights, limits: Limits) -> list[manifest.Warning]:
    warnings = []
    if limits.group_rt_budget:
        warnings.append(
            manifest.Warning(
                code="rt-budget-zero",
                message="the control group of this shell has no real-time budget "
                f"({limits.group_rt_budget} is 0): SCHED_FIFO fails even for root",
                remedy=f"echo 950000 > {limits.group_rt_budget}, or run in the root group: "
                "echo $$ > /sys/fs/cgroup/cpu/tasks",
            )
        )
    elif rights.fifo:
        warnings.append(
            manifest.Warning(
                code="no-sched-fifo",
                message=f"no right to SCHED_FIFO priority {FIFO_PRIORITY} ({rights.fifo}): threads "
                "run at ordinary priority and compete with every other program",
                remedy=_to_get("SYS_NICE", "rtprio 99"),
            )
        )
    if rights.mlock:
        warnings.append(
            manifest.Warning(
                code="no-mlock",
                message=f"no right to lock memory ({rights.mlock}): page faults may occur in timed "
                "regions",
                remedy=_to_get("IPC_LOCK", "memlock unlimited"),
            )
        )
    return warnings


def _to_get(capability: str, limit: str) -> str:
    """The remedy for a right that is missing: to root, what a container lacks."""
    if os.geteuid() == 0:
        return f"A container needs the capability {capability}, and a host that grants it"
    return (
        f"Run as root, or grant the right: `@realtime - {limit}` in "
        "/etc/security/limits.d/realtime.conf, the user in that group, a new login"
    )


def _about_the_idle_states(system: System, rights: Rights) -> list[manifest.Warning]:
    if not rights.dma_latency or system.deepest_idle_us <= DEEP_IDLE_US:
        return []
    return [
        manifest.Warning(
            code="idle-states",
            message=f"processors take up to {system.deepest_idle_us} us to leave idle states, and "
            f"/dev/cpu_dma_latency cannot be held ({rights.dma_latency}): wake-ups are longer",
            remedy="A container needs this device"
            if os.geteuid() == 0
            else "Run as root, or allow it: chmod o+w /dev/cpu_dma_latency",
        )
    ]


def _about_the_limits(limits: Limits, throttling: Throttling) -> list[manifest.Warning]:
    warnings = about_throttling(throttling, limits.rt_runtime_us, limits.rt_period_us)
    if limits.group_quota not in {"", "max"}:
        warnings.append(
            manifest.Warning(
                code="cpu-quota",
                message=f"the control group may use {limits.group_quota} processors and was "
                f"throttled {limits.group_throttled} times",
                remedy="Run outside this group, or raise cpu.max (cpu.cfs_quota_us)",
            )
        )
    warnings += _about_message_queues(limits)
    return warnings


def _about_message_queues(limits: Limits) -> list[manifest.Warning]:
    needed = MQ_QUEUES * MQ_MESSAGES * (MQ_BYTES + _MQ_OVERHEAD_BYTES)
    short = []
    if limits.mq_messages is not None and limits.mq_messages < MQ_MESSAGES:
        short.append(
            (
                f"{limits.mq_messages} messages in a queue",
                f"sysctl -w fs.mqueue.msg_max={MQ_MESSAGES}",
            )
        )
    if limits.mq_bytes is not None and limits.mq_bytes < MQ_BYTES:
        short.append(
            (f"{limits.mq_bytes} bytes in a message", f"sysctl -w fs.mqueue.msgsize_max={MQ_BYTES}")
        )
    if limits.mq_total_bytes is not None and limits.mq_total_bytes < needed:
        short.append((f"{limits.mq_total_bytes} bytes in all queues", f"ulimit -q {needed}"))
    if not short:
        return []
    return [
        manifest.Warning(
            code="mq-limits",
            message=f"message queues are limited to {', '.join(what for what, _ in short)}: "
            f"itc/message-queue needs {MQ_MESSAGES} messages of {MQ_BYTES} bytes in {MQ_QUEUES} "
            "queues",
            remedy=", ".join(how for _, how in short),
        )
    ]
