# SPDX-License-Identifier: Apache-2.0
"""Names of the system calls that sleep, by number: a recording may have the numbers alone.

Sources: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
"""

from __future__ import annotations

_X86_64 = """
0 read, 1 write, 7 poll, 16 ioctl, 19 readv, 23 select, 24 sched_yield, 34 pause, 35 nanosleep,
43 accept, 44 sendto, 45 recvfrom, 46 sendmsg, 47 recvmsg, 61 wait4, 65 semop, 70 msgrcv, 74 fsync,
75 fdatasync, 128 rt_sigtimedwait, 202 futex, 220 semtimedop, 230 clock_nanosleep, 232 epoll_wait,
242 mq_timedsend, 243 mq_timedreceive, 247 waitid, 270 pselect6, 271 ppoll, 281 epoll_pwait,
288 accept4, 299 recvmmsg, 426 io_uring_enter, 441 epoll_pwait2, 455 futex_wait
"""
_GENERIC = """
22 epoll_pwait, 29 ioctl, 63 read, 64 write, 65 readv, 72 pselect6, 73 ppoll, 82 fsync,
83 fdatasync, 95 waitid, 98 futex, 101 nanosleep, 115 clock_nanosleep, 124 sched_yield,
137 rt_sigtimedwait, 182 mq_timedsend, 183 mq_timedreceive, 188 msgrcv, 192 semtimedop, 193 semop,
202 accept, 206 sendto, 207 recvfrom, 211 sendmsg, 212 recvmsg, 242 accept4, 243 recvmmsg,
260 wait4, 426 io_uring_enter, 441 epoll_pwait2, 455 futex_wait
"""


def _table(text: str) -> dict[int, str]:
    pairs = (entry.split() for entry in text.split(","))
    return {int(number): name for number, name in pairs}


_TABLES = {
    "x86_64": _table(_X86_64),
    "aarch64": _table(_GENERIC),
    "riscv64": _table(_GENERIC),
    "loongarch64": _table(_GENERIC),
}


def names_of(machine: str) -> dict[int, str]:
    """The calls of a machine, as `uname -m` names it, by number; empty for others."""
    return _TABLES.get(machine, {})
