# SPDX-License-Identifier: Apache-2.0
"""Simulate kadenz/stats/gpd_table.py: the Anderson-Darling statistic of fitted tails.

    python benchmarks/gpd_table.py [--simulations 20000] [--excesses 300] > FILE

For each shape: samples of a generalised Pareto distribution, both parameters estimated by
`kadenz.stats.gpd.estimate`, and the statistic of the fit. It is nearly independent of the number of
excesses (compare --excesses 60 and 1000).
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

SHAPES = (-0.5, -0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
LEVELS = (0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001)
BATCH = 500


def quantiles(shape: float, simulations: int, excesses: int) -> list[float]:
    from kadenz.stats.gpd import anderson_darling, estimate

    rng = np.random.default_rng([20261121, round(1000 * (shape + 1))])
    parts = []
    for start in range(0, simulations, BATCH):
        rows = rng.standard_exponential((min(BATCH, simulations - start), excesses))
        rows = np.sort(np.expm1(shape * rows) / shape if shape else rows, axis=1)
        parts.append(anderson_darling(rows, *estimate(rows)))
    return [float(q) for q in np.quantile(np.concatenate(parts), 1.0 - np.array(LEVELS))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--excesses", type=int, default=300)
    chosen = parser.parse_args()
    rows = []
    for shape in SHAPES:
        rows.append(quantiles(shape, chosen.simulations, chosen.excesses))
        print(f"shape {shape:g}", file=sys.stderr)
    print("# SPDX-License-Identifier: Apache-2.0")
    print('"""Quantiles of the Anderson-Darling statistic of fitted tails. Generated.')
    print()
    print("`python benchmarks/gpd_table.py > kadenz/stats/gpd_table.py` simulates it:")
    print(f"{chosen.simulations:,} samples of {chosen.excesses} excesses for each shape.")
    print('"""')
    print()
    print("from __future__ import annotations")
    print()
    print("# P(statistic > quantile), by column, and shape, by row.")
    print(f"LEVELS = {LEVELS}")
    print(f"SHAPES = {SHAPES}")
    print("QUANTILES = (")
    for row in rows:
        print("    (" + ", ".join(f"{q:.3f}" for q in row) + "),")
    print(")")


if __name__ == "__main__":
    main()
