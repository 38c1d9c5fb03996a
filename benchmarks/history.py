# SPDX-License-Identifier: Apache-2.0
"""False steps of `kadenz history`, and steps that it finds, in simulated series of runs: figures of
docs/explanation/statistics.md.

    python benchmarks/history.py --series 1000

Series without a change: independent runs, and runs of which each resembles the one before
(autoregressive, with the correlation of neighbours named). Then a step of 2 and 3 standard
deviations between run 37 and 38.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kadenz.stats.change_points import Change, change_points

AT, RUNS = 37, 60


def correlated(rng: np.random.Generator, share: float) -> npt.NDArray[np.float64]:
    """Runs of variance 1 whose neighbours have the correlation `share`."""
    noise = rng.standard_normal(RUNS)
    noise[1:] *= (1.0 - share**2) ** 0.5
    for i in range(1, RUNS):
        noise[i] += share * noise[i - 1]
    return noise


def count(
    series: int,
    make: Callable[[np.random.Generator], npt.NDArray[np.float64]],
    holds: Callable[[list[Change]], bool],
) -> float:
    rng = np.random.default_rng(1)
    return sum(holds(change_points(make(rng))) for _ in range(series)) / series


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=1000)
    many = parser.parse_args().series
    print("| series | a step is found |\n|---|---|")
    for share in (0.0, 0.2, 0.5):
        alarms = count(many, lambda rng, share=share: correlated(rng, share), bool)  # type: ignore[misc]
        print(f"| no change, neighbours correlated {share} | {alarms:.1%} of {many} |")
    for size in (2.0, 3.0):
        share_found = count(
            many,
            lambda rng, size=size: correlated(rng, 0.0) + size * (np.arange(RUNS) >= AT),  # type: ignore[misc]
            lambda changes: any(change.first <= AT <= change.last for change in changes),
        )
        print(f"| a step of {size:.0f} sd, with its place | {share_found:.1%} of {many} |")


if __name__ == "__main__":
    main()
