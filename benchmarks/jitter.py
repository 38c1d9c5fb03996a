# SPDX-License-Identifier: Apache-2.0
"""Cost of the jitter analysis, and how often its results are right.

    python benchmarks/jitter.py                      # a million edges, against a plain peer
    python benchmarks/jitter.py --simulations 200    # and the shares of false alarms and coverage

The peer does what a careful user would write by hand: numpy.polyfit, scipy.ndimage.uniform_filter1d
and one scipy.fft.rfft. Both run alternately; the minimum of each counts, as processor time (the
machine may be busy) and as wall time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.fft
from scipy.ndimage import uniform_filter1d
from scipy.signal import lfilter
from scipy.stats import norm
from scipy.stats import t as student

from kadenz.stats.decomposition import decompose
from kadenz.stats.disturbances import find_disturbances
from kadenz.stats.drift import separate_drift
from kadenz.stats.samples import Array, Floats
from kadenz.stats.tail import fit_tail

TITLE = "Jitter analysis"

Rng = np.random.Generator
N = 1_000_000


def edges(rng: Rng) -> Floats:
    """1000 s at 1 kHz: 200 ppm, a wander of 3 us, jitter of 120 ns, a flush of 160 us a minute."""
    number = np.arange(N)
    late = rng.normal(0.0, 120.0, N) + 3_000.0 * np.sin(2 * np.pi * number / 400_000)
    late[30_000::60_000] += 160_000.0
    late[rng.choice(N, 40, replace=False)] += 20_000.0
    return np.asarray(number * 1e6 * 1.0002 + late)


def peer(times: Floats) -> None:
    number = np.arange(times.size)
    slope = np.polyfit(number, times, 1)
    rest = times - np.polyval(slope, number)
    rest -= uniform_filter1d(rest, 16_000)
    np.abs(scipy.fft.rfft(rest)).argmax()


def cost(rounds: int) -> None:
    times = edges(np.random.default_rng(1))
    parts: dict[str, Callable[[], object]] = {
        "rate, drift, jitter (`separate_drift`)": lambda: separate_drift(times, nominal_period=1e6),
        "all of it (`decompose`)": lambda: decompose(times, nominal_period=1e6),
        "peer: polyfit, uniform_filter1d, rfft": lambda: peer(times),
    }
    best = {name: [float("inf"), float("inf")] for name in parts}
    for _ in range(rounds):
        for name, run in parts.items():
            wall, busy = time.perf_counter(), time.process_time()
            run()
            took = time.perf_counter() - wall, time.process_time() - busy
            best[name] = [min(a, b) for a, b in zip(best[name], took, strict=True)]
    reference = best["peer: polyfit, uniform_filter1d, rfft"][1]
    print(f"\n| {N:,} edges | processor, s | wall, s | ratio |\n|---|---|---|---|")
    for name, (wall, busy) in best.items():
        print(f"| {name} | {busy:.2f} | {wall:.2f} | {busy / reference:.1f} |")
    took = best["all of it (`decompose`)"][1]
    print(f"\nanswer: all of it for {N:,} edges in {took:.2f} s of processor time")


def ar1(rng: Rng, n: int, phi: float) -> Floats:
    noise = rng.standard_normal(n + 2000) * np.sqrt(1.0 - phi * phi)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise)[2000:], dtype=np.float64)


def bursts(rng: Rng, n: int) -> Floats:
    series = rng.normal(size=n)
    for start in rng.integers(0, n - 100, 30):
        series[start : start + rng.integers(1, 100)] += rng.exponential(10.0)
    return np.asarray(series)


def strays(rng: Rng, n: int) -> Floats:
    series = rng.normal(size=n)
    series[rng.integers(0, n, 60)] += 8.0 + rng.exponential(20.0, 60)
    return np.asarray(series)


NO_PERIOD: dict[str, Callable[[Rng, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "autocorrelation 0.9": lambda rng, n: ar1(rng, n, 0.9),
    "autocorrelation 0.99": lambda rng, n: ar1(rng, n, 0.99),
    "Student's t, 3": lambda rng, n: rng.standard_t(3, n),
    "Pareto 2": lambda rng, n: rng.pareto(2.0, n),
    "log-normal, 0.9": lambda rng, n: np.asarray(np.exp(ar1(rng, n, 0.9))),
    "bursts": bursts,
    "strays": strays,
    "ticks of 1.4 sd": lambda rng, n: np.round(0.7 * rng.normal(size=n)),
}


def false_alarms(simulations: int, n: int = 20_000) -> None:
    print("\n| series without a period | strikes named | waves named |\n|---|---|---|")
    for name, make in NO_PERIOD.items():
        rng = np.random.default_rng(2)
        disturbances = [find_disturbances(make(rng, n), alpha=0.01) for _ in range(simulations)]
        trains = sum(bool(disturbance.periodic) for disturbance in disturbances)
        waves = sum(bool(disturbance.waves) for disturbance in disturbances)
        print(f"| {name} | {trains} of {simulations} | {waves} of {simulations} |", flush=True)


def rate_coverage(simulations: int) -> None:
    print("\n| autocorrelation, n | worth | rate covered |\n|---|---|---|")
    for phi, n in ((0.0, 2000), (0.9, 2000), (0.95, 2000), (0.98, 4000), (0.99, 4000)):
        rng = np.random.default_rng(3)
        inside = 0
        for _ in range(simulations):
            times = 1e6 * np.arange(n) + 5e3 * ar1(rng, n, phi)
            drift = separate_drift(times, nominal_period=1e6, replicates=400)
            inside += drift.rate_error_ppm is not None and drift.rate_error_ppm.covers(0.0)
        worth = n * (1.0 - phi) / (1.0 + phi)
        print(f"| {phi}, {n:,} | {worth:,.0f} | {inside / simulations:.1%} |", flush=True)


TAILS: dict[str, tuple[Callable[[Rng, int], Array], Callable[[float], float]]] = {
    "exponential": (lambda rng, n: rng.exponential(1.0, n), np.log),
    "exponential in ticks of 1/8": (
        lambda rng, n: np.round(rng.exponential(8.0, n)).astype(np.uint32),
        lambda m: 8.0 * np.log(m),
    ),
    "bounded, shape -0.3": (
        lambda rng, n: (1.0 - rng.random(n) ** 0.3) / 0.3,
        lambda m: (1.0 - m**-0.3) / 0.3,
    ),
    "Student's t, 4": (lambda rng, n: rng.standard_t(4, n), lambda m: student(4).isf(1.0 / m)),
    "log-normal": (lambda rng, n: rng.lognormal(0, 1, n), lambda m: np.exp(norm.isf(1.0 / m))),
    "normal": (lambda rng, n: rng.normal(size=n), lambda m: norm.isf(1.0 / m)),
}


def tail_coverage(simulations: int, n: int = 20_000) -> None:
    print(
        "\n| tail of 20,000 samples | once in n | 10 n | 100 n | refused |\n|---|---|---|---|---|"
    )
    for name, (make, truth) in TAILS.items():
        rng = np.random.default_rng(4)
        inside, kept = np.zeros(3), 0
        for number in range(simulations):
            tail = fit_tail(make(rng, n), seed=number)
            if not tail.refusal:
                kept += 1
                inside += [
                    exceedance.level.covers(float(truth(exceedance.samples)))
                    for exceedance in tail.levels
                ]
        shares = " | ".join(f"{share:.1%}" for share in inside / max(kept, 1))
        print(f"| {name} | {shares} | {1.0 - kept / simulations:.1%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simulations", type=int, default=0)
    chosen = parser.parse_args()
    cost(chosen.rounds)
    if chosen.simulations:
        rate_coverage(chosen.simulations)
        false_alarms(chosen.simulations)
        tail_coverage(chosen.simulations)


if __name__ == "__main__":
    main()
