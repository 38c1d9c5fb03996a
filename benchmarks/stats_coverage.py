# SPDX-License-Identifier: Apache-2.0
"""How often nominal 95 % intervals contain the truth: the table of docs/explanation/statistics.md.

    python benchmarks/stats_coverage.py [--simulations 2000]

The same made-up series, one interval a method: the textbook's for independent samples, the
percentile block bootstrap, and the studentised one that kadenz uses; then several runs a side, by
hierarchical bootstrap (percentile and studentised) and by the t interval that kadenz uses.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from kadenz.stats.block_length import politis_white
from kadenz.stats.compare import compare
from kadenz.stats.mean_interval import mean_interval
from kadenz.stats.samples import Floats

Rng = np.random.Generator
REPLICATES = 400


def ar1(rng: Rng, n: int, phi: float) -> Floats:
    noise = rng.standard_normal(n + 200) * math.sqrt(1.0 - phi * phi)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise)[200:], dtype=np.float64)


SERIES: dict[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "independent": (lambda rng, n: ar1(rng, n, 0.0), 0.0),
    "autocorrelation 0.5": (lambda rng, n: ar1(rng, n, 0.5), 0.0),
    "autocorrelation 0.9": (lambda rng, n: ar1(rng, n, 0.9), 0.0),
    "0.9, in ticks of sd/2": (lambda rng, n: np.round(2.0 * ar1(rng, n, 0.9)), 0.0),
    "0.9, log-normal": (
        lambda rng, n: np.asarray(np.exp(0.7 * ar1(rng, n, 0.9))),
        math.exp(0.7**2 / 2.0),
    ),
    "independent, log-normal (sigma 1)": (
        lambda rng, n: rng.lognormal(0.0, 1.0, n),
        math.exp(0.5),
    ),
    "independent, Pareto 3": (lambda rng, n: rng.pareto(3.0, n), 0.5),
    "one in a hundred differs": (
        lambda rng, n: rng.binomial(1, 0.01, n).astype(np.float64),
        0.01,
    ),
}


def independent(series: Floats, _: Rng) -> tuple[float, float]:
    half = 1.96 * float(series.std(ddof=1)) / math.sqrt(series.size)
    return float(series.mean()) - half, float(series.mean()) + half


def percentile_blocks(series: Floats, rng: Rng) -> tuple[float, float]:
    n = series.size
    length = math.ceil(politis_white(series))
    starts = rng.integers(0, n, (REPLICATES, -(-n // length)))
    sums = np.concatenate(([0.0], np.cumsum(np.concatenate((series, series[:length])))))
    means = ((sums[starts + length] - sums[starts]) / length).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def studentised_blocks(series: Floats, rng: Rng) -> tuple[float, float]:
    made = mean_interval(series, replicates=REPLICATES, seed=int(rng.integers(1 << 30)))
    return made.low, made.high


METHODS = {
    "for independent samples": independent,
    "percentile blocks": percentile_blocks,
    "**studentised blocks**": studentised_blocks,
}


def means_table(simulations: int) -> None:
    print(f"| series | n | {' | '.join(METHODS)} |\n|---|---|{'---|' * len(METHODS)}")
    for name, (make, truth) in SERIES.items():
        for n in (1000, 4000):
            rng = np.random.default_rng(20261121)
            hits = dict.fromkeys(METHODS, 0)
            for _ in range(simulations):
                series = make(rng, n)
                for method, interval in METHODS.items():
                    low, high = interval(series, rng)
                    hits[method] += low <= truth <= high
            cells = " | ".join(f"{100 * hit / simulations:.1f} %" for hit in hits.values())
            print(f"| {name} | {n} | {cells} |", flush=True)


def hierarchical(base: list[Floats], cand: list[Floats], rng: Rng) -> tuple[float, float]:
    """Resample runs, then samples within them, percentile (blocks of 10: autocorrelation 0.5)."""

    def side(runs: list[Floats]) -> Floats:
        blocks = np.array([run.reshape(-1, 10).mean(axis=1) for run in runs])
        runs_drawn = rng.integers(0, len(runs), (REPLICATES, len(runs), 1))
        drawn = blocks[runs_drawn, rng.integers(0, blocks.shape[1], (REPLICATES, *blocks.shape))]
        return np.asarray(drawn.mean(axis=(1, 2)))

    low, high = np.quantile(side(cand) - side(base), (0.025, 0.975))
    return float(low), float(high)


def runs_table(simulations: int) -> None:
    methods = ("samples pooled", "hierarchical bootstrap", "**t over runs**")
    print(f"| runs a side | spread between runs | {' | '.join(methods)} |\n|---|---|---|---|---|")
    for count in (2, 3, 5, 10):
        for spread in (3.0, 0.0):
            rng = np.random.default_rng(20261121)
            hits = [0, 0, 0]
            for number in range(simulations):
                base, cand = (
                    [
                        100.0 + spread * rng.standard_normal() + 2.0 * ar1(rng, 300, 0.5)
                        for _ in range(count)
                    ]
                    for _ in range(2)
                )
                pooled = compare(
                    [np.concatenate(base)],
                    [np.concatenate(cand)],
                    statistic="mean",
                    replicates=REPLICATES,
                    seed=number,
                )
                low, high = hierarchical(base, cand, rng)
                made = compare(base, cand, statistic="mean", replicates=REPLICATES, seed=number)
                hits[0] += pooled.difference.covers(0.0)
                hits[1] += low <= 0.0 <= high
                hits[2] += made.difference.covers(0.0)
            cells = " | ".join(f"{100 * hit / simulations:.1f} %" for hit in hits)
            within = "3 %, 15 times the error within one" if spread else "none"
            print(f"| {count} | {within} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--only", choices=("means", "runs"))
    options = parser.parse_args()
    if options.only != "runs":
        means_table(options.simulations)
        print()
    if options.only != "means":
        runs_table(options.simulations // 4)


if __name__ == "__main__":
    main()
