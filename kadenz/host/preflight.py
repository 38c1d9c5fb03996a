# SPDX-License-Identifier: Apache-2.0
"""The preflight: every check of this Linux as a measuring machine, most severe first.

Each finding states its effect on the figures and the claims it invalidates: medians, worst cases,
or both. Instruction counts of emulated and guest targets are unaffected. Sizes of effects are the
kernel's own numbers if available (exit latencies, periods); orders of magnitude come from the
kernel's documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.config import inventory, manifest
from kadenz.config.manifest import PreflightEntry
from kadenz.config.tuning import removes
from kadenz.errors import KadenzError
from kadenz.host.noise import Noise
from kadenz.host.system import System

MEDIANS, WORST_CASES = "medians", "worst-cases"
CLAIMS = (MEDIANS, WORST_CASES)


@dataclass(frozen=True)
class _Check:
    code: str
    invalidates: tuple[str, ...]
    effect: str


# Most severe first.
_CHECKS = (
    _Check(
        "no-sched-fifo",
        CLAIMS,
        "threads compete with every other program: medians and worst cases are those of the load",
    ),
    _Check(
        "rt-budget-zero",
        CLAIMS,
        "threads compete with every other program: medians and worst cases are those of the load",
    ),
    _Check(
        "cpu-quota",
        CLAIMS,
        "adds up to the rest of a quota period (cpu.max, 100 ms by default) to any wake-up",
    ),
    _Check(
        "competing-load",
        CLAIMS,
        "wake-ups wait for kernel locks held by others and find colder caches: the figures are "
        "those of an unnamed load",
    ),
    _Check("tracing", CLAIMS, "adds time to every kernel function that is traced"),
    _Check(
        "lock-checking",
        CLAIMS,
        "lock checking is built into the kernel: each lock operation costs several times as much",
    ),
    _Check(
        "slow-clocksource",
        (MEDIANS,),
        "every time stamp is coarse or needs a system call: adds about 1 us or more to each sample",
    ),
    _Check(
        "governor",
        (MEDIANS,),
        "medians depend on how busy the processor was before: slower by up to the ratio of its "
        "frequencies",
    ),
    _Check("thermal-throttling", (MEDIANS,), "medians depend on the temperature"),
    _Check(
        "idle-states",
        CLAIMS,
        "adds up to the exit latency of the deepest idle state to wake-ups",
    ),
    _Check(
        "virtual-machine",
        (WORST_CASES,),
        "its host adds pauses of unknown length, often milliseconds; medians are valid for this "
        "virtual machine, not for its hardware",
    ),
    _Check("not-preempt-rt", (WORST_CASES,), "wake-ups wait for kernel code of unbounded length"),
    _Check(
        "rt-competitor",
        (WORST_CASES,),
        "programs of higher or nearly equal priority delay the suite for as long as they run",
    ),
    _Check(
        "no-mlock",
        (WORST_CASES,),
        "a page fault in a timed region adds about 1 us, milliseconds when it needs the disk",
    ),
    _Check(
        "smt",
        (),
        "slows a thread down while the other thread of its core is busy, often by 30 to 50 %",
    ),
    _Check(
        "interrupts-everywhere",
        (),
        "device interrupts occur in timed regions: each adds some us, more with its soft "
        "interrupts",
    ),
    _Check("irqbalance", (), "moves interrupts while a run is measured: its conditions drift"),
    _Check(
        "no-isolation",
        (),
        "other programs run on the measured processor in between: caches are colder, and the "
        "kernel works for them there",
    ),
    _Check("nmi-watchdog", (), "adds a non-maskable interrupt of some us every few seconds"),
    _Check("timer-migration", (), "adds a wake-up across processors, some us, to some timers"),
    _Check(
        "numa-balancing", (), "adds page faults of some us while the kernel samples who uses a page"
    ),
    _Check("huge-pages", (), "page faults meanwhile wait for the lock of the memory map"),
    _Check("page-merging", (), "adds a page fault to the first write into a merged page"),
    _Check("stat-interval", (), "a kernel thread runs for some us every second on each processor"),
    _Check(
        "rt-throttling",
        (),
        "adds the rest of a period (50 ms of 1 s by default) to threads that do not sleep; no "
        "effect on benchmarks that wait in between",
    ),
    _Check(
        "fair-server",
        (),
        "adds up to its runtime (50 ms of 1 s by default) to threads that do not sleep while an "
        "ordinary thread waits for their processor; no effect on benchmarks that wait in between",
    ),
    _Check(
        "mq-limits", (), "none on figures: points of itc/message-queue beyond the limit are n/a"
    ),
)


def preflight(
    system: System, warnings: Sequence[manifest.Warning], noise: Noise
) -> list[PreflightEntry]:
    """Every check with its verdict: findings first, each group most severe first."""
    findings = {warning.code: warning for warning in [*warnings, *noise.warnings]}
    unknown = {**_unknown(system), **noise.unknown}
    profiles = _profiles() if findings else {}
    entries = []
    for check in _CHECKS:
        finding = findings.get(check.code)
        why = "" if finding else unknown.get(check.code, "")
        entries.append(
            PreflightEntry(
                code=check.code,
                verdict="finding" if finding else "unknown" if why else "good",
                effect=_effect(check, system),
                invalidates=list(check.invalidates),
                message=finding.message if finding else why,
                remedy=finding.remedy if finding else "",
                tunings=[n for n, gone in profiles.items() if finding and check.code in gone],
            )
        )
    order = {"finding": 0, "unknown": 1, "good": 2}
    return sorted(entries, key=lambda entry: order[entry.verdict])


def _effect(check: _Check, system: System) -> str:
    """The effect, with the kernel's own number if it has one."""
    if check.code == "idle-states" and system.deepest_idle_us:
        return f"adds up to {system.deepest_idle_us} us (exit of the deepest state) to wake-ups"
    if check.code == "governor" and system.frequency_ratio > 1:
        return (
            "medians depend on how busy the processor was before: up to "
            f"{system.frequency_ratio:.1f} times slower"
        )
    return check.effect


def _unknown(system: System) -> dict[str, str]:
    """Unknown checks: mostly those that the host of a virtual machine decides."""
    reasons = {}
    if not system.governors:
        reasons["governor"] = "no cpufreq: this system does not know the frequency"
    if not system.idle_driver and not system.deepest_idle_us:
        reasons["idle-states"] = "no cpuidle: this system does not know the idle states"
    return reasons


def _profiles() -> dict[str, set[str]]:
    """Findings that each tuning profile removes; the profile with the fewest first."""
    removed_by = {}
    try:
        for name in inventory.tuning_files():
            try:
                removed_by[name] = removes(inventory.read_tuning(name)[0])
            except KadenzError:
                continue  # an error in a user's profile: `kadenz tune` reports it
    except KadenzError:
        return {}  # no checkout: there are no profiles
    return dict(sorted(removed_by.items(), key=lambda item: len(item[1])))
