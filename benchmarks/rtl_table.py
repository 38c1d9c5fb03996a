# SPDX-License-Identifier: Apache-2.0
"""The cost of simulating a core. Every core in one table, and the cost of slower memory, are in
docs/explanation/simulated-cores.md.

Medians of the scope, in cycles. The first table is at zero wait states: one core of each kind, two
of them under the SMP kernel, and two Ibex whose memories have a port for each bus. The cluster is
left out where `make rtl-cluster` has not generated it.

    python benchmarks/rtl_table.py [--samples 100] [--board ibex]

"""

from __future__ import annotations

import argparse
import re
import resource
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.errors import ToolMissing
from kadenz.images.image import build_image
from kadenz.lab.plan import Point, plan_text
from kadenz.targets import rtl_core
from kadenz.targets.rtl import RtlTarget

TITLE = "Speed of simulated cores"

ON_ONE_CORE = (
    *("micro/task-switch-sampled", "micro/preemption-sampled"),
    *("micro/semaphore-shuffle-sampled", "micro/message-latency-sampled"),
    *("itc/semaphore-counting-to-higher", "itc/semaphore-give", "irq/to-handler", "irq/to-task"),
)
ACROSS = ("itc/semaphore-counting-to-higher", "itc/semaphore-give")
WAITS = (0, 1, 4, 10)  # of the ROM


class Machine(NamedTuple):
    """A board with a simulated core."""

    board: str
    ports: str = ""  # "separate": a port of its own for each bus of each core

    @property
    def name(self) -> str:
        """As the head of a column."""
        return f"{self.board}, {self.ports} ports" if self.ports else self.board


MACHINES = (
    Machine("ibex"),
    Machine("vexriscv"),
    Machine("ibex2"),
    Machine("ibex2", "separate"),
    Machine("vexriscv-cluster"),
)


class Measured(NamedTuple):
    """Of one execution."""

    medians: dict[int, float]  # by point
    cycles: int  # simulated
    seconds: float  # of processor time


def measure(machine: Machine, points: Sequence[Point], waits: Mapping[str, int]) -> Measured:
    """The medians of one execution, and its cost."""
    board = inventory.board(machine.board)
    tier = board.tier.rtl
    assert tier is not None
    if machine.ports:
        alone = [msgspec.structs.replace(memory, shared=False) for memory in tier.memory]
        tier = msgspec.structs.replace(tier, memory=tuple(alone))
    image = build_image(parse_target(f"freertos/{machine.board}@rtl"), "scope")
    target = RtlTarget(tier, board.cores, image.elf, waits, scoped=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    target.open(plan_text(list(points)))
    while target.read(1.0) is not None:
        pass
    simulated = re.search(r"cycles: (\d+) run", target.close())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Measured(
        {
            n: float(np.median(record.spans))
            for n, record in target.records.items()
            if record.spans.size
        },
        int(simulated[1]) if simulated else 0,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    )


def print_table(heads: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    """Prints Markdown."""
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def there(board: str | None) -> list[Machine]:
    """Machines, or those of one board, whose Verilog is on this machine."""
    available = []
    for machine in MACHINES:
        if board not in (None, machine.board):
            continue
        tier = inventory.board(machine.board).tier.rtl
        assert tier is not None
        try:
            rtl_core.require(tier.core)
        except ToolMissing as missing:
            print(f"{machine.name}: {missing}")
            continue
        available.append(machine)
    return available


def at_zero_wait_states(machines: Sequence[Machine], samples: int) -> None:
    """Prints what every benchmark takes on every machine, and the speed of the simulation."""
    points = [Point(10 + i, bench, samples) for i, bench in enumerate(ON_ONE_CORE)]
    other = [Point(30 + i, b, samples, params={"core_b": 1}) for i, b in enumerate(ACROSS)]
    results = {machine: measure(machine, [*points, *other], {}) for machine in machines}
    names = {point.id: f"`{point.bench}`" for point in points}
    names |= {point.id: f"`{point.bench}`, from core 0 to core 1" for point in other}
    rows = {
        name: [
            f"{result.medians[n]:,.0f}" if n in result.medians else ""
            for result in results.values()
        ]
        for n, name in names.items()
    }
    rows["simulated, million cycles"] = [
        f"{result.cycles / 1e6:,.1f}" for result in results.values()
    ]
    rows["million cycles in a second of processor time"] = [
        f"{result.cycles / 1e6 / result.seconds:,.2f}" for result in results.values()
    ]
    speeds = [result.cycles / 1e6 / result.seconds for result in results.values()]
    print(
        f"answer: {min(speeds):.1f} to {max(speeds):.1f} million cycles in a second of processor "
        "time"
    )
    heads = ["cycles, median", *(machine.name for machine in machines)]
    if {"ibex", "ibex2"} <= set(heads):
        heads.append("ibex2 / ibex")  # the cost of the kernel for several cores
        single, dual = results[Machine("ibex")].medians, results[Machine("ibex2")].medians
        ratios = {name: f"{dual[n] / single[n]:.1f}" for n, name in names.items() if n in single}
        rows = {name: [*cells, ratios.get(name, "")] for name, cells in rows.items()}
    print_table(heads, rows)


def by_wait_states(machines: Sequence[Machine], samples: int) -> None:
    """Prints what wait states of the ROM cost, on one core of each kind."""
    points = [Point(10 + i, bench, samples) for i, bench in enumerate(ON_ONE_CORE)]
    for machine in machines:
        if inventory.board(machine.board).cores > 1:
            continue
        medians = [measure(machine, points, {"rom": wait}).medians for wait in WAITS]
        rows = {
            f"`{point.bench}`": [
                f"{by_point[point.id]:,.0f}" for by_point in medians if point.id in by_point
            ]
            for point in points
        }
        print_table([f"{machine.name}, wait states of the ROM", *map(str, WAITS)], rows)


def main() -> int:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--board", choices=sorted({machine.board for machine in MACHINES}))
    options = parser.parse_args()
    machines = there(options.board)
    at_zero_wait_states(machines, options.samples)
    by_wait_states(machines, options.samples)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
