# SPDX-License-Identifier: Apache-2.0
"""The Linux machine that a tuning reads and changes: files below a root, and scheduler calls.

Tests replace the root by a folder and the scheduler calls by files. Writing raises OSError, which
the caller reports item by item.
"""

from __future__ import annotations

import fnmatch
import os
from dataclasses import dataclass

from kadenz.config.processors import parse_cpus, show_cpus
from kadenz.machine_files import MachineFiles

CPU = "/sys/devices/system/cpu"
# Flags of /proc/PID/stat, field 9 (include/linux/sched.h).
_PF_KTHREAD = 0x00200000
_PF_NO_SETAFFINITY = 0x04000000
_PF_WQ_WORKER = 0x00000020
_RESET_ON_FORK = 0x40000000  # SCHED_RESET_ON_FORK, a flag of the policy
_POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}


@dataclass(frozen=True)
class Task:
    """A thread or process; `start` distinguishes it from a later one with the same number."""

    tid: int
    name: str
    start: int  # ticks since boot
    kernel: bool
    bound: bool  # the kernel refuses to change its affinity
    worker: bool  # serves a workqueue, which decides its affinity and priority


class Machine(MachineFiles):
    """Reads and changes the machine below `root`."""

    def write(self, path: str, text: str) -> None:
        """Writes the text and a line feed at once, as files of /proc and /sys require."""
        number = os.open(self.path(path), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(number, f"{text}\n".encode())
        finally:
            os.close(number)

    def make_folder(self, path: str) -> None:
        """Creates a control group."""
        self.path(path).mkdir()

    def remove_folder(self, path: str) -> None:
        """Removes a control group without tasks."""
        self.path(path).rmdir()

    def boot_id(self) -> str:
        """The identity of this boot; a reboot resets all values."""
        return self.read("/proc/sys/kernel/random/boot_id") or ""

    def online(self) -> frozenset[int]:
        """Numbers of the processors that are online."""
        return parse_cpus(self.read(f"{CPU}/online") or "0")

    # ---- tasks -----------------------------------------------------------------------------------
    def task(self, tid: int) -> Task | None:
        """A thread or process by its number, None if it does not exist."""
        stat = self.read(f"/proc/{tid}/stat")
        if stat is None or ")" not in stat:
            return None
        short, _, rest = stat.partition("(")[2].rpartition(")")
        fields = rest.split()
        flags = int(fields[6])
        # /proc/PID/comm has a kernel thread's full name, stat only its first 15 letters.
        name = self.read(f"/proc/{tid}/comm") or short
        kernel = bool(flags & _PF_KTHREAD)
        return Task(
            tid=tid,
            name=name,
            start=int(fields[19]),
            kernel=kernel,
            bound=kernel and bool(flags & _PF_NO_SETAFFINITY),
            worker=kernel and bool(flags & _PF_WQ_WORKER),
        )

    def tasks(self) -> list[Task]:
        """Every process and kernel thread, by number."""
        numbers = sorted(int(p.rpartition("/")[2]) for p in self.glob("/proc/[0-9]*"))
        return [task for number in numbers if (task := self.task(number)) is not None]

    def threads(self, pid: int) -> list[int]:
        """Numbers of a process's threads."""
        return [int(p.rpartition("/")[2]) for p in self.glob(f"/proc/{pid}/task/[0-9]*")]

    def policy(self, tid: int) -> str:
        """ "fifo:50", "other:0"; with "+reset" if children do not inherit it."""
        number = os.sched_getscheduler(tid)
        priority = os.sched_getparam(tid).sched_priority
        reset = "+reset" if number & _RESET_ON_FORK else ""
        return f"{_POLICIES.get(number & ~_RESET_ON_FORK, '?')}:{priority}{reset}"

    def set_policy(self, tid: int, text: str) -> None:
        """Sets a value of `policy`. The nice value of the thread is unchanged."""
        plain = text.removesuffix("+reset")
        name, _, priority = plain.partition(":")
        number = next(n for n, known in _POLICIES.items() if known == name)
        if plain != text:
            number |= _RESET_ON_FORK
        os.sched_setscheduler(tid, number, os.sched_param(int(priority)))

    def affinity(self, tid: int) -> str:
        """The processors of a thread, as a list."""
        return show_cpus(frozenset(os.sched_getaffinity(tid)))

    def set_affinity(self, tid: int, cpus: str) -> None:
        """Sets a value of `affinity`."""
        os.sched_setaffinity(tid, parse_cpus(cpus))


def parse_mask(text: str) -> frozenset[int]:
    """{0, 1} for "3"; commas separate groups of 32 processors, the highest first."""
    bits = int(text.strip().replace(",", "") or "0", 16)
    return frozenset(n for n in range(bits.bit_length()) if bits >> n & 1)


def show_mask(cpus: frozenset[int]) -> str:
    """ "3" for {0, 1}, in groups of 32 as in the kernel."""
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    digits = digits.zfill(-(-len(digits) // 8) * 8) if len(digits) > 8 else digits
    head = len(digits) % 8
    groups = ([digits[:head]] if head else []) + [
        digits[at : at + 8] for at in range(head, len(digits), 8)
    ]
    return ",".join(groups)


def matches(name: str, pattern: str) -> bool:
    """True if a profile's glob matches; case-sensitive."""
    return fnmatch.fnmatchcase(name, pattern)
