# SPDX-License-Identifier: Apache-2.0
"""The truth table: instructions, a model's interval and exact cycles beside published hardware.

A published time becomes cycles at the clock that the study gives, or at the highest of the chip if
it gives none. What we measure is the median, of kioxia2019 the first execution. Nothing is fitted.

    python benchmarks/how_true.py [--samples 50]

Prints Markdown for docs/explanation/how-true.md, which has what explains the rest.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kadenz.analysis import published
from kadenz.analysis.published import PublishedFigure
from kadenz.config import inventory
from kadenz.config.board import TimingModel
from kadenz.config.params import Params
from kadenz.config.target_name import parse_target
from kadenz.images.image import build_image
from kadenz.lab.condition import Setup
from kadenz.lab.execution import make_target
from kadenz.lab.plan import Point, plan_text
from kadenz.targets import timing_model
from kadenz.targets.rtl import RtlTarget
from kadenz.targets.scope import RecordSpans
from kadenz.targets.scoped import ScopedQemuTarget

Floats = NDArray[np.float64]

_HIFIVE1, _STM32F4 = "freertos/hifive1-revb@emulated", "freertos/stm32f4@emulated"
_WAIT = "flash_wait"  # RM0090 asks for two waits at 80 MHz and for five at 168 MHz
# mazzi2021 by its own definitions, at the 80 MHz of its board.
MAZZI_ITERATIONS = 2000
SWITCH, PREEMPTION, SHUFFLE, MESSAGE = (
    Point(10, "micro/task-switch", 1, params={"iterations": MAZZI_ITERATIONS}),
    Point(11, "micro/preemption-sampled", 200),
    Point(12, "micro/semaphore-shuffle-sampled", 200),
    Point(
        13,
        "micro/message-latency",
        1,
        params={"iterations": MAZZI_ITERATIONS, "channel": "message-buffer"},
    ),
)


@dataclass(frozen=True)
class Study:
    """A study's figures on one system, and ours for it."""

    paper: str
    system: str  # of published/systems.csv; its name begins so
    clock_mhz: int
    clock: str  # where the clock is from
    targets: Mapping[str, tuple[str, str]]  # class: target, instrument
    # Other names of benchmarks there, and parameters that they have here.
    names: Mapping[str, tuple[str, Params]]
    statistic: str = "mean"
    version: str = ""  # of several kernels
    first: bool = False  # the first execution alone
    parameters: Mapping[str, int] = field(default_factory=dict)  # of the model, where known


_CROSS: Params = {"core_b": 1}
STUDIES = (
    Study(
        "yoo2024",
        "HiFive1 Rev B",
        320,
        "the chip's highest",
        {"instruction": (_HIFIVE1, "scope"), "cycle-model": (_HIFIVE1, "model")},
        {},
    ),
    Study(
        "yoo2024",
        "STM3240G-EVAL",
        168,
        "the chip's highest",
        {"instruction": (_STM32F4, "scope"), "cycle-model": (_STM32F4, "model")},
        {},
        version="10.2.0",
        parameters={_WAIT: 5},
    ),
    Study(
        "arm2022",
        "ESP32",
        240,
        "of the study",
        {"cycle-exact": ("freertos/ibex2@rtl", "scope")},
        {
            "smp/semaphore-switch-same-core": ("itc/semaphore-counting-to-higher", {}),
            "smp/semaphore-switch-cross-core": ("itc/semaphore-counting-to-higher", _CROSS),
            "clock/timestamp-overhead": ("itc/semaphore-give", {}),
        },
    ),
    Study(
        "kioxia2019",
        "HiFive1 (FE310-G000)",
        16,
        "of the study",
        {"instruction": (_HIFIVE1, "scope"), "cycle-model": (_HIFIVE1, "model")},
        {},
        statistic="max",
        first=True,
    ),
)
MICROSECONDS = {"µs": 1.0, "ms": 1000.0}


def modelled(target: str, parameters: Mapping[str, int]) -> ScopedQemuTarget:
    """An emulated target under its board's model with some parameters known."""
    name = parse_target(target)
    tier = inventory.board(name.board).tier.emulated
    assert tier is not None and tier.model is not None
    given = TimingModel(name=tier.model.name, parameters=dict(parameters))
    return ScopedQemuTarget(
        tier, build_image(name, "scope").elf, timing_model.model(name.board, given)
    )


