# SPDX-License-Identifier: Apache-2.0
"""The error of a timing model, and its cost.

The same code runs in QEMU with the model and on the core's Verilog; each span between two stamps is
compared. On the Verilog, a slow timer avoids the kernel's tick. QEMU's timer has a fixed rate, so
spans with a tick there, which take more instructions, are left out. The cost is the processor time
of QEMU with the model, in multiples of the counting scope's.

    python benchmarks/cycle_models.py [--samples 200] [--rounds 5]

The errors are also in docs/explanation/cycle-models.md. Exit code 1: an error is above 3 % on Ibex
or 10 % on VexRiscv, or a cost above its limit.
"""

from __future__ import annotations

import argparse
import resource
import sys

import msgspec
import numpy as np
from numpy.typing import NDArray

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.images.image import build_image
from kadenz.lab.condition import Setup
from kadenz.lab.execution import make_target
from kadenz.lab.plan import Point, plan_text
from kadenz.targets.base import Target
from kadenz.targets.rtl import RtlTarget
from kadenz.targets.scoped import ScopedQemuTarget

TITLE = "Cycle models"
RUNS = ("--samples 100 --rounds 5",)

# Boards with a tier rtl and a model: limits of the median and of the largest error.
CORES = {"ibex": (0.01, 0.03), "vexriscv": (0.05, 0.10)}
BENCHES = (
    *("micro/task-switch-sampled", "micro/preemption-sampled", "micro/semaphore-shuffle-sampled"),
    *("micro/message-latency-sampled", "itc/queue", "itc/stream-buffer", "itc/message-buffer"),
    *("itc/semaphore-binary", "itc/semaphore-counting", "itc/mutex"),
    *("irq/to-handler", "irq/to-task"),
)
SLOW_TIMER = 1000  # core cycles per count of mtime: a tick every ten million
TICK_INSTRUCTIONS = 100  # that a tick adds to a span, at least
# Targets with a model.
COSTS = tuple(
    f"freertos/{board}@emulated" for board in ("ibex", "vexriscv", "hifive1-revb", "stm32f4")
)
ITERATIONS = 50_000
BATCHES = 20
COST_LIMIT = 2.0  # times the counting scope's

Floats = NDArray[np.float64]


def spans(board: str, instrument: str, samples: int) -> dict[str, Floats]:
    """Every span of one execution, by benchmark: `model`, `scope` (instructions) or `exact`."""
    name = parse_target(f"freertos/{board}@{'rtl' if instrument == 'exact' else 'emulated'}")
    image = build_image(name, "scope")
    points = [Point(10 + i, bench, samples) for i, bench in enumerate(BENCHES)]
    target: RtlTarget | ScopedQemuTarget
    if instrument == "exact":
        rtl = inventory.board(board).tier.rtl
        assert rtl is not None
        slow = msgspec.structs.replace(rtl, timer_divider=SLOW_TIMER)
        target = RtlTarget(slow, 1, image.elf, {}, scoped=True)
    else:
        scoped = make_target(name, instrument, image, Setup())
        assert isinstance(scoped, ScopedQemuTarget)
        target = scoped
    _seconds(target, plan_text(points))
    return {point.bench: target.records[point.id].spans.astype(float) for point in points}


def errors(board: str, samples: int) -> bool:
    """Prints the errors of a board's model; whether they are within the limits."""
    kinds = ("model", "exact", "scope")
    model, exact, instructions = (spans(board, kind, samples) for kind in kinds)
    print(f"\n| {board} | spans | median, Verilog | p5 | median error | p95 | largest |")
    print("|---|---|---|---|---|---|---|")
    every: dict[str, Floats] = {}
    ticks = 0
    for bench, theirs in exact.items():
        counted = instructions[bench]
        longer = counted >= np.median(counted) + TICK_INSTRUCTIONS
        without = ~longer | (theirs >= np.median(theirs) + TICK_INSTRUCTIONS / 2)
        ticks += int(np.sum(~without))
        every[bench] = (model[bench] / theirs - 1.0)[without]
        print(_row(f"`{bench}`", every[bench], f"{np.median(theirs):,.0f}"))
    whole = np.concatenate([*every.values()])
    print(_row("all", whole, ""))
    print(f"\nLeft out: {ticks} spans with a tick in QEMU")
    median_limit, largest_limit = CORES[board]
    off = np.abs(whole)
    return float(np.median(off)) < median_limit and float(off.max()) <= largest_limit


def _row(name: str, deviations: Floats, median: str) -> str:
    low, middle, high = np.percentile(deviations, [5, 50, 95])
    largest = deviations[np.argmax(np.abs(deviations))]
    shares = " | ".join(f"{value:+.2%}" for value in (low, middle, high, largest))
    return f"| {name} | {deviations.size} | {median} | {shares} |"


def _seconds(target: Target, plan: str) -> float:
    """Processor time of one execution."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    target.open(plan)
    while target.read(1.0) is not None:
        pass
    target.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cost(target: str, iterations: int, rounds: int) -> float:
    """Prints what a model costs; the ratio."""
    name = parse_target(target)
    image = build_image(name, "scope")
    plan = plan_text([Point(10, "micro/task-switch", BATCHES, params={"iterations": iterations})])
    took: dict[str, list[float]] = {"scope": [], "model": []}
    for _ in range(rounds):
        for instrument, seconds in took.items():
            seconds.append(_seconds(make_target(name, instrument, image, Setup()), plan))
    best = {instrument: min(seconds) for instrument, seconds in took.items()}
    ratio = best["model"] / best["scope"]
    print(f"| `{target}` | {best['scope']:.2f} | {best['model']:.2f} | {ratio:.2f} |")
    return ratio


def main() -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    options = parser.parse_args()
    passed = [errors(board, options.samples) for board in CORES]
    print(
        "\n| processor time, s, best of the rounds | counting | model | ratio |\n|---|---|---|---|"
    )
    costs = [cost(target, options.iterations, options.rounds) for target in COSTS]
    passed += [ratio <= COST_LIMIT for ratio in costs]
    print(f"\nanswer: {min(costs):.1f} to {max(costs):.1f} times a counting run")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
