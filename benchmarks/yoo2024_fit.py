# SPDX-License-Identifier: Apache-2.0
"""Which set-up explains yoo2024's figures of the STM3240G-EVAL, for docs/explanation/how-true.md: a
sweep of possible differences.

For each variant of our set-up, the timing model gives an interval for the medians of nine
benchmarks. Then the clock is fitted: the clocks at which as many published figures as possible are
inside their intervals. Nothing else is fitted.

    python benchmarks/yoo2024_fit.py [--samples 50] [--kernel-source freertos=DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from truth.kernels import given
from truth.rows import Ends
from truth.spans import Build, Parameters
from truth.studies import FLASH_WAIT, STM32F4, STUDIES, counts_of, points_of
from truth.variants import USUAL_LEVEL, optimised

from kadenz.lab.plan import Point

SYSTEM = "STM3240G-EVAL"
CHIP_MHZ = 168.0  # its highest clock
VERSION = "10.2.0"  # of the published figures
_BYTES = Path(__file__).parent / "truth" / "memcpy_by_bytes.c"
_SLOW: Parameters = {FLASH_WAIT: 5}
_NO_ACCELERATOR: Parameters = {**_SLOW, "accelerator": 0}
# STM3240G-EVAL: SRAM of 16 bits behind the FSMC, which ST's start-up code gives ADDSET 3, DATAST 6
# and BUSTURN 1. A transfer takes at least nine cycles, of which the core counts one anyway; at most
# one more for a store, one of turnaround, and two that are our assumption for the bus between.
_WAIT = "external_wait"
_EXTERNAL: Parameters = {**_SLOW, _WAIT: (8, 12), "external_bits": 16}
# Code there as well: a line of 16 bytes is eight such transfers, or two for its last word alone.
_CODE_TOO: Parameters = {**_EXTERNAL, FLASH_WAIT: (16, 104), "flash_busy": 0, "accelerator": 0}


@dataclass(frozen=True)
class Variant:
    """What differs from the set-up of `boards/stm32f4`."""

    name: str
    parameters: Parameters = field(default_factory=dict)
    by: str = USUAL_LEVEL
    by_bytes: bool = False


VARIANTS = (
    Variant("as it is, 0 to 5 wait states"),
    Variant("5 wait states", _SLOW),
    Variant("no accelerator", _NO_ACCELERATOR),
    Variant("bytes", by_bytes=True),
    Variant("bytes, 1 wait state", {FLASH_WAIT: 1}, by_bytes=True),
    Variant("external data", _EXTERNAL),
    Variant("external data, bytes", _EXTERNAL, by_bytes=True),
    Variant("external data, bytes, 4 waits", {**_EXTERNAL, _WAIT: 4}, by_bytes=True),
    Variant("external data, bytes, 7 waits", {**_EXTERNAL, _WAIT: 7}, by_bytes=True),
    Variant("external data and code", _CODE_TOO),
    Variant("-O0", by="-O0"),
    Variant("-O0, no accelerator", _NO_ACCELERATOR, "-O0"),
    Variant("-O0, bytes", {}, "-O0", by_bytes=True),
    Variant("-O0, bytes, no accelerator", _NO_ACCELERATOR, "-O0", by_bytes=True),
    Variant("-O0, external data", _EXTERNAL, "-O0"),
    Variant("-O0, external data, bytes", _EXTERNAL, "-O0", by_bytes=True),
)


class Fit(NamedTuple):
    """The figures that one clock can explain."""

    points: frozenset[int]
    low_mhz: float
    high_mhz: float


def fit(counted: Mapping[int, Ends], published: Mapping[int, float], most_mhz: float) -> Fit:
    """The clocks, up to `most_mhz`, with as many figures (in us) inside as possible."""
    ranges = {n: (counted[n].low / us, counted[n].high / us) for n, us in published.items()}
    best = Fit(frozenset(), 0.0, 0.0)
    for clock in sorted(low for low, _ in ranges.values() if low <= most_mhz):
        inside = frozenset(n for n, (low, high) in ranges.items() if low <= clock <= high)
        if len(inside) > len(best.points):
            end = min(most_mhz, *(ranges[n][1] for n in inside))
            best = Fit(inside, clock, end)
    return best


def measured(
    variants: Sequence[Variant], tree: Path | None, points: Sequence[Point]
) -> Iterator[tuple[str, dict[int, Ends]]]:
    """Each variant's interval of each point. One checkout is made for each optimisation."""
    for by in dict.fromkeys(variant.by for variant in variants):
        with optimised(by):
            for variant in variants:
                if variant.by == by:
                    extra = (_BYTES,) if variant.by_bytes else ()
                    build = Build(f"freertos/{STM32F4}", tree, extra)
                    yield (
                        variant.name,
                        counts_of(build, "model", variant.parameters, points, first=False),
                    )


def name_of(point: Point) -> str:
    """The head of a column: `queue, 60`."""
    size = f", {point.params['size_bytes']}" if "size_bytes" in point.params else ""
    return point.bench.removeprefix("itc/").replace("-", " ") + size


def print_table(heads: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Prints Markdown, each row as soon as it is known."""
    print(f"\n| {' | '.join(['', *heads])} |\n|{'---|' * (len(heads) + 1)}")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def clocks(
    counted: Mapping[int, Ends], published: Mapping[int, float], names: Mapping[int, str]
) -> list[str]:
    """Cells: how many figures fit, at which clocks, and which do not; which fit at CHIP_MHZ."""
    best = fit(counted, published, CHIP_MHZ)
    outside = [names[n] for n in published if n not in best.points]
    at_most = [
        n for n, us in published.items() if counted[n].low <= us * CHIP_MHZ <= counted[n].high
    ]
    return [
        f"{len(best.points)} of {len(published)}",
        f"{best.low_mhz:,.1f} to {best.high_mhz:,.1f}" if best.points else "",
        "; ".join(outside) or "none",
        "; ".join(names[n] for n in at_most) or "none",
    ]


def main() -> int:
    """Prints the intervals, and the clocks at which they hold the published figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--kernel-source", type=given, default=("freertos", None))
    parser.add_argument("--variant", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    variants = [
        variant for variant in VARIANTS if variant.name in (options.variant or [variant.name])
    ]
    (study,) = (candidate for candidate in STUDIES if candidate.system == SYSTEM)
    both = [
        (row, point) for row, point in points_of(study, options.samples) if VERSION in row.kernel
    ]
    points = [point for _, point in both]
    names = {point.id: name_of(point) for point in points}
    published = {point.id: row.value for row, point in both}
    counted: dict[str, dict[int, Ends]] = {}

    def intervals() -> Iterator[tuple[str, list[str]]]:
        for name, ends in measured(variants, options.kernel_source[1], points):
            counted[name] = ends
            yield name, [str(ends[n]) for n in published]
        yield "published, µs", [f"{us:g}" for us in published.values()]
        yield f"× {CHIP_MHZ:g} MHz", [f"{us * CHIP_MHZ:,.0f}" for us in published.values()]

    print_table(list(names.values()), intervals())
    heads = ["inside", "at MHz", "outside there", f"inside at {CHIP_MHZ:g} MHz"]
    print_table(heads, ((name, clocks(ends, published, names)) for name, ends in counted.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
