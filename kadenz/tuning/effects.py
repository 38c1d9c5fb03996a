# SPDX-License-Identifier: Apache-2.0
"""The effect of each key of a tuning profile on latencies, and its risk.

Sources: the kernel's documentation (admin-guide/sysctl, admin-guide/pm, core-api/irq,
admin-guide/cgroup-v1/cpusets, admin-guide/cgroup-v2, core-api/workqueue, timers/no_hz,
networking/scaling) and sched(7), unless an entry names another.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effect:
    """The effect of one key, and its cost or risk."""

    effect: str
    risk: str


EFFECTS: dict[str, Effect] = {
    "scheduler.rt_runtime_us": Effect(
        "real-time threads are no longer stopped for the rest of a period once they have used up "
        "their share (50 ms of each second are reserved by default). Since Linux 6.12 this only "
        "applies with RT_GROUP_SCHED; other kernels use it to bound deadline threads, and stop "
        "real-time threads by the fair server (5f6bd380c7bd)",
        "if the fair server is off as well, a real-time thread that never sleeps hangs its "
        "processor until power-off; deadline threads are admitted without limit",
    ),
    "scheduler.fair_server_runtime_ns": Effect(
        "at 0 waiting ordinary threads no longer interrupt real-time threads that do not sleep (50 "
        "ms of each second by default, Linux 6.12 and newer)",
        "at 0 a real-time thread that never sleeps hangs its processor until power-off; the kernel "
        "logs a warning",
    ),
    "scheduler.timer_migration": Effect(
        "timers expire on the processor that set them instead of another one that is awake, which "
        "avoids a wake-up across processors",
        "idle processors wake up more often: more power",
    ),
    "scheduler.autogroup": Effect(
        "nice values apply across sessions: a load started in another terminal gets no share of "
        "its own; no effect on SCHED_FIFO",
        "a busy build slows the desktop down",
    ),
    "scheduler.numa_balancing": Effect(
        "the kernel no longer unmaps pages to sample their users, which avoids page faults",
        "memory stays on the node that first touched it, even if that node is slower",
    ),
    "processor.governor": Effect(
        "the frequency no longer depends on previous load: the first wake-up after a pause is as "
        "fast as the others",
        "more heat, which may end in throttling",
    ),
    "processor.turbo": Effect(
        "without turbo the frequency does not depend on temperature and other cores: less spread",
        "lower speed: medians increase by the ratio of the frequencies",
    ),
    "processor.idle_above_us": Effect(
        "wake-ups no longer include the exit from a deep idle state; permanent, whereas "
        "/dev/cpu_dma_latency only applies while a benchmark runs",
        "more power and heat; a sibling thread or core loses turbo",
    ),
    "memory.transparent_hugepages": Effect(
        "pages are not merged into huge pages, and khugepaged does not scan: fewer page faults, "
        "and no waiting for the lock of the memory map",
        "programs that use much memory miss the TLB more often",
    ),
    "memory.same_page_merging": Effect(
        "ksmd does not scan; pages stay as they are",
        "virtual machines on this host need more memory",
    ),
    "memory.proactive_compaction": Effect(
        "kcompactd does not move pages in the background; a moved page is a page fault",
        "allocating large contiguous memory fails more often",
    ),
    "memory.swappiness": Effect(
        "pages of programs stay in memory longer; no effect on locked memory and therefore none on "
        "the suite",
        "less file cache when memory is short",
    ),
    "memory.stat_interval_s": Effect(
        "each processor folds its memory counters less often: saves one kworker wake-up per second "
        "and processor (the default is 1 s)",
        "/proc/vmstat and tools show outdated memory counters",
    ),
    "watchdog.hard": Effect(
        "no non-maskable interrupts from the hard lock-up detector; frees a performance counter",
        "a processor that hangs with interrupts off is not reported",
    ),
    "watchdog.soft": Effect(
        "no watchdog timer every 4 s on each processor, and no run of its stopper thread at the "
        "highest priority",
        "a processor that hangs in the kernel is not reported",
    ),
    "placement.interrupts": Effect(
        "devices only interrupt the housekeeping processors; interrupt threads follow their "
        "interrupts",
        "housekeeping processors carry all interrupts; a fast device may saturate them",
    ),
    "placement.new_interrupts": Effect(
        "new interrupts start there as well", "as placement.interrupts"
    ),
    "placement.kernel_threads": Effect(
        "kernel threads that are not bound to a processor run on the housekeeping ones",
        "kernel work for real-time threads runs elsewhere: caches are colder",
    ),
    "placement.workqueues": Effect(
        "unbound kernel work runs on the housekeeping processors; work bound to a processor stays",
        "writeback and other work has fewer processors",
    ),
    "placement.receive_steering": Effect(
        "protocol work for received packets runs on the housekeeping processors, even if the "
        "kernel does not allow moving the interrupt",
        "one inter-processor interrupt per batch of packets",
    ),
    "placement.user_tasks": Effect(
        "programs and their children run on the housekeeping processors (cpuset); only kadenz "
        "starts its suite on all processors. Unlike with isolcpus=, nohz_full= and rcu_nocbs= at "
        "boot, the processor stays in the scheduler's domains and keeps its tick and its own "
        "kernel threads",
        "programs have fewer processors; those pinned to a real-time processor are moved off it",
    ),
    "thread": Effect(
        "decides which thread runs first if a wake-up and kernel work coincide: a thread is never "
        "delayed by threads of lower priority",
        "kernel threads above a program delay it; a program that never sleeps starves kernel "
        "threads below it, and hangs everything that waits for them",
    ),
    "thread.cpus": Effect(
        "these kernel threads only run there",
        "work that waits for them depends on those processors",
    ),
    "interrupt": Effect(
        "these interrupts and their threads only run there",
        "they interrupt that processor",
    ),
}
