# SPDX-License-Identifier: Apache-2.0
"""A machine made of files, including scheduler calls and control groups."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kadenz.config.processors import parse_cpus, show_cpus
from kadenz.tuning.machine import CPU, Machine

KTHREAD, BOUND, WORKER = 0x00200000, 0x04000000, 0x00000020
EVERYWHERE = "0-3"
# name, flags, policy, affinity
KERNEL_THREADS = {
    2: ("kthreadd", KTHREAD, "other:0", EVERYWHERE),
    14: ("ksoftirqd/0", KTHREAD | BOUND, "other:0", "0"),
    15: ("ksoftirqd/3", KTHREAD | BOUND, "other:0", "3"),
    16: ("ktimers/0", KTHREAD | BOUND, "fifo:1", "0"),
    17: ("ktimers/3", KTHREAD | BOUND, "fifo:1", "3"),
    18: ("rcuc/0", KTHREAD | BOUND, "fifo:1", "0"),
    19: ("migration/0", KTHREAD | BOUND, "fifo:99", "0"),
    20: ("irq/24-eth0", KTHREAD, "fifo:50", EVERYWHERE),
    21: ("irq/25-nvme0q1", KTHREAD, "fifo:49", "3"),
    22: ("kworker/3:1-events", KTHREAD | BOUND | WORKER, "other:0", "3"),
    23: ("kswapd0", KTHREAD, "other:0", EVERYWHERE),
    24: ("rcu_preempt", KTHREAD, "fifo:1+reset", EVERYWHERE),
}
PROGRAMS = {1: "init", 100: "sshd", 101: "bash", 102: "database"}

FILES = {
    "/proc/sys/kernel/random/boot_id": "11111111-2222",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000",
    "/proc/sys/kernel/timer_migration": "1",
    "/proc/sys/kernel/sched_autogroup_enabled": "1",
    "/proc/sys/kernel/numa_balancing": "0",
    "/proc/sys/kernel/nmi_watchdog": "1",
    "/proc/sys/kernel/soft_watchdog": "1",
    "/proc/sys/vm/stat_interval": "1",
    "/proc/sys/vm/swappiness": "60",
    "/proc/sys/vm/compaction_proactiveness": "20",
    "/proc/sys/fs/mqueue/msg_max": "4",
    "/proc/sys/fs/mqueue/msgsize_max": "1024",
    "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
    "/sys/kernel/mm/ksm/run": "1",
    f"{CPU}/online": EVERYWHERE,
    f"{CPU}/intel_pstate/no_turbo": "0",
    f"{CPU}/cpufreq/policy0/scaling_governor": "schedutil",
    f"{CPU}/cpufreq/policy0/scaling_available_governors": "performance schedutil",
    f"{CPU}/cpufreq/policy3/scaling_governor": "schedutil",
    f"{CPU}/cpufreq/policy3/scaling_available_governors": "performance schedutil",
    f"{CPU}/cpu0/cpuidle/state0/latency": "0",
    f"{CPU}/cpu0/cpuidle/state0/disable": "0",
    f"{CPU}/cpu0/cpuidle/state1/latency": "2",
    f"{CPU}/cpu0/cpuidle/state1/disable": "0",
    f"{CPU}/cpu0/cpuidle/state2/latency": "133",
    f"{CPU}/cpu0/cpuidle/state2/name": "C6",
    f"{CPU}/cpu0/cpuidle/state2/disable": "0",
    "/proc/irq/default_smp_affinity": "f",
    "/proc/irq/24/smp_affinity_list": EVERYWHERE,
    "/proc/irq/24/effective_affinity_list": "3",
    "/proc/irq/24/eth0/name": "",
    "/proc/irq/25/smp_affinity_list": "3",
    "/proc/irq/25/nvme0q1/name": "",
    "/sys/devices/virtual/workqueue/cpumask": "f",
    "/sys/devices/virtual/workqueue/writeback/cpumask": "00000000,0000000f",
    "/sys/class/net/eth0/queues/rx-0/rps_cpus": "0",
}
V1 = "/sys/fs/cgroup/cpuset"
V2 = "/sys/fs/cgroup"


class FileMachine(Machine):
    """Imitates the relevant behaviour of a kernel: groups list processes, choices are shown.

    `refuse` makes writing to a path (or setting a thread's policy: "policy:14") fail with an errno.
    Like kernels before 6.2, it forgets a thread's own affinity when its cpuset changes.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.refuse: dict[str, int] = {}
        self.writes = 0

    # ---- scheduler -------------------------------------------------------------------------------
    def _sched(self) -> dict[str, Any]:
        threads: dict[str, Any] = json.loads((self.root / "sched.json").read_text())
        return threads

    def _set(self, tid: int, key: str, value: str) -> None:
        self._may(f"{key}:{tid}")
        table = self._sched()
        table[str(tid)][key] = value
        (self.root / "sched.json").write_text(json.dumps(table))

    def policy(self, tid: int) -> str:
        return str(self._sched()[str(tid)]["policy"])

    def set_policy(self, tid: int, text: str) -> None:
        self._set(tid, "policy", text)

    def affinity(self, tid: int) -> str:
        return str(self._sched()[str(tid)]["affinity"])

    def set_affinity(self, tid: int, cpus: str) -> None:
        self._set(tid, "affinity", cpus)

    # ---- files -----------------------------------------------------------------------------------
    def _may(self, what: str) -> None:
        self.writes += 1
        if what in self.refuse:
            raise OSError(self.refuse[what], "refused")

    def write(self, path: str, text: str) -> None:
        self._may(path)
        if path.endswith("/cgroup.procs"):
            self._move(path.removesuffix("/cgroup.procs"), int(text))
        elif path.endswith("/cgroup.subtree_control"):
            self._control(path.rpartition("/")[0], text)
        elif path.endswith("/transparent_hugepage/enabled"):
            choices = [f"[{w}]" if w == text else w for w in ("always", "madvise", "never")]
            self._put(path, " ".join(choices))
        else:
            if path.endswith("/cpuset.cpus") and not text:
                self._must_be_empty(path)
            self._put(path, text)
            if re.fullmatch(r"/proc/irq/\d+/smp_affinity_list", path):
                self._deliver(path.rpartition("/")[0], parse_cpus(text))
            if path.endswith("/cpuset.cpus"):
                folder = path.rpartition("/")[0]
                for pid in self.path(f"{folder}/cgroup.procs").read_text().split():
                    self._forget(int(pid), text or EVERYWHERE)

    def _must_be_empty(self, path: str) -> None:
        """Same rule as in kernels (observed under 6.1, version 2)."""
        if self.path(f"{path.rpartition('/')[0]}/cgroup.procs").read_text().split():
            raise OSError(errno.ENOSPC, "No space left on device")

    def _deliver(self, folder: str, cpus: frozenset[int]) -> None:
        """An interrupt stays on its processor if allowed, and otherwise moves to the first allowed
        one."""
        effective = self.path(f"{folder}/effective_affinity_list")
        if effective.exists() and not parse_cpus(effective.read_text()) <= cpus:
            effective.write_text(f"{min(cpus)}\n")

    def _put(self, path: str, text: str) -> None:
        assert self.path(path).is_file(), path
        self.path(path).write_text(f"{text}\n")

    def _forget(self, tid: int, cpus: str) -> None:
        table = self._sched()
        table[str(tid)]["affinity"] = show_cpus(parse_cpus(cpus))
        (self.root / "sched.json").write_text(json.dumps(table))

    def _mount(self) -> str:
        return V1 if self.path(V1).is_dir() else V2

    def _move(self, group: str, pid: int) -> None:
        mount = self._mount()
        old = self.path(f"/proc/{pid}/cgroup").read_text().strip().rpartition(":")[2]
        procs = self.path(f"{mount}{old.rstrip('/')}/cgroup.procs")
        procs.write_text("\n".join(w for w in procs.read_text().split() if w != str(pid)))
        with self.path(f"{group}/cgroup.procs").open("a") as file:
            file.write(f"\n{pid}\n")
        below = group.removeprefix(mount) or "/"
        head = "3:cpuset" if mount == V1 else "0:"
        self.path(f"/proc/{pid}/cgroup").write_text(f"{head}:{below}\n")
        cpus = self.read(f"{group}/cpuset.cpus")
        self._forget(pid, cpus or EVERYWHERE)

    def _control(self, folder: str, text: str) -> None:
        self._put(f"{folder}/cgroup.subtree_control", "cpuset" if text == "+cpuset" else "")
        for group in self.path(folder).iterdir():
            if group.is_dir() and (group / "cgroup.procs").exists():
                for name in ("cpuset.cpus", "cpuset.mems"):
                    if text == "+cpuset":
                        (group / name).touch()
                    else:
                        (group / name).unlink(missing_ok=True)

    def make_folder(self, path: str) -> None:
        self._may(path)
        super().make_folder(path)
        for name in ("cpuset.cpus", "cpuset.mems", "cgroup.procs"):
            self.path(f"{path}/{name}").touch()

    def remove_folder(self, path: str) -> None:
        self._may(path)
        assert not self.path(f"{path}/cgroup.procs").read_text().split(), "a group with tasks"
        for file in self.path(path).iterdir():
            file.unlink()
        super().remove_folder(path)

    def snapshot(self) -> dict[str, str]:
        """The visible state of the machine, with sorted process lists."""
        state = {}
        for file in sorted(self.root.rglob("*")):
            name = "/" + str(file.relative_to(self.root))
            if file.is_file() and not name.startswith("/state/"):
                text = file.read_text()
                procs = name.endswith("cgroup.procs")
                state[name] = " ".join(sorted(text.split())) if procs else text.strip()
            elif file.is_dir():
                state[name] = "folder"
        state.pop("/state", None)
        return state


def add_task(machine: FileMachine, tid: int, name: str, flags: int, policy: str, cpus: str) -> None:
    """Adds a thread."""
    stat = f"{tid} ({name[:15]}) S 2 0 0 0 -1 {flags} " + "0 " * 12 + f"{tid * 10} 0"
    for path, text in {
        f"/proc/{tid}/stat": stat,
        f"/proc/{tid}/comm": name,
        f"/proc/{tid}/task/{tid}/comm": name,
    }.items():
        machine.path(path).parent.mkdir(parents=True, exist_ok=True)
        machine.path(path).write_text(text)
    file = machine.root / "sched.json"
    table = json.loads(file.read_text()) if file.exists() else {}
    table[str(tid)] = {"policy": policy, "affinity": cpus}
    file.write_text(json.dumps(table))


def make(
    root: Path, changes: Mapping[str, str | None] | None = None, cgroups: int = 1
) -> FileMachine:
    """The machine with changes by path (None removes a file) and version 1, 2 or 0 of cpuset."""
    machine = FileMachine(root)
    files: dict[str, str | None] = {**FILES, **(changes or {})}
    mount = {0: "", 1: V1, 2: V2}[cgroups]
    if cgroups == 1:
        files["/proc/self/mounts"] = f"cgroup {V1} cgroup rw,relatime,cpuset 0 0"
        files |= {
            f"{V1}/cpuset.cpus": EVERYWHERE,
            f"{V1}/cpuset.mems": "0",
            f"{V1}/cgroup.procs": "1 100 101",
            f"{V1}/shop/cpuset.cpus": "2-3",
            f"{V1}/shop/cpuset.mems": "0",
            f"{V1}/shop/cgroup.procs": "102",
            f"{V1}/shop/inner/cpuset.cpus": "3",
            f"{V1}/shop/inner/cpuset.mems": "0",
            f"{V1}/shop/inner/cgroup.procs": "",
        }
    elif cgroups == 2:
        files["/proc/self/mounts"] = f"cgroup2 {V2} cgroup2 rw,nosuid 0 0"
        files |= {
            f"{V2}/cgroup.controllers": "cpuset cpu memory",
            f"{V2}/cgroup.subtree_control": "",
            f"{V2}/cgroup.procs": "1 100 101",
            f"{V2}/system.slice/cgroup.procs": "102",
        }
    for path, text in files.items():
        if text is not None:
            machine.path(path).parent.mkdir(parents=True, exist_ok=True)
            machine.path(path).write_text(text)
    for tid, (name, flags, policy, cpus) in KERNEL_THREADS.items():
        add_task(machine, tid, name, flags, policy, cpus)
    for pid, name in PROGRAMS.items():
        add_task(machine, pid, name, 0, "other:0", "2" if name == "database" else EVERYWHERE)
        group = "/" if pid != 102 else {1: "/shop", 2: "/system.slice", 0: "/"}[cgroups]
        head = "0:" if mount == V2 else "3:cpuset"
        machine.path(f"/proc/{pid}/cgroup").write_text(f"{head}:{group}\n")
    return machine
