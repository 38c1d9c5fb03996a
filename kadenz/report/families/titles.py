# SPDX-License-Identifier: Apache-2.0
"""Families with a title and nothing that only they show."""

from __future__ import annotations

from kadenz.report.families import Family

FAMILIES = (
    Family(
        "itc",
        "Communication and synchronisation between tasks",
        10,
        headlines={
            "itc/queue": "queue",
            "itc/message-queue": "message queue",
            "itc/semaphore-counting": "semaphore",
            "itc/mutex": "mutex",
        },
    ),
    Family("micro", "Task switching", 20, headlines={"micro/task-switch-sampled": "task switch"}),
    Family("mix", "Operations between work", 25),
    Family("irq", "Interrupts", 30, headlines={"irq/to-task": "interrupt to task"}),
    Family("inversion", "Priority inversion", 40),
    Family("alloc", "Memory", 90),
    Family("memory", "Copies and fills", 95),
    Family("timer", "Timers that call back", 100),
    Family("sync", "Several threads at once", 110),
    Family("smp", "Two cores", 120),
    Family("cyclic", "Periodic work", 130, headlines={"cyclic/wakeup-latency": "wake-up latency"}),
    Family("interference", "What a thread loses to others", 140),
    Family("workload", "Sets of tasks", 150),
    Family("motion", "Control of six axes", 160),
    Family("ethercat", "EtherCAT", 170),
    Family("control", "Your own master", 175),
    Family("clock", "Clock benchmarks", 1010),
)
