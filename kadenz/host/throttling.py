# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that stop a real-time thread that never sleeps, so that ordinary threads can run.

Until Linux 6.11 there is one mechanism: all real-time threads stop once they have used up
sched_rt_runtime_us of a period. Since 6.12 ("sched/rt: Remove default bandwidth control",
5f6bd380c7bd) kernels have it only with RT_GROUP_SCHED; all others protect ordinary threads by the
fair server, a deadline task for each processor, set in debugfs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kadenz.config import manifest
from kadenz.machine_files import MachineFiles

FAIR_SERVER = "/sys/kernel/debug/sched/fair_server"
_SINCE = (6, 12)


@dataclass(frozen=True)
class Throttling:
    """Both mechanisms; None if unknown."""

    throttles: bool | None  # whether sched_rt_runtime_us stops real-time threads in this kernel
    has_server: bool | None
    server: tuple[tuple[int, int], ...] | None  # runtime and period in ns, by processor


def read_throttling(files: MachineFiles) -> Throttling:
    """Read both below `files`."""
    release = files.text("/proc/sys/kernel/osrelease")
    version = re.match(r"(\d+)\.(\d+)", release)
    has_server = (int(version[1]), int(version[2])) >= _SINCE if version else None
    return Throttling(
        throttles=_with_groups(files, release) if has_server else True if version else None,
        has_server=has_server,
        server=_server(files),
    )


def _with_groups(files: MachineFiles, release: str) -> bool | None:
    """Whether the kernel was built with RT_GROUP_SCHED."""
    if files.glob("/sys/fs/cgroup/cpu*/cpu.rt_runtime_us"):
        return True
    config = files.text(f"/boot/config-{release}")
    return "\nCONFIG_RT_GROUP_SCHED=y\n" in f"\n{config}\n" if config else None


def _server(files: MachineFiles) -> tuple[tuple[int, int], ...] | None:
    """Unavailable before 6.12, without debugfs, for ordinary users, and under lockdown."""
    servers = []
    for folder in files.glob(f"{FAIR_SERVER}/cpu[0-9]*"):
        runtime, period = files.number(f"{folder}/runtime"), files.number(f"{folder}/period")
        if runtime is None or not period:
            return None
        servers.append((runtime, period))
    return tuple(servers) or None


def about_throttling(
    throttling: Throttling, runtime_us: int | None, period_us: int | None
) -> list[manifest.Warning]:
    """The mechanisms in force."""
    warnings = []
    if throttling.throttles and runtime_us is not None and runtime_us >= 0 and period_us:
        warnings.append(
            manifest.Warning(
                code="rt-throttling",
                message=f"the kernel stops real-time threads for {(period_us - runtime_us) / 1e3:g}"
                f" ms of each {period_us / 1e3:g} ms in which they did not sleep "
                f"(sched_rt_runtime_us {runtime_us})",
                remedy="sysctl -w kernel.sched_rt_runtime_us=-1 while measuring: a runaway thread "
                "then hangs its processor"
                + (", where the fair server is off as well" if throttling.has_server else ""),
            )
        )
    on = [(runtime, period) for runtime, period in throttling.server or () if runtime]
    if on:
        runtime, period = max(on, key=lambda server: server[0] / server[1])
        warnings.append(
            manifest.Warning(
                code="fair-server",
                message=f"ordinary threads that wait are served for {runtime / 1e6:g} ms of each "
                f"{period / 1e6:g} ms before real-time threads that do not sleep (fair server, on "
                f"{len(on)} of {len(throttling.server or ())} processors)",
                remedy=f"echo 0 | tee {FAIR_SERVER}/cpu*/runtime while measuring: a runaway thread "
                "then hangs its processor",
            )
        )
    return warnings


def unknown_throttling(throttling: Throttling, runtime_us: int | None) -> dict[str, str]:
    """Reasons for unknown checks, by code."""
    unknown = {}
    if runtime_us is None:
        unknown["rt-throttling"] = "/proc/sys/kernel/sched_rt_runtime_us cannot be read"
    elif throttling.throttles is None and runtime_us >= 0:
        unknown["rt-throttling"] = (
            "cannot determine whether this kernel was built with RT_GROUP_SCHED; without it, "
            "since Linux 6.12, sched_rt_runtime_us stops nothing"
        )
    if throttling.server is None and throttling.has_server is not False:
        unknown["fair-server"] = (
            f"{FAIR_SERVER} cannot be read: debugfs is not mounted, not readable for this user, "
            "or locked down"
        )
    return unknown
