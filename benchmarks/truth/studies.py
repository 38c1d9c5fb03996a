# SPDX-License-Identifier: Apache-2.0
"""The studies whose points kadenz measures as they are: which systems, kernels and clocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kadenz.analysis import published
from kadenz.analysis.published import PublishedFigure
from kadenz.config.params import Params
from kadenz.lab.plan import Point
from truth.kernels import Kernel, kernels
from truth.rows import MICROSECONDS, Ends, Row
from truth.spans import Build, Parameters, spans

HIFIVE1, STM32F4 = "hifive1-revb@emulated", "stm32f4@emulated"
FLASH_WAIT = "flash_wait"  # RM0090 asks for two waits at 80 MHz and for five at 168 MHz
_BOTH = {"instruction": "scope", "cycle-model": "model"}


@dataclass(frozen=True)
class Study:
    """A study's figures on one system, and ours for it."""

    paper: str
    system: str  # of published/systems.csv; its name begins so
    clock_mhz: int
    clock: str  # where the clock is from
    kernel: str  # ours
    board: str  # with its tier
    # Other names of benchmarks there, and parameters that they have here.
    names: Mapping[str, tuple[str, Params]] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=lambda: dict(_BOTH))  # class: instrument
    statistic: str = "mean"
    first: bool = False  # the first execution alone
    parameters: Parameters = field(default_factory=dict)  # of the model, where known


_CROSS: Params = {"core_b": 1}
STUDIES = (
    Study("yoo2024", "HiFive1 Rev B", 320, "the chip's highest", "freertos", HIFIVE1),
    Study(
        "yoo2024",
        "STM3240G-EVAL",
        168,
        "the chip's highest",
        "freertos",
        STM32F4,
        parameters={FLASH_WAIT: 5},
    ),
    Study(
        "arm2022",
        "ESP32",
        240,
        "of the study",
        "freertos",
        "ibex2@rtl",
        {
            "smp/semaphore-switch-same-core": ("itc/semaphore-counting-to-higher", {}),
            "smp/semaphore-switch-cross-core": ("itc/semaphore-counting-to-higher", _CROSS),
            "clock/timestamp-overhead": ("itc/semaphore-give", {}),
        },
        {"cycle-exact": "scope"},
    ),
    Study(
        "kioxia2019",
        "HiFive1 (FE310-G000)",
        16,
        "of the study",
        "itron",
        HIFIVE1,
        {"perf/wake": ("perf/wake", {})},
        statistic="max",
        first=True,
    ),
)


def rows(study: Study, trees: Sequence[tuple[str, Path]], samples: int) -> Iterator[Row]:
    """A study's rows, each by the kernels that concern it; one without counts if there is none."""
    points = points_of(study, samples)
    concerned = [
        kernel
        for kernel in kernels(study.kernel, trees)
        if any(kernel.concerns(figure) for figure, _ in points)
    ]
    counted = {
        kernel: _by_class(study, kernel, [point for _, point in points]) for kernel in concerned
    }
    for figure, point in points:
        for kernel in concerned:
            if kernel.concerns(figure):
                ours = {kind: counts[point.id] for kind, counts in counted[kernel].items()}
                yield _row(study, figure, kernel.title, point, ours)
        if not concerned:
            yield _row(study, figure, "", point, {})


def points_of(study: Study, samples: int) -> list[tuple[PublishedFigure, Point]]:
    """The published figures that have a benchmark here, each with its point."""
    return [(row, _point(study, row, 10 + i, samples)) for i, row in enumerate(_figures(study))]


def counts_of(
    build: Build, instrument: str, parameters: Parameters, points: Sequence[Point], first: bool
) -> dict[int, Ends]:
    """Of each point, by its number: the median, or the first execution alone."""
    return {
        number: Ends(*(_figure_of(end, first) for end in record.interval or (record.spans,) * 2))
        for number, record in spans(build, instrument, parameters, points).items()
        if number in {point.id for point in points}
    }


def _figures(study: Study) -> list[PublishedFigure]:
    return [
        row
        for row in published.load()
        if row.paper == study.paper
        and row.system.name.startswith(study.system)
        and row.statistic == study.statistic
        and row.unit in MICROSECONDS
        and (row.benchmark in study.names or row.benchmark.startswith("itc/"))
    ]


def _point(study: Study, row: PublishedFigure, number: int, samples: int) -> Point:
    name, params = study.names.get(row.benchmark, (row.benchmark, {}))
    sizes: Params = {key: value for key, value in row.our_params.items() if key == "size_bytes"}
    ways = {key: value for key, value in row.parameters.items() if key == "by"}
    return Point(number, name, samples, params={**sizes, **ways, **params})


def _by_class(study: Study, kernel: Kernel, points: Sequence[Point]) -> dict[str, dict[int, Ends]]:
    build = Build(f"{study.kernel}/{study.board}", kernel.tree)
    return {
        kind: counts_of(build, instrument, study.parameters, points, study.first)
        for kind, instrument in study.classes.items()
    }


def _figure_of(of: NDArray[np.uint64], first: bool) -> float:
    return float(of[0] if first else np.median(of))


def _row(
    study: Study, figure: PublishedFigure, kernel: str, point: Point, ours: dict[str, Ends]
) -> Row:
    params = " ".join(f"{key}={value}" for key, value in point.params.items())
    return Row(
        figure=figure,
        system=study.system,
        kernel=kernel,
        point=f"`{point.bench}` {params}".strip(),
        ours=ours,
        clock_mhz=study.clock_mhz,
        clock=study.clock,
    )
