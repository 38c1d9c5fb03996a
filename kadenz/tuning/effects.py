# SPDX-License-Identifier: Apache-2.0
"""What each key of a tuning profile does to latencies, and what it risks.

Sources: the kernel's documentation (admin-guide/sysctl, admin-guide/pm, core-api/irq,
admin-guide/cgroup-v1/cpusets, admin-guide/cgroup-v2, core-api/workqueue, timers/no_hz,
networking/scaling) and sched(7), unless an entry names another.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effect:
    """One key: why it is set, and what it costs or endangers."""

    effect: str
    risk: str


EFFECTS: dict[str, Effect] = {
    "scheduler.rt_runtime_us": Effect(
        "real-time threads are no longer stopped for the rest of each period in which they used up "
        "their share (50 ms of each second by default). Since Linux 6.12 kernels without "
        "RT_GROUP_SCHED never stop them by it: there it only bounds deadline threads, and the fair "
        "server stops real-time ones (5f6bd380c7bd)",
        "where no fair server is left either, a real-time thread that never sleeps hangs its "
        "processor until power-off; deadline threads are admitted without limit",
    ),
    "scheduler.fair_server_runtime_ns": Effect(
        "at 0 ordinary threads that wait are no longer served before real-time threads that do not "
        "sleep (50 ms of each second by default, Linux from 6.12 on)",
        "at 0 a real-time thread that never sleeps hangs its processor until power-off: the kernel "
        "warns of it in its log",
    ),
    "scheduler.timer_migration": Effect(
        "timers expire on the processor that set them, not on another that happens to be awake: "
        "one wake-up across processors less",
        "idle processors wake up more often: more power",
    ),
    "scheduler.autogroup": Effect(
        "nice values hold between sessions: a load started in another terminal does not get a "
        "share of its own; no effect on SCHED_FIFO",
        "a busy build slows the desktop down",
    ),
    "scheduler.numa_balancing": Effect(
        "the kernel no longer unmaps pages to see who touches them: no page faults from that",
        "memory stays on the node where it was first touched, also when that is the slower one",
    ),
    "processor.governor": Effect(
        "the frequency no longer depends on how busy the processor was: the first wake-up after a "
        "pause runs as fast as the others",
        "more heat, which may end in throttling",
    ),
    "processor.turbo": Effect(
        "without turbo the frequency does not depend on temperature and on what other cores do: "
        "less spread",
        "lower speed: medians grow by the ratio of the frequencies",
    ),
    "processor.idle_above_us": Effect(
        "wake-ups no longer include the exit of a deep idle state; holds for everything on the "
        "machine, where /dev/cpu_dma_latency holds while a benchmark runs",
        "more power and heat; a sibling thread or core loses turbo",
    ),
    "memory.transparent_hugepages": Effect(
        "no page is merged into a huge one, and khugepaged does not scan: no faults and no waiting "
        "for a locked memory map from that",
        "programs with large memories miss the TLB more often",
    ),
    "memory.same_page_merging": Effect(
        "ksmd does not scan; pages stay as they are",
        "virtual machines on this one need more memory",
    ),
    "memory.proactive_compaction": Effect(
        "kcompactd does not move pages in the background; a moved page is a page fault",
        "large contiguous memory is harder to get",
    ),
    "memory.swappiness": Effect(
        "pages of programs stay in memory longer; no effect on locked memory, so none on the suite",
        "less file cache when memory is short",
    ),
    "memory.stat_interval_s": Effect(
        "each processor folds its memory counters less often: one kworker wake-up a second and "
        "processor less (the default is 1 s)",
        "/proc/vmstat and the free memory of tools lag behind",
    ),
    "watchdog.hard": Effect(
        "no non-maskable interrupt of the hard lock-up detector, which nothing can hold off; frees "
        "a performance counter",
        "a processor that hangs with interrupts off is not reported",
    ),
    "watchdog.soft": Effect(
        "no watchdog timer every 4 s on each processor, and its stopper thread of highest "
        "priority does not run",
        "a processor that hangs in the kernel is not reported",
    ),
    "placement.interrupts": Effect(
        "devices interrupt only the housekeeping processors; interrupt threads follow their "
        "interrupts",
        "housekeeping processors carry all interrupts; a fast device may saturate them",
    ),
    "placement.new_interrupts": Effect(
        "interrupts requested from now on start there too", "as placement.interrupts"
    ),
    "placement.kernel_threads": Effect(
        "kernel threads that are not bound to a processor run on the housekeeping ones",
        "kernel work for real-time threads is done elsewhere: caches are colder",
    ),
    "placement.workqueues": Effect(
        "unbound kernel work is done on the housekeeping processors; work bound to a processor "
        "stays",
        "writeback and others have fewer processors",
    ),
    "placement.receive_steering": Effect(
        "protocol work for packets received runs on the housekeeping processors, also for "
        "interrupts the kernel does not let us move",
        "an inter-processor interrupt for each batch of packets",
    ),
    "placement.user_tasks": Effect(
        "programs, and what they start, run on the housekeeping processors (cpuset); kadenz alone "
        "starts its suite on all of them. The processor stays in the scheduler's domains: unlike "
        "isolcpus=, nohz_full= and rcu_nocbs= at boot, its tick and its own kernel threads remain",
        "every program has fewer processors; one that pinned itself to a real-time processor is "
        "moved off it",
    ),
    "thread": Effect(
        "decides who is served first when a wake-up and kernel work fall together: what is above "
        "is never delayed by what is below",
        "kernel threads above a program delay it; a program above kernel threads that never sleeps "
        "starves them, and what waits for them hangs",
    ),
    "thread.cpus": Effect(
        "these kernel threads run there only", "what waits for them waits for those processors"
    ),
    "interrupt": Effect(
        "these interrupts, and their threads, arrive there only",
        "the processor named is interrupted by them",
    ),
}
