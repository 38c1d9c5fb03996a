# SPDX-License-Identifier: Apache-2.0
"""How often nominal 95 % intervals contain the truth, for few bursts; others are in
docs/explanation/statistics.md. A burst that never struck leaves no trace: with two bursts on
average, 14 % of the runs have none, and their intervals miss the true value.

    python benchmarks/stats_coverage.py [--simulations 2000] [--only means|runs|bursts]

The same generated series, one interval per method: the textbook's for independent samples, the
percentile block bootstrap, and the studentised one that kadenz uses; then several runs per side, by
hierarchical bootstrap (percentile and studentised) and by the t interval that kadenz uses; then
percentiles and the share above a limit, of samples in many and in few bursts: how often kadenz
gives an interval, and how often it contains the truth.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from kadenz.stats.block_length import politis_white
from kadenz.stats.compare import compare
from kadenz.stats.limit import limit_rate
from kadenz.stats.mean_interval import mean_interval
from kadenz.stats.percentiles import percentiles
from kadenz.stats.prediction import maximum_bound
from kadenz.stats.samples import Floats

TITLE = "Few bursts"
RUNS = ("--only bursts --simulations 400",)

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
    interval = mean_interval(series, replicates=REPLICATES, seed=int(rng.integers(1 << 30)))
    return interval.low, interval.high


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
    print(f"| runs per side | spread between runs | {' | '.join(methods)} |\n|---|---|---|---|---|")
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
                comparison = compare(
                    base, cand, statistic="mean", replicates=REPLICATES, seed=number
                )
                hits[0] += pooled.difference.covers(0.0)
                hits[1] += low <= 0.0 <= high
                hits[2] += comparison.difference.covers(0.0)
            cells = " | ".join(f"{100 * hit / simulations:.1f} %" for hit in hits)
            within = "3 %, 15 times the error within one" if spread else "none"
            print(f"| {count} | {within} | {cells} |", flush=True)


N = 20_000


def bursts(rng: Rng, count: int, share: float) -> Floats:
    """Exponential samples with `count` bursts of equal length, together `share` of all."""
    samples = rng.exponential(1.0, N)
    length = int(share * N / count)
    for start in rng.integers(0, N - length, count):
        samples[start : start + length] += 5.0 + rng.exponential(2.0, length)
    return samples


def dependent(count: int, share: float) -> Callable[[Rng], Floats]:
    return lambda rng: bursts(rng, count, share)


CLUSTERED: dict[str, Callable[[Rng], Floats]] = {
    "independent": lambda rng: ar1(rng, N, 0.0),
    "autocorrelation 0.9": lambda rng: ar1(rng, N, 0.9),
    "autocorrelation 0.99": lambda rng: ar1(rng, N, 0.99),
    **{
        f"{count} bursts, {100 * share:g} % of the samples": dependent(count, share)
        for share in (0.02, 0.005)
        for count in (2, 4, 8, 16, 64)
    },
    "2 bursts on average (Poisson), 2 %": lambda rng: poisson(rng, 2.0, 0.02),
    "16 bursts on average (Poisson), 2 %": lambda rng: poisson(rng, 16.0, 0.02),
}


def poisson(rng: Rng, mean: float, share: float) -> Floats:
    """The same with a random number of bursts of random length."""
    samples = rng.exponential(1.0, N)
    for start in rng.integers(0, N, rng.poisson(mean)):
        part = samples[start : start + 1 + int(rng.exponential(share * N / mean))]
        part += 5.0 + rng.exponential(2.0, part.size)
    return samples


def bursts_table(simulations: int) -> None:
    levels = (0.5, 0.99, 0.999)
    heads = [f"p{100 * level:g} given | covered" for level in levels]
    heads += [f"above p{100 * level:g} given | covered" for level in levels[1:]]
    heads += ["bound of the maximum holds"]
    print(f"| series, n = {N:,} | {' | '.join(heads)} |\n|---|{'---|' * 11}")
    every = np.zeros(2)  # intervals that hold, and all
    for name, make in CLUSTERED.items():
        pool = np.sort(np.concatenate([make(np.random.default_rng([9, i])) for i in range(500)]))
        truths = [float(pool[int(level * pool.size)]) for level in levels]
        given, covered = np.zeros(5), np.zeros(5)
        held = 0
        for number in range(simulations):
            series = make(np.random.default_rng([7, number]))
            intervals = [
                (interval.low, interval.high, truth)
                for interval, truth in zip(percentiles(series, levels=levels), truths, strict=True)
            ]
            for level, truth in zip(levels[1:], truths[1:], strict=True):
                rate = limit_rate(series, truth)
                intervals.append((rate.low, rate.high, 1.0 - level))
            for place, (low, high, truth) in enumerate(intervals):
                if low is not None and high is not None:
                    given[place] += 1
                    covered[place] += low <= truth <= high
            above = 1.0 - np.searchsorted(pool, series.max(), "right") / pool.size
            held += above <= maximum_bound(series).exceed_fraction
        every += covered.sum(), given.sum()
        cells = " | ".join(
            f"{100 * g / simulations:.0f} % | " + (f"{100 * c / g:.0f} %" if g else "–")
            for g, c in zip(given, covered, strict=True)
        )
        print(f"| {name} | {cells} | {100 * held / simulations:.0f} % |", flush=True)
    print(f"\nanswer: {100 * every[0] / every[1]:.0f} % of the given 95 % intervals hold")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--only", choices=("means", "runs", "bursts"))
    options = parser.parse_args()
    if options.only in (None, "means"):
        means_table(options.simulations)
        print()
    if options.only in (None, "runs"):
        runs_table(options.simulations // 4)
        print()
    if options.only in (None, "bursts"):
        bursts_table(options.simulations // 4)


if __name__ == "__main__":
    main()
