# SPDX-License-Identifier: Apache-2.0
"""The truth table of docs/explanation/how-true.md: instructions, a model's interval and exact
cycles beside published hardware.

A published time becomes cycles at the clock that the study gives, or at the chip's highest clock if
it gives none. We measure the median; for kioxia2019, the first execution. Nothing is fitted.

    python benchmarks/how_true.py [--samples 50] [--study NAME ...] [--kernel-source KERNEL=DIR ...]

A tree of a published version of FreeRTOS is measured next to the pinned one. RTX5 and TOPPERS/ASP3
have no pinned source: without their trees their rows have no counts. Prints Markdown for
docs/explanation/how-true.md and, for mazzi2021, for docs/explanation/cycle-models.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from truth import mazzi2021, studies
from truth.kernels import Kernel, given, kernels
from truth.rows import HEADS
from truth.spans import Parameters
from truth.variants import USUAL_LEVEL, optimised

# How mazzi2021's FreeRTOS may have been compiled: Arm's compiler is not available here.
OPTIMISATIONS = (USUAL_LEVEL, "-O3", "-Os")
NAMES = (*dict.fromkeys(study.paper for study in studies.STUDIES), mazzi2021.NAME)


def head(cells: Sequence[str]) -> None:
    """Prints the first two lines of a table."""
    print(f"\n| {' | '.join(cells)} |\n|{'---|' * len(cells)}")


def sweep(trees: Sequence[tuple[str, Path]], optimisations: Sequence[str]) -> None:
    """Prints what could move mazzi2021's metrics: version, optimisation, wait states."""
    means = mazzi2021.means("freertos")
    known = [
        kernel
        for kernel in kernels("freertos", trees)
        if any(kernel.concerns(row) for row in means.values())
    ]
    head(["FreeRTOS", "compiled, flash", *means])
    for by in optimisations:
        with optimised(by):
            for kernel in known:
                print_metrics(kernel, f"{by}, 2 wait states", mazzi2021.AT_80_MHZ)
    for kernel in known:
        print_metrics(kernel, f"{USUAL_LEVEL}, 0 to 2 wait states", mazzi2021.UP_TO_80_MHZ)
    printed = " | ".join(f"{row.value:,.1f}" for row in means.values())
    print(f"| V10.2.0, published | Arm's compiler | {printed} |")


def print_metrics(kernel: Kernel, how: str, parameters: Parameters) -> None:
    """Prints a row of the sweep."""
    metrics = mazzi2021.metrics(kernel, "model", parameters)
    cells = " | ".join(str(ends) for ends in metrics.values())
    print(f"| {kernel.title.rpartition(' ')[2]} | {how} | {cells} |", flush=True)


def main() -> int:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--kernel-source", type=given, action="append", default=[])
    parser.add_argument("--study", choices=NAMES, action="append", default=[])
    parser.add_argument("--optimisation", action="append", default=[])  # of mazzi2021's sweep
    options = parser.parse_args()
    wanted = options.study or NAMES
    head(HEADS)
    for study in studies.STUDIES:
        if study.paper in wanted:
            for row in studies.rows(study, options.kernel_source, options.samples):
                print(row.text(), flush=True)
    if mazzi2021.NAME in wanted:
        for row in mazzi2021.rows(options.kernel_source):
            print(row.text(), flush=True)
        sweep(options.kernel_source, options.optimisation or OPTIMISATIONS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
