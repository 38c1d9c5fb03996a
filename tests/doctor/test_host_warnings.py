# SPDX-License-Identifier: Apache-2.0
"""Each problem that spoils a measurement on Linux is named, with a remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kadenz.config import manifest
from kadenz.host.facts import read_host
from kadenz.host.limits import Rights, try_rights
from kadenz.machine_files import MachineFiles

from . import machine
from .machine import ALL_RIGHTS, CPU

Changes = dict[str, str | None]


def test_a_good_machine_has_no_warning(tmp_path: Path) -> None:
    host = machine.host(tmp_path, {})
    assert host.warnings == []
    entry = host.entry
    assert entry.os == "Debian GNU/Linux 12 (bookworm)"
    assert entry.kernel == "6.1.0-40-rt-amd64"
    assert entry.preempt == "PREEMPT_RT"
    assert entry.cpu == "AMD Ryzen 7 5800X"
    assert entry.cpus == 4
    assert entry.virtual == ""
    assert entry.facts["isolated"] == "3"
    assert entry.facts["governor"] == "performance"


def test_an_unreadable_machine_is_described_without_failing(tmp_path: Path) -> None:
    host = read_host(MachineFiles(tmp_path), ALL_RIGHTS)
    assert [warning.code for warning in host.warnings] == ["not-preempt-rt"]
    assert host.entry.preempt == "no PREEMPT"


def test_processors_are_counted_without_sys_mounted(tmp_path: Path) -> None:
    changes: Changes = {
        f"{CPU}/online": None,
        "/proc/cpuinfo": "processor\t: 0\nflags\t: fpu\n\nprocessor\t: 1\nflags\t: fpu\n",
    }
    assert machine.host(tmp_path, changes).entry.cpus == 2


def test_only_relevant_kernel_parameters_are_published(tmp_path: Path) -> None:
    facts = machine.host(tmp_path, {}).entry.facts
    assert facts["kernel_parameters"] == "isolcpus=3 nohz_full=3"
    assert "secret" not in str(facts)


@pytest.mark.parametrize(
    ("changes", "code", "message", "remedy"),
    [
        (
            {"/proc/cpuinfo": "model name\t: EPYC\nflags\t: fpu hypervisor\n"},
            "virtual-machine",
            "this machine is virtual:",
            "Measure on the machine itself",
        ),
        (
            {
                "/sys/kernel/realtime": None,
                "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian",
            },
            "not-preempt-rt",
            "PREEMPT_DYNAMIC, not PREEMPT_RT",
            "linux-image-rt-amd64",
        ),
        (
            {f"{CPU}/cpu1/cpufreq/scaling_governor": "schedutil"},
            "governor",
            "governor schedutil",
            "cpupower frequency-set",
        ),
        ({f"{CPU}/smt/active": "1"}, "smt", "share each core", "smt/control"),
        (
            {f"{CPU}/cpu2/thermal_throttle/core_throttle_count": "7"},
            "thermal-throttling",
            "processors were throttled by heat 7 times",
            "cooling",
        ),
        (
            {"/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"},
            "slow-clocksource",
            "clock source is hpet",
            "dmesg",
        ),
        (
            {"/proc/pressure/cpu": "some avg10=31.50 avg60=0.00 avg300=0.00 total=1"},
            "competing-load",
            "waited 31.5 % of the last 10 s",
            "Stop it",
        ),
        (
            {"/proc/loadavg": "6.00 2.00 1.00 9/300 4711", "/proc/pressure/cpu": None},
            "competing-load",
            "9 threads runnable on 4 processors",
            "Stop it",
        ),
        (
            {"/proc/sys/kernel/sched_rt_runtime_us": "950000"},
            "rt-throttling",
            "for 50 ms of each 1000 ms",
            "kernel.sched_rt_runtime_us=-1",
        ),
        (
            {
                "/proc/sys/kernel/osrelease": "6.12.43-rt-amd64",
                "/proc/sys/kernel/sched_rt_runtime_us": "950000",
                "/boot/config-6.12.43-rt-amd64": "CONFIG_X=y\nCONFIG_RT_GROUP_SCHED=y\n",
            },
            "rt-throttling",
            "for 50 ms of each 1000 ms",
            "fair server is off as well",
        ),
        (
            {
                "/proc/sys/kernel/osrelease": "6.12.43-rt-amd64",
                "/proc/sys/kernel/sched_rt_runtime_us": "950000",
                "/boot/config-6.12.43-rt-amd64": "# CONFIG_RT_GROUP_SCHED is not set\n",
                "/sys/kernel/debug/sched/fair_server/cpu0/runtime": "0",
                "/sys/kernel/debug/sched/fair_server/cpu0/period": "1000000000",
                "/sys/kernel/debug/sched/fair_server/cpu1/runtime": "50000000",
                "/sys/kernel/debug/sched/fair_server/cpu1/period": "1000000000",
            },
            "fair-server",
            "for 50 ms of each 1000 ms before real-time threads that do not sleep (fair server, on "
            "1 of 2 processors)",
            "echo 0",
        ),
        (
            {
                "/sys/fs/cgroup/user.slice/cpu.max": "150000 100000",
                "/sys/fs/cgroup/user.slice/cpu.stat": "nr_periods 9\nnr_throttled 4\n",
            },
            "cpu-quota",
            "may use 1.5 processors and was throttled 4 times",
            "cpu.max",
        ),
        (
            {
                "/proc/self/cgroup": "4:cpu,cpuacct:/build\n1:memory:/\n",
                "/sys/fs/cgroup/cpu,cpuacct/build/cpu.rt_runtime_us": "0",
            },
            "rt-budget-zero",
            "no real-time budget",
            "echo 950000 > /sys/fs/cgroup/cpu,cpuacct/build/cpu.rt_runtime_us",
        ),
        (
            {
                "/proc/self/cgroup": "4:cpu,cpuacct:/build\n",
                "/sys/fs/cgroup/cpu/build/cpu.cfs_quota_us": "50000",
                "/sys/fs/cgroup/cpu/build/cpu.cfs_period_us": "100000",
            },
            "cpu-quota",
            "may use 0.5 processors",
            "cfs_quota_us",
        ),
        (
            {"/proc/sys/fs/mqueue/msg_max": "4"},
            "mq-limits",
            "limited to 4 messages in a queue",
            "sysctl -w fs.mqueue.msg_max=10",
        ),
        (
            {"/proc/sys/fs/mqueue/msgsize_max": "1024"},
            "mq-limits",
            "1024 bytes in a message",
            "sysctl -w fs.mqueue.msgsize_max=3072",
        ),
        (
            {"/proc/self/limits": "Max msgqueue size         4096     4096     bytes\n"},
            "mq-limits",
            "4096 bytes in all queues",
            "ulimit -q 64000",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value and " " not in value else "",
)
def test_a_problem_of_the_machine_is_named_with_its_remedy(
    changes: Changes, code: str, message: str, remedy: str, tmp_path: Path
) -> None:
    warnings = machine.host(tmp_path, changes).warnings
    assert [warning.code for warning in warnings] == [code]
    assert message in warnings[0].message
    assert remedy in warnings[0].remedy


def _only(warnings: list[manifest.Warning]) -> manifest.Warning:
    assert len(warnings) == 1, warnings
    return warnings[0]


@pytest.mark.parametrize(
    "rights", [Rights("EPERM", "", ""), Rights("", "ENOMEM", ""), Rights("", "", "ENOENT")]
)
@pytest.mark.parametrize("root", [True, False])
def test_root_is_not_told_to_be_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: bool, rights: Rights
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    deep: Changes = {f"{CPU}/cpu0/cpuidle/state2/latency": "133"}
    remedy = _only(machine.host(tmp_path, deep, rights).warnings).remedy
    assert remedy.startswith("A container needs" if root else "Run as root, or")


def test_no_right_to_real_time_priority_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    warning = _only(machine.host(tmp_path, {}, Rights("EPERM", "", "")).warnings)
    assert warning.code == "no-sched-fifo"
    assert "no right to SCHED_FIFO priority 97 (EPERM)" in warning.message
    assert "rtprio 99" in warning.remedy


def test_an_empty_budget_explains_a_refused_priority(tmp_path: Path) -> None:
    changes: Changes = {
        "/proc/self/cgroup": "1:cpu:/build\n",
        "/sys/fs/cgroup/cpu/build/cpu.rt_runtime_us": "0",
    }
    warning = _only(machine.host(tmp_path, changes, Rights("EPERM", "", "")).warnings)
    assert warning.code == "rt-budget-zero"


def test_no_right_to_lock_memory_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    warning = _only(machine.host(tmp_path, {}, Rights("", "ENOMEM", "")).warnings)
    assert warning.code == "no-mlock"
    assert "no right to lock memory (ENOMEM)" in warning.message
    assert "memlock unlimited" in warning.remedy


def test_deep_sleep_is_a_problem_only_if_it_cannot_be_prevented(tmp_path: Path) -> None:
    deep: Changes = {
        f"{CPU}/cpu0/cpuidle/state2/latency": "133",
        f"{CPU}/cpu0/cpuidle/state3/latency": "400",
        f"{CPU}/cpu0/cpuidle/state3/disable": "1",
    }
    assert machine.host(tmp_path, deep).warnings == []
    warning = _only(machine.host(tmp_path, deep, Rights("", "", "EACCES")).warnings)
    assert warning.code == "idle-states"
    assert "up to 133 us" in warning.message


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"/sys/class/dmi/id/sys_vendor": "QEMU"}, "QEMU"),
        ({"/sys/class/dmi/id/product_name": "VMware Virtual Platform"}, "VMware"),
        (
            {
                "/sys/devices/system/clocksource/clocksource0/available_clocksource": (
                    "tsc kvm-clock"
                )
            },
            "KVM",
        ),
        ({}, "yes"),
    ],
)
def test_the_hypervisor_is_named_if_known(changes: Changes, name: str, tmp_path: Path) -> None:
    guest: Changes = {"/proc/cpuinfo": "model name : X\nflags : fpu hypervisor\n", **changes}
    assert machine.host(tmp_path, guest).entry.virtual == name


def test_a_rented_bare_machine_is_not_virtual(tmp_path: Path) -> None:
    changes: Changes = {"/sys/class/dmi/id/sys_vendor": "Amazon EC2"}
    assert machine.host(tmp_path, changes).entry.virtual == ""


def test_an_arm_guest_is_recognised_by_its_device_tree(tmp_path: Path) -> None:
    arm: Changes = {
        "/proc/cpuinfo": "processor : 0\nBogoMIPS : 50.00\nFeatures : fp asimd\n",
        "/proc/device-tree/model": "linux,dummy-virt\0",
        "/sys/class/dmi/id/sys_vendor": None,
    }
    assert machine.host(tmp_path / "bare", arm).entry.virtual == ""
    guest: Changes = {**arm, "/proc/device-tree/fw-cfg@9020000/compatible": "qemu,fw-cfg-mmio"}
    entry = machine.host(tmp_path / "guest", guest).entry
    assert entry.virtual == "QEMU"
    assert entry.cpu == "linux,dummy-virt"


def test_rights_are_actually_tried() -> None:
    """A child without limits and capabilities is denied root's rights."""
    give_up = """
import ctypes, errno, json, os, resource  # while they can still be read
for limit in (resource.RLIMIT_RTPRIO, resource.RLIMIT_MEMLOCK): resource.setrlimit(limit, (0, 0))
if os.getuid() == 0: os.setuid(65534)
"""
    rights = try_rights(give_up)
    assert rights.fifo == "EPERM"
    assert rights.mlock in {"EPERM", "ENOMEM"}
