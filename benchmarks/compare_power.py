# SPDX-License-Identifier: Apache-2.0
"""How often `compare` reports a change that is none, and how often it finds one.

    python benchmarks/compare_power.py [--pairs 200] [--samples 20000] [--only NAME] [--runs N]
    python benchmarks/compare_power.py --rounds [--calls 100]

Pairs of generated sides, the same system twice (A/A) and one 5 % slower (A/B), for several kinds of
noise, one run per side and several. A false alarm is a verdict `better` or `worse` on an A/A pair;
found is a verdict `worse` on an A/B pair. Both have their exact 95 % intervals (Clopper and Pearson
1934). The threshold is the command line's default, 5 %. Within it an A/A pair is `equivalent`, so
another column says how often the interval of an A/A pair's ratio excludes 1 (nominal 5 %). Exit
code 1 if a line misses its requirement: at most 5 % false alarms, at least 95 % found.

`--rounds`: calls of many points, two to five rounds a side, whose figures differ from run to run by
a log-normal spread. A false alarm is any `better` or `worse` in a call without a change; found is
`worse` at the one point that has one.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.signal import lfilter
from scipy.stats import beta

from kadenz.stats.compare import compare, judge
from kadenz.stats.holm import holm
from kadenz.stats.replicate import Replicated
from kadenz.stats.samples import Floats
from kadenz.stats.side import Side
from kadenz.stats.spread import moderated

TITLE = "False alarms and power of compare"
RUNS = (
    "--rounds --calls 500",
    "--pairs 100",
)

Rng = np.random.Generator
SHIFT = 1.05
MOST_FALSE, LEAST_FOUND = 0.05, 0.95
POINTS = 20  # of the many points in one call
THRESHOLD_OF_MANY = 0.001  # so that `no difference within` hides no false alarm


def ar1(rng: Rng, n: int, phi: float) -> Floats:
    noise = rng.standard_normal(n + 200) * math.sqrt(1.0 - phi * phi)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise)[200:], dtype=np.float64)


def smooth(rng: Rng, n: int, level: float) -> Floats:
    """Autocorrelation 0.9, sd a tenth of the level."""
    return np.asarray(level * (1.0 + 0.1 * ar1(rng, n, 0.9)))


def skewed(rng: Rng, n: int, level: float) -> Floats:
    """Log-normal, sd of the logarithm 0.1, autocorrelation 0.9."""
    return np.asarray(level * np.exp(0.1 * ar1(rng, n, 0.9)))


def ticks(rng: Rng, n: int, level: float, tick: float = 1.0) -> Floats:
    """`smooth`, read by a clock with ticks at a random phase; the level is `level / tick` ticks."""
    return np.asarray(np.floor(smooth(rng, n, level) / tick + rng.random(n)))


def readings(rng: Rng, n: int, level: float) -> Floats:
    """Readings of a clock with a step of 1: whole numbers with the mean `level`."""
    return np.asarray(np.floor(level * (1.0 + 0.002 * ar1(rng, n, 0.9)) + rng.random(n)))


def bursts(rng: Rng, n: int, level: float, share: float = 0.001, length: int = 10) -> Floats:
    """Skewed, with bursts of `length` consecutive samples, `share` of all, and a Pareto tail of
    2."""
    series = skewed(rng, n, level)
    for start in np.flatnonzero(rng.random(n) < share / length):
        part = slice(start, start + 1 + rng.geometric(1.0 / length))
        series[part] *= 2.0 + rng.pareto(2.0, series[part].size)
    return series


@dataclass(frozen=True)
class Case:
    """A line of the table. `required` columns decide the exit code."""

    name: str
    make: Callable[[Rng, int, float], Floats]
    statistic: str | float
    runs: int = 1
    offset: float = 0.0  # relative sd of the level from run to run
    told: float = 0.0  # the value of --between-runs
    level: float = 100.0
    step: float = 0.0  # of the clock, in the unit of the samples
    required: str = "both"  # "both", "false alarms" or "nothing"


COARSE = partial(ticks, tick=5.0)
# One sample in fifty is in a burst: p99 lies in the Pareto tail of eight bursts per run.
HEAVY = partial(bursts, share=0.02, length=50)
# The same share in two bursts per run.
TWO = partial(bursts, share=0.02, length=200)
NOISE: dict[str, Callable[[Rng, int, float], Floats]] = {
    "autocorrelation 0.9": smooth,
    "0.9, log-normal": skewed,
    "0.9, ticks of 1 %": ticks,
    "0.9, ticks of 5 %": COARSE,
    "0.9, log-normal, bursts": bursts,
}
BOTH = ("median", 0.99)


def must(noise: str, statistic: str | float) -> str:
    """p99 between two ticks of 5 %, or next to bursts, is not determined to 5 % by 20,000
    samples."""
    hidden = noise == "0.9, ticks of 5 %"  # by the clock's step, as large as the threshold
    tail = statistic != "median" and noise in list(NOISE)[3:]
    return "false alarms" if hidden or tail else "both"


CASES = [
    *(
        Case(name, make, s, 1, required=must(name, s), step=float("ticks" in name))
        for name, make in NOISE.items()
        for s in BOTH
    ),
    # The true median is between two ticks of 5 %: the change is as small as the clock's step.
    Case(
        "0.9, ticks of 5 %, on the edge",
        COARSE,
        "median",
        level=102.5,
        required="false alarms",
        step=1.0,
    ),
    *(
        Case("readings of 3 and 4, 10 % apart", readings, s, r, level=3.5, step=1.0, required=needs)
        for s, needs in (("median", "false alarms"), ("mean", "both"))
        for r in (1, 3)
    ),
    *(
        Case("two bursts per run determine p99", TWO, 0.99, r, required="false alarms")
        for r in (1, 3, 5)
    ),
    *(Case("bursts that determine p99", HEAVY, 0.99, r, required="false alarms") for r in (1, 5)),
    *(
        Case(name, NOISE[name], s, 3, required=must(name, s))
        for name in ("autocorrelation 0.9", "0.9, log-normal, bursts")
        for s in BOTH
    ),
    Case("0.9, runs differ by 1 %", skewed, "median", 1, 0.01, required="nothing"),
    Case(
        "0.9, runs differ by 1 %, declared",
        skewed,
        "median",
        1,
        0.01,
        0.01,
        required="false alarms",
    ),
    *(Case("0.9, runs differ by 1 %", skewed, s, 3, 0.01, required="false alarms") for s in BOTH),
    *(Case("0.9, runs differ by 1 %", skewed, s, 5, 0.01) for s in BOTH),
]


def side(rng: Rng, case: Case, n: int, level: float) -> list[Floats]:
    return [
        case.make(rng, n, level * math.exp(case.offset * rng.standard_normal()))
        for _ in range(case.runs)
    ]


def trial(case: Case, samples: int, number: int) -> tuple[str, bool, str]:
    """The verdict on an A/A pair, whether its interval excludes 1, and the verdict on A/B."""
    rng = np.random.default_rng([20261121, number])
    said = []
    for factor in (1.0, 1.1 if "10 %" in case.name else SHIFT):
        levels = case.level, case.level * factor
        pair = [side(rng, case, samples, level) for level in levels]
        comparison = compare(
            *pair, statistic=case.statistic, between_runs=case.told, step=case.step, seed=number + 1
        )
        said.append(comparison)
    same, shifted = said
    apart = same.ratio is not None and not same.ratio.covers(1.0)
    return same.verdict, apart, shifted.verdict


def rate(hits: int, of: int) -> str:
    """A share with its exact 95 % interval."""
    low = beta.ppf(0.025, hits, of - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, of - hits) if hits < of else 1.0
    return f"{100 * hits / of:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def many_points(samples: int, number: int) -> tuple[bool, bool, int, int]:
    """One A/A call over many points, and one in which a fifth of them are 5 % slower."""
    rng = np.random.default_rng([20261122, number])
    answers: list[tuple[bool, bool, int]] = []
    for changed in (0, POINTS // 5):
        comparisons = [
            compare(
                [skewed(rng, samples, 100.0)],
                [skewed(rng, samples, 100.0 * (SHIFT if i < changed else 1.0))],
                threshold=THRESHOLD_OF_MANY,
                seed=number + 1,
            )
            for i in range(POINTS)
        ]
        called = [comparison.verdict in ("better", "worse") for comparison in comparisons]
        kept = holm([comparison.p_changed or 0.0 for comparison in comparisons]) <= 0.05
        both = [c and bool(k) for c, k in zip(called, kept, strict=True)]
        answers.append((any(called[changed:]), any(both[changed:]), sum(both[:changed])))
    return answers[0][0], answers[0][1], answers[1][2], POINTS // 5


@dataclass(frozen=True)
class Rounds:
    """A line of the table of rounds: the spread (sd of the logarithm) of both sides, and a
    change."""

    name: str
    left: float
    right: float
    change: float


ROUNDS = [
    Rounds("1 %", 0.01, 0.01, 1.1),
    Rounds("10 %", 0.1, 0.1, 2.0),
    Rounds("factor 2", math.log(2.0), math.log(2.0), 20.0),
    Rounds("3 %, and factor 2 on one side", 0.03, math.log(2.0), 20.0),
]


def of_runs(logs: Floats) -> Side:
    """A side whose runs have the figures exp(`logs`) (r,) and are long enough to have no own
    error."""

    def exactly(value: float) -> Replicated:
        return Replicated(value, lambda _: np.full(2, value), 0.0, False, 1e9)

    return Side([exactly(value) for value in np.exp(logs).tolist()])


def call(base: Floats, cand: Floats) -> Floats:
    """Adjusted p-values of a call: logarithms (m, r) of m points in r runs a side."""
    sides = [[of_runs(row) for row in logs] for logs in (base, cand)]
    spreads = moderated([[logs for point in row if (logs := point.logs)] for row in sides])
    comparisons = [
        judge(a, b, statistic="median", threshold=THRESHOLD_OF_MANY, spreads=(left, right))
        for a, b, left, right in zip(*sides, *spreads, strict=True)
    ]
    return holm([point.p_changed or 0.0 for point in comparisons])


def rounds_call(line: Rounds, rounds: int, points: int, shared: float, number: int) -> list[bool]:
    """Whether a call without a change reports one, and whether a change at one point is found.

    The spread differs from point to point by a factor of 1.5 (sd), and is at most a factor of 2.
    """
    rng = np.random.default_rng([20261123, number])
    deviations = np.exp(math.log(1.5) * rng.standard_normal((points, 1)))

    def logs(spread: float) -> Floats:
        common = rng.standard_normal((1, rounds))
        alone = rng.standard_normal((points, rounds))
        sd = np.minimum(spread * deviations, math.log(2.0))
        return np.asarray(sd * (math.sqrt(shared) * common + math.sqrt(1.0 - shared) * alone))

    base, cand = logs(line.left), logs(line.right)
    false = bool((call(base, cand) <= 0.05).any())
    cand[0] += math.log(line.change)
    return [false, bool(call(base, cand)[0] <= 0.05)]


def rounds_table(calls: int, pool: ProcessPoolExecutor) -> bool:
    """Print the table of rounds; True if no line has more than 5 % of false alarms.

    A line passes if 5 % is inside or above its exact 95 % interval.
    """
    holds, most = True, 0.0
    print(f"{calls} calls per cell: false alarms / change found at one point\n")
    print("| spread between runs | change | points | moved together | 2 rounds | 3 | 5 |")
    print("|---|---|---|---|---|---|---|")
    for line in ROUNDS:
        for points, shared in ((1, 0.0), (5, 0.0), (20, 0.0), (20, 0.6)):
            cells = []
            for rounds in (2, 3, 5):
                work = partial(rounds_call, line, rounds, points, shared)
                said = list(pool.map(work, range(calls), chunksize=50))
                false, detected = (sum(counts[i] for counts in said) for i in (0, 1))
                holds = holds and (false == 0 or beta.ppf(0.025, false, calls - false + 1) <= 0.05)
                most = max(most, false / calls)
                cells.append(f"{100 * false / calls:.1f} % / {100 * detected / calls:.0f} %")
            change = f"{line.change:g} times"
            together = f"{100 * shared:.0f} %"
            print(
                f"| {line.name} | {change} | {points} | {together} | {' | '.join(cells)} |",
                flush=True,
            )
    print(f"\nanswer: at most {100 * most:.0f} % of calls with a false alarm")
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only lines whose name contains this")
    parser.add_argument("--runs", type=int, default=0, help="only lines with N runs per side")
    parser.add_argument("--calls", type=int, default=100, help="number of calls with many points")
    parser.add_argument("--rounds", action="store_true", help="only the table of rounds")
    options = parser.parse_args()
    if options.rounds:
        with ProcessPoolExecutor(options.jobs) as pool:
            return 0 if rounds_table(options.calls, pool) else 1
    failed = []
    print(f"{options.pairs} pairs per line, {options.samples:,} samples per run, a shift of 5 %\n")
    print(
        "| noise | statistic | runs per side | interval without 1 (A/A) | false alarms (A/A) "
        "| 5 % found (A/B) | required |"
    )
    print("|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(options.jobs) as pool:
        for case in CASES:
            if options.only not in case.name or options.runs not in (0, case.runs):
                continue
            said = list(
                pool.map(partial(trial, case, options.samples), range(options.pairs), chunksize=10)
            )
            false = sum(pair[0] in ("better", "worse") for pair in said)
            apart = sum(pair[1] for pair in said)
            detected = sum(pair[2] == "worse" for pair in said)
            seldom, often = MOST_FALSE * options.pairs, LEAST_FOUND * options.pairs
            holds = {
                "both": false <= seldom and detected >= often,
                "false alarms": false <= seldom,
                "nothing": True,
            }[case.required]
            if not holds:
                failed.append(case)
            name = case.statistic if isinstance(case.statistic, str) else "p99"
            verdict = case.required if holds else f"{case.required}: FAILS"
            print(
                f"| {case.name} | {name} | {case.runs} | {rate(apart, options.pairs)} "
                f"| {rate(false, options.pairs)} "
                f"| {rate(detected, options.pairs)} | {verdict} |",
                flush=True,
            )
        if not options.only and options.calls:
            calls = list(pool.map(partial(many_points, options.samples), range(options.calls)))
            bare, held = sum(c[0] for c in calls), sum(c[1] for c in calls)
            detected, of = sum(c[2] for c in calls), sum(c[3] for c in calls)
            print(
                f"\n{options.calls} calls with {POINTS} points each, {options.samples:,} "
                "samples per run; a false alarm is any wrong verdict in a call"
            )
            print("\n| | calls with a false alarm | 5 % found at a point |\n|---|---|---|")
            print(f"| each point on its own | {rate(bare, options.calls)} | |")
            print(f"| all together (Holm) | {rate(held, options.calls)} | {rate(detected, of)} |")
    for case in failed:
        print(f"FAILED: {case.name}, {case.statistic}, {case.runs} a side")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