def spans(
    target: str, instrument: str, parameters: Mapping[str, int], points: Sequence[Point]
) -> dict[int, RecordSpans]:
    """What the scope saw of each point, in one execution."""
    if instrument == "model":
        with_model = modelled(target, parameters)
        _execute(with_model, points)
        return with_model.records
    name = parse_target(target)
    made = make_target(name, instrument, build_image(name, "scope"), Setup())
    assert isinstance(made, ScopedQemuTarget | RtlTarget)
    _execute(made, points)
    return made.records


def _execute(target: ScopedQemuTarget | RtlTarget, points: Sequence[Point]) -> None:
    target.open(plan_text(list(points)))
    while target.read(1.0) is not None:
        pass
    target.close()


def _rows(study: Study) -> list[tuple[PublishedFigure, Point]]:
    """The published figures that have a benchmark here, each with its point."""
    known = {*study.names, "perf/wake"}
    found: list[tuple[PublishedFigure, Point]] = []
    for row in published.load():
        has_one = row.benchmark in known or row.benchmark.startswith("itc/")
        if (
            row.paper != study.paper
            or not row.system.name.startswith(study.system)
            or row.statistic != study.statistic
            or row.unit not in MICROSECONDS
            or study.version not in row.kernel
            or not has_one
        ):
            continue
        name, params = study.names.get(row.benchmark, (row.benchmark, {}))
        own = {key: value for key, value in row.our_params.items() if key == "size_bytes"}
        found.append((row, Point(10 + len(found), name, 0, params={**own, **params})))
    return found


def table(study: Study, samples: int) -> None:
    """Prints the rows of a study."""
    rows = _rows(study)
    points = [Point(p.id, p.bench, samples, params=p.params) for _, p in rows]
    ours = {kind: spans(*at, study.parameters, points) for kind, at in study.targets.items()}
    for row, point in rows:
        cycles = row.value * MICROSECONDS[row.unit] * study.clock_mhz
        given = " ".join(f"{key}={value}" for key, value in point.params.items())
        cells = [study.paper, study.system, f"`{point.bench}` {given}".strip()]
        low = high = 0.0
        for kind in ("instruction", "cycle-model", "cycle-exact"):
            record = ours.get(kind, {}).get(point.id)
            if record is None:
                cells.append("")
                continue
            low, high = (_one(ends, study.first) for ends in record.interval or (record.spans,) * 2)
            cells.append(f"{low:,.0f} to {high:,.0f}" if low != high else f"{low:,.0f}")
        inside = "yes" if low <= cycles <= high else "no"
        cells += [f"{row.value:g} {row.unit}", f"{study.clock_mhz} MHz, {study.clock}"]
        cells += [f"{cycles:,.0f}", inside if low != high else f"ratio {cycles / low:,.2f}"]
        print(f"| {' | '.join(cells)} |")


def _one(of: NDArray[np.uint64], first: bool) -> float:
    return float(of[0] if first else np.median(of))


def mazzi2021() -> None:
    """Prints the study's four metrics beside the model's intervals, with its definitions."""
    target = modelled(_STM32F4, {_WAIT: 2})
    _execute(target, [SWITCH, PREEMPTION, SHUFFLE, MESSAGE])

    def ends(point: Point) -> tuple[Floats, Floats]:
        low, high = target.records[point.id].interval or ((), ())
        return np.asarray(low, float), np.asarray(high, float)

    def batch(point: Point) -> Floats:
        return np.array([(end[0] - end[1]) / MAZZI_ITERATIONS for end in ends(point)])

    def sampled(point: Point) -> Floats:
        return np.array([np.median(end) for end in ends(point)])

    switch = batch(SWITCH)
    ours = {
        "task-switch": ("an iteration less the empty loop", switch),
        "preemption": ("one way, by resume", sampled(PREEMPTION)),
        "semaphore-shuffle": ("give to take, less a switch", sampled(SHUFFLE) - switch),
        "message-latency": ("message buffer: round less two switches", batch(MESSAGE) - 2 * switch),
    }
    print("\n| metric | definition | published | model | inside |\n|---|---|---|---|---|")
    for row in published.load():
        if row.paper != "mazzi2021" or row.statistic != "mean" or "FreeRTOS" not in row.kernel:
            continue
        metric = row.benchmark.removeprefix("micro/")
        definition, (low, high) = ours[metric]
        inside = "yes" if low <= row.value <= high else "no"
        words = f"| {metric} | {definition} | {row.value:,.1f} | {low:,.0f} to {high:,.0f} |"
        print(f"{words} {inside} |")


def main() -> int:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=50)
    options = parser.parse_args()
    heads = ["study", "system", "point", "instructions", "model", "exact cycles", "published"]
    heads += ["clock", "in cycles", "inside"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for study in STUDIES:
        table(study, options.samples)
    mazzi2021()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
