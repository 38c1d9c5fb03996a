# SPDX-License-Identifier: Apache-2.0
"""A machine made of files, without a problem until a test adds one."""

from __future__ import annotations

from pathlib import Path

from kadenz.host.facts import Host, read_host
from kadenz.host.limits import Rights
from kadenz.machine_files import MachineFiles

ALL_RIGHTS = Rights(fifo="", mlock="", dma_latency="")
CPU = "/sys/devices/system/cpu"
GOOD = {
    "/etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    "/proc/sys/kernel/ostype": "Linux",
    "/proc/sys/kernel/osrelease": "6.1.0-40-rt-amd64",
    "/proc/sys/kernel/version": "#1 SMP PREEMPT_RT Debian 6.1.153-1",
    "/proc/cpuinfo": "model name\t: AMD Ryzen 7 5800X\nflags\t\t: fpu tsc msr\n",
    "/proc/cmdline": "root=UUID=1 quiet isolcpus=3 nohz_full=3 password=secret",
    "/proc/loadavg": "0.10 0.20 0.30 1/300 4711",
    "/proc/pressure/cpu": "some avg10=0.20 avg60=0.10 avg300=0.00 total=1\n",
    "/proc/self/cgroup": "0::/user.slice",
    "/proc/self/limits": "Max msgqueue size         819200         819200         bytes\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "-1",
    "/proc/sys/kernel/sched_rt_period_us": "1000000",
    "/proc/sys/fs/mqueue/msg_max": "10",
    "/proc/sys/fs/mqueue/msgsize_max": "8192",
    "/sys/fs/cgroup/user.slice/cpu.max": "max 100000",
    "/sys/kernel/realtime": "1",
    f"{CPU}/online": "0-3",
    f"{CPU}/isolated": "3",
    f"{CPU}/nohz_full": "3",
    f"{CPU}/smt/active": "0",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPU}/cpuidle/current_driver": "acpi_idle",
    f"{CPU}/cpu0/cpuidle/state0/latency": "0",
    f"{CPU}/cpu0/cpuidle/state1/latency": "1",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm",
    "/sys/class/dmi/id/sys_vendor": "ASUS",
}


def make(root: Path, **changes: str | None) -> MachineFiles:
    """Writes the good machine with changes by path; None removes a file."""
    files: dict[str, str | None] = {**GOOD, **changes}
    for path, text in files.items():
        if text is not None:
            file = root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return MachineFiles(root)


def host(root: Path, changes: dict[str, str | None], rights: Rights = ALL_RIGHTS) -> Host:
    """The facts that kadenz reads on the good machine with changes."""
    return read_host(make(root, **changes), rights)
