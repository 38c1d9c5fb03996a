# SPDX-License-Identifier: Apache-2.0
"""What a first execution costs on VexRiscv, by the lines that come into its caches: the table of
docs/explanation/perf.md.

A boot for each point, so that a first execution finds caches that hold nothing of it. The usual
execution is the most frequent one of the others.

    python benchmarks/first_executions.py [--samples 100] [--waits 4]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kadenz.config import inventory
from kadenz.config.manifest import MISSES
from kadenz.config.target_name import parse_target
from kadenz.images.image import Image, build_image
from kadenz.lab.plan import Point, plan_text
from kadenz.targets.rtl import RtlTarget

TARGET = parse_target("freertos/vexriscv@rtl")
WORDS_OF_A_LINE = 8  # of a line: each waits
CODE, DATA = 11, 12  # cycles of a line without wait states: docs/explanation/cycle-models.md
NUMBER = 10  # of the record

Which = tuple[str, dict[str, int | str]]
BENCHMARKS: Sequence[Which] = (
    ("perf/wake", {"by": "suspend"}),
    ("perf/wake", {"by": "semaphore"}),
    ("perf/sleep", {"by": "suspend"}),
    ("perf/sleep", {"by": "semaphore"}),
    ("perf/activate", {}),
    ("perf/activate-to-higher", {}),
    ("perf/activate-from-timer", {}),
)


class Execution(NamedTuple):
    """A sample: its cycles, and the lines of code and data that came while it was taken."""

    cycles: int
    code: int
    data: int

    def __str__(self) -> str:
        return f"{self.cycles:,} | {self.code}, {self.data}"


class Measured(NamedTuple):
    """Of one boot."""

    first: Execution
    usual: Execution


def measure(image: Image, which: Which, samples: int, waits: int) -> Measured:
    """The first and the usual execution at this number of wait states of the ROM."""
    board = inventory.board(TARGET.board)
    assert board.tier.rtl is not None
    target = RtlTarget(board.tier.rtl, board.cores, image.elf, {"rom": waits}, scoped=True)
    bench, params = which
    target.open(plan_text([Point(NUMBER, bench, samples, params=params)]))
    while target.read(1.0) is not None:
        pass
    target.close()
    record = target.records[NUMBER]
    columns = np.column_stack([record.spans, *(record.misses[kind] for kind in MISSES)])
    executions = [Execution(*row) for row in columns.tolist()]
    ((usual, _),) = Counter(executions[1:]).most_common(1)
    return Measured(executions[0], usual)


def row(which: Which, none: Measured, some: Measured, waits: int) -> str:
    """A row of the table, from runs without and with wait states.

    Its last cell is how many lines have waited more often the first time, of code and of constants.
    """
    bench, params = which
    more = Execution(*np.subtract(none.first, none.usual).tolist())
    name = f"`{bench}`" + "".join(f", by {value}" for value in params.values())
    longer = some.first.cycles - some.usual.cycles
    same = none.first[1:] == some.first[1:] and none.usual[1:] == some.usual[1:]
    waited = longer - more.cycles
    lines = f"{waited / (WORDS_OF_A_LINE * waits):g}" if same else "other lines"
    filled = CODE * more.code + DATA * more.data
    cells = (none.usual, none.first, f"{more.cycles:,}", f"{filled:,}", f"{longer:,}", lines)
    return f"| {name} | {' | '.join(map(str, cells))} |"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--waits", type=int, default=4)
    options = parser.parse_args()
    image = build_image(TARGET, "scope")
    heads = (
        "vexriscv",
        *("usual", "usual, lines of code, data", "first", "first, lines of code, data"),
        *("first − usual", f"by {CODE} and {DATA} a line"),
        f"first − usual, {options.waits} wait states",
        f"waits ÷ {WORDS_OF_A_LINE * options.waits}",
    )
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for which in BENCHMARKS:
        none, some = (measure(image, which, options.samples, w) for w in (0, options.waits))
        print(row(which, none, some, options.waits), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
