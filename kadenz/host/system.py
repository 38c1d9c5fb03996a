# SPDX-License-Identifier: Apache-2.0
"""This machine: kernel, processor, virtualisation, processor settings.

Everything is read from /proc and /sys below a root that tests replace. A missing or unreadable file
reads as "" and is never an error: kernels differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kadenz.config.processors import parse_cpus
from kadenz.machine_files import MachineFiles

# Words in the DMI strings of virtual machines (systemd's detection reads the same files).
_VIRTUAL_DMI = {
    "kvm": "KVM",
    "qemu": "QEMU",
    "vmware": "VMware",
    "virtualbox": "VirtualBox",
    "innotek": "VirtualBox",
    "xen": "Xen",
    "microsoft corporation virtual": "Hyper-V",
    "parallels": "Parallels",
    "bochs": "Bochs",
    "openstack": "OpenStack",
    "google compute engine": "Google Compute Engine",
    "amazon ec2": "Amazon EC2",
    "firecracker": "Firecracker",
    "apple virtualization": "Apple Virtualization",
}
# Clock sources available only to guests.
_VIRTUAL_CLOCKS = {
    "kvm-clock": "KVM",
    "hyperv_clocksource_tsc_page": "Hyper-V",
    "xen": "Xen",
}
# Parameters that change latencies (kernel documentation, admin-guide/kernel-parameters).
_PARAMETERS = {
    "clocksource",
    "hpet",
    "idle",
    "intel_idle.max_cstate",
    "irqaffinity",
    "isolcpus",
    "kthread_cpus",
    "mce",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nosmt",
    "nosoftlockup",
    "nowatchdog",
    "preempt",
    "processor.max_cstate",
    "rcu_nocb_poll",
    "rcu_nocbs",
    "rcupdate.rcu_normal_after_boot",
    "skew_tick",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
}
# An exit latency that affects a 1 kHz loop. cyclictest and the suite set /dev/cpu_dma_latency to 0.
DEEP_IDLE_US = 2


@dataclass(frozen=True)
class System:
    """The current state of the machine; unknown fields are "" or empty."""

    os: str
    kernel: str
    preempt: str
    cpu: str
    cpus: int
    virtual: str
    container: str
    governors: tuple[str, ...]  # of the processors' frequency, each once
    idle_driver: str
    deepest_idle_us: int  # exit latency of the deepest state that is not switched off
    smt: bool  # two active threads share a core
    isolated: str
    nohz_full: str
    clocksource: str
    parameters: str  # parameters of the kernel's command line that change latencies
    throttled: int  # times the processors were throttled by heat since boot
    frequency_ratio: float = 1.0  # highest over lowest frequency; 1 if unknown


def read_system(files: MachineFiles) -> System:
    """Read the machine below `files`."""
    cpuinfo = files.text("/proc/cpuinfo")
    return System(
        os=_os_name(files),
        kernel=files.text("/proc/sys/kernel/osrelease"),
        preempt=_preempt(files),
        cpu=_cpu(cpuinfo, files),
        cpus=len(parse_cpus(files.text("/sys/devices/system/cpu/online")))
        or len(re.findall(r"^processor\s*:", cpuinfo, re.MULTILINE)),
        virtual=_virtual(cpuinfo, files),
        container=_container(files),
        governors=tuple(
            sorted(
                {
                    text
                    for path in files.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq")
                    if (text := files.text(f"{path}/scaling_governor"))
                }
            )
        ),
        idle_driver=_named(files.text("/sys/devices/system/cpu/cpuidle/current_driver")),
        deepest_idle_us=_deepest_idle(files),
        smt=files.text("/sys/devices/system/cpu/smt/active") == "1",
        isolated=files.text("/sys/devices/system/cpu/isolated"),
        nohz_full=_named(files.text("/sys/devices/system/cpu/nohz_full")),
        clocksource=files.text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        parameters=_parameters(files.text("/proc/cmdline")),
        throttled=sum(
            files.number(path) or 0
            for path in files.glob(
                "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"
            )
        ),
        frequency_ratio=_frequency_ratio(files),
    )


def _frequency_ratio(files: MachineFiles) -> float:
    folder = "/sys/devices/system/cpu/cpu0/cpufreq"
    highest = files.number(f"{folder}/cpuinfo_max_freq")
    lowest = files.number(f"{folder}/cpuinfo_min_freq")
    return highest / lowest if highest and lowest else 1.0


def _parameters(command_line: str) -> str:
    """The parameters to publish; a command line may also hold names, addresses and secrets."""
    kept = [word for word in command_line.split() if word.partition("=")[0] in _PARAMETERS]
    return " ".join(kept)


def _named(text: str) -> str:
    """Kernels write "none" or "(null)" for an empty list."""
    return "" if text in {"none", "(null)"} else text


def _os_name(files: MachineFiles) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)"?', files.text("/etc/os-release"), re.MULTILINE)
    return match.group(1) if match else files.text("/proc/sys/kernel/ostype")


def _preempt(files: MachineFiles) -> str:
    """The kernel's preemption model, from its version string."""
    version = files.text("/proc/sys/kernel/version")
    if files.text("/sys/kernel/realtime") == "1" or re.search(r"PREEMPT[_ ]RT", version):
        return "PREEMPT_RT"
    match = re.search(r"PREEMPT(?:_DYNAMIC)?", version)
    return match.group(0) if match else "no PREEMPT"


def _cpu(cpuinfo: str, files: MachineFiles) -> str:
    for key in ("model name", "uarch", "Model", "Hardware", "isa"):
        match = re.search(rf"^{key}\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
        if match:
            return match.group(1).strip()
    return files.text("/proc/device-tree/model")


def _virtual(cpuinfo: str, files: MachineFiles) -> str:
    """Name of the hypervisor; "yes" if it has no name, "" on a real machine."""
    dmi = " ".join(
        files.text(f"/sys/class/dmi/id/{name}")
        for name in ("sys_vendor", "product_name", "board_vendor", "bios_vendor")
    ).lower()
    named = next((name for word, name in _VIRTUAL_DMI.items() if word in dmi), "")
    clocks = files.text(
        "/sys/devices/system/clocksource/clocksource0/available_clocksource"
    ).split()
    by_clock = next((name for clock, name in _VIRTUAL_CLOCKS.items() if clock in clocks), "")
    tree = files.text("/proc/device-tree/hypervisor/compatible")
    if not tree and files.glob("/proc/device-tree/fw-cfg@*"):
        tree = "QEMU"
    # On x86 CPUID leaf 1, ECX bit 31 marks a guest; /proc/cpuinfo shows it as a flag. The flag
    # decides: a rented bare machine has its owner's DMI strings but no flag.
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    if flags:
        return (named or by_clock or "yes") if "hypervisor" in flags.group(1).split() else ""
    return named or by_clock or tree


def _container(files: MachineFiles) -> str:
    if files.exists("/.dockerenv"):
        return "Docker"
    if files.exists("/run/.containerenv"):
        return "Podman"
    return files.text("/run/systemd/container")


def _deepest_idle(files: MachineFiles) -> int:
    """Exit latency in us of the deepest enabled idle state of cpu0; 0 without idle states."""
    deepest = 0
    for state in files.glob("/sys/devices/system/cpu/cpu0/cpuidle/state[0-9]*"):
        if files.text(f"{state}/disable") != "1":
            deepest = max(deepest, files.number(f"{state}/latency") or 0)
    return deepest
