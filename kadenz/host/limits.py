# SPDX-License-Identifier: Apache-2.0
"""Limits of this process: real-time priority, locked memory, queues, processor share.

Rights are tested in a child process: limits, capabilities and control groups decide together, and
no file shows the result. The rest is read below a root that tests replace.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass

from kadenz.machine_files import MachineFiles

# The highest priority the suite uses on Linux: cyclictest's customary 97.
FIFO_PRIORITY = 97

# Runs in a child process, so that nothing changes in this one. mlockall with MCL_CURRENT |
# MCL_FUTURE (1 | 2) is the call of the suite's Linux port. /dev/cpu_dma_latency is held open during
# measurements on Linux (kernel documentation, power/pm_qos_interface).
_TRIAL = f"""
import ctypes, errno, json, os
def name(number): return errno.errorcode.get(number, str(number))
answer = {{"fifo": "", "mlock": "", "dma_latency": ""}}
try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({FIFO_PRIORITY}))
except OSError as error: answer["fifo"] = name(error.errno)
libc = ctypes.CDLL(None, use_errno=True)
if libc.mlockall(3) != 0: answer["mlock"] = name(ctypes.get_errno())
try: os.close(os.open("/dev/cpu_dma_latency", os.O_WRONLY))
except OSError as error: answer["dma_latency"] = name(error.errno)
print(json.dumps(answer))
"""


@dataclass(frozen=True)
class Rights:
    """Results of the tests: "" if permitted, otherwise the error's name ("EPERM")."""

    fifo: str
    mlock: str
    dma_latency: str


@dataclass(frozen=True)
class Limits:
    """Limits set by the kernel and the control group; None if unknown."""

    rt_runtime_us: int | None  # of each rt_period_us; -1: no limit
    rt_period_us: int | None
    group_rt_budget: str  # path of the file that denies this group a real-time budget, or ""
    group_quota: str  # "max", or the number of processors this group may use, or ""
    group_throttled: int  # times the group was throttled by its quota
    mq_messages: int | None  # most messages in one queue
    mq_bytes: int | None  # most bytes in one message
    mq_total_bytes: int | None  # of all queues of one user (RLIMIT_MSGQUEUE); None: no limit


@dataclass(frozen=True)
class Load:
    """Other work: one-minute load, runnable threads now, share of stalled time in the last 10 s."""

    load_1min: float
    running: int
    cpu_pressure_percent: float | None


def try_rights(before: str = "") -> Rights:
    """Test them in a child process. It first runs the Python code `before`: tests drop rights
    there."""
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", before + _TRIAL],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return Rights(**json.loads(answer.stdout))


def read_limits(files: MachineFiles) -> Limits:
    """Read the limits of this process below `files`."""
    groups = _groups(files)
    quota, throttled = _quota(files, groups)
    return Limits(
        rt_runtime_us=files.number("/proc/sys/kernel/sched_rt_runtime_us"),
        rt_period_us=files.number("/proc/sys/kernel/sched_rt_period_us"),
        group_rt_budget=_empty_rt_budget(files, groups),
        group_quota=quota,
        group_throttled=throttled,
        mq_messages=files.number("/proc/sys/fs/mqueue/msg_max"),
        mq_bytes=files.number("/proc/sys/fs/mqueue/msgsize_max"),
        mq_total_bytes=_rlimit(files, "Max msgqueue size"),
    )


def read_load(files: MachineFiles) -> Load:
    """Read the other work. The reading process itself counts as one runnable thread."""
    fields = files.text("/proc/loadavg").split()
    pressure = re.search(r"^some avg10=([\d.]+)", files.text("/proc/pressure/cpu"), re.MULTILINE)
    return Load(
        load_1min=float(fields[0]) if fields else 0.0,
        running=int(fields[3].partition("/")[0]) if len(fields) > 3 else 0,
        cpu_pressure_percent=float(pressure.group(1)) if pressure else None,
    )


def _groups(files: MachineFiles) -> dict[str, str]:
    """Folders of this process's control groups by controller; "" is the unified hierarchy."""
    folders = {}
    for line in files.text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        names = controllers.split(",")
        mounts = [""] if controllers == "" else [controllers, *names]
        for mount in mounts:
            folder = f"/sys/fs/cgroup/{mount}{path if path != '/' else ''}".rstrip("/")
            if files.exists(folder):
                for name in names:
                    folders[name] = folder
                break
    return folders


def _empty_rt_budget(files: MachineFiles, groups: dict[str, str]) -> str:
    """With RT_GROUP_SCHED a new group has no real-time budget until one is assigned."""
    path = f"{groups['cpu']}/cpu.rt_runtime_us" if "cpu" in groups else ""
    return path if path and files.number(path) == 0 else ""


def _quota(files: MachineFiles, groups: dict[str, str]) -> tuple[str, int]:
    """The group's share of the processors, and how often it was throttled."""
    quota, throttled = "", 0
    if "cpu" in groups:
        share = files.number(f"{groups['cpu']}/cpu.cfs_quota_us")
        period = files.number(f"{groups['cpu']}/cpu.cfs_period_us")
        if share is not None and period:
            quota = "max" if share < 0 else f"{share / period:g}"
        throttled = _throttled(files, groups["cpu"])
    if "" in groups and not quota:
        fields = files.text(f"{groups['']}/cpu.max").split()
        if len(fields) == 2:
            quota = "max" if fields[0] == "max" else f"{int(fields[0]) / int(fields[1]):g}"
        throttled = _throttled(files, groups[""])
    return quota, throttled


def _throttled(files: MachineFiles, folder: str) -> int:
    match = re.search(r"^nr_throttled (\d+)", files.text(f"{folder}/cpu.stat"), re.MULTILINE)
    return int(match.group(1)) if match else 0


def _rlimit(files: MachineFiles, name: str) -> int | None:
    """The soft limit in a row of /proc/self/limits; None if unlimited or unknown."""
    match = re.search(rf"^{re.escape(name)}\s+(\S+)", files.text("/proc/self/limits"), re.MULTILINE)
    return int(match.group(1)) if match and match.group(1) != "unlimited" else None
