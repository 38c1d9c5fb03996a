# SPDX-License-Identifier: Apache-2.0
"""mazzi2021 by its own definitions: four metrics of FreeRTOS and RTX5, in cycles at 80 MHz.

A metric of the study is a difference between two of our figures. It is taken with all parameters of
the model at the same end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kadenz.analysis import published
from kadenz.analysis.published import PublishedFigure
from kadenz.lab.plan import Point
from truth.kernels import Kernel, kernels
from truth.rows import Ends, Row
from truth.spans import Build, Parameters, spans
from truth.studies import FLASH_WAIT, STM32F4

NAME = "mazzi2021"
ITERATIONS = 2000
AT_80_MHZ: Parameters = {FLASH_WAIT: 2}
UP_TO_80_MHZ: Parameters = {FLASH_WAIT: (0, 2)}
# By kernel: what the study calls it, and what it sends messages with.
_KERNELS = {"freertos": ("FreeRTOS", "message-buffer"), "cmsis-rtos2": ("Keil RTX5", "queue")}
METRICS = {
    "task-switch": "an iteration less the empty loop",
    "preemption": "one way, by resume",
    "semaphore-shuffle": "give to take, less a switch",
    "message-latency": "{channel}: round less two switches",
}


def metrics(kernel: Kernel, instrument: str, parameters: Parameters) -> dict[str, Ends]:
    """The four metrics, in one execution. `instrument` is `scope` or `model`."""
    batch = {"iterations": ITERATIONS}
    points = (
        Point(10, "micro/task-switch", 1, params=batch),
        Point(11, "micro/preemption-sampled", 200),
        Point(12, "micro/semaphore-shuffle-sampled", 200),
        Point(
            13, "micro/message-latency", 1, params={**batch, "channel": _KERNELS[kernel.name][1]}
        ),
    )
    records = spans(Build(f"{kernel.name}/{STM32F4}", kernel.tree), instrument, parameters, points)

    def ends(number: int) -> list[np.ndarray]:
        record = records[number]
        return [np.asarray(end, float) for end in record.interval or (record.spans,) * 2]

    def an_iteration(number: int) -> Ends:
        """A batch less the empty loop behind it."""
        return Ends(*((float(end[0]) - float(end[1])) / ITERATIONS for end in ends(number)))

    def median(number: int) -> Ends:
        return Ends(*(float(np.median(end)) for end in ends(number)))

    switch = an_iteration(10)
    durations = (switch, median(11), median(12) - switch, an_iteration(13) - switch * 2)
    return dict(zip(METRICS, durations, strict=True))


def means(name: str) -> dict[str, PublishedFigure]:
    """The published figure of each metric for a kernel."""
    published_means = {
        row.benchmark.removeprefix("micro/"): row
        for row in published.load()
        if (row.paper, row.statistic) == (NAME, "mean") and _KERNELS[name][0] in row.kernel
    }
    return {metric: published_means[metric] for metric in METRICS}


def rows(trees: Sequence[tuple[str, Path]]) -> Iterator[Row]:
    """The published means, each by every kernel that concerns it."""
    for name, (theirs, channel) in _KERNELS.items():
        figures = means(name)
        counted = [
            (kernel, metrics(kernel, "scope", {}), metrics(kernel, "model", AT_80_MHZ))
            for kernel in kernels(name, trees)
            if any(kernel.concerns(row) for row in figures.values())
        ]
        for metric, row in figures.items():
            what = f"{metric}: {METRICS[metric].format(channel=channel)}"
            system = f"{row.system.name.partition(' (')[0]}, {theirs}"
            counts_by_kernel = [
                (kernel.title, {"instruction": counts[metric], "cycle-model": cycles[metric]})
                for kernel, counts, cycles in counted
            ]
            for title, ours in counts_by_kernel or [("", {})]:
                yield Row(row, system, title, what, ours, 0, "")
