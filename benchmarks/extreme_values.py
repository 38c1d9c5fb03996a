# SPDX-License-Identifier: Apache-2.0
"""How often the level of an extreme-value fit lies below a maximum that is known.

    python benchmarks/extreme_values.py [--draws 10] [--samples 100,2000,10000,100000]
        [--target freertos/ibex@rtl]... [--service critical]...

`kadenz worst` knows the latency of every arrival of an interrupt in a service, so the maximum is
exact. Each arrival is as likely as any other, and a service has some thousands: the level that one
arrival in a million exceeds is the maximum itself. Random arrivals of such a population are given
to four methods, which do not know it: the largest of them; the textbook's Gumbel distribution of
block maxima and its generalised Pareto distribution above a quantile, both by scipy's maximum
likelihood (as pyextremes does); and `kadenz.stats.tail`, which may refuse. Then the same with
arrivals of one cycle in ten alone: a timer that counts every tenth cycle meets no others.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import genpareto, gumbel_r

from kadenz.analysis.structures.population import Population
from kadenz.cli.folders import find_runs
from kadenz.config.manifest import ARRIVALS
from kadenz.stats.errors import TooFew
from kadenz.stats.samples import Floats
from kadenz.stats.tail import fit_tail

TITLE = "Extreme values against the truth"
RUNS = ("--draws 5",)

LEVEL = 1e-6  # of arrivals
BLOCKS = 50  # at least
QUANTILE = 0.95
EVERY = 10  # cycles between two arrivals that a coarse timer can make
FEWEST = 300  # arrivals of a service
TARGETS = ("freertos/ibex@rtl", "freertos/vexriscv@rtl")


@dataclass(frozen=True)
class Level:
    """An answer of a method: its level, and the upper end of its interval, if it has one."""

    value: float
    high: float


Method = Callable[[Floats], Level | None]  # None: it refuses


def largest(samples: Floats) -> Level:
    """What most publications print."""
    value = float(samples.max())
    return Level(value, value)


def block_maxima(samples: Floats) -> Level | None:
    """Gumbel (1958) over maxima of equal blocks, as in probabilistic analysis of times."""
    length = samples.size // BLOCKS
    if length < 2:
        return None
    maxima = samples[: length * BLOCKS].reshape(BLOCKS, length).max(axis=1)
    if np.ptp(maxima) == 0.0:
        return largest(samples)
    place, scale = gumbel_r.fit(maxima)
    value = float(gumbel_r.ppf((1.0 - LEVEL) ** length, place, scale))
    return Level(value, value)


def peaks(samples: Floats) -> Level | None:
    """A generalised Pareto distribution above the 95 % quantile (Pickands 1975)."""
    threshold = float(np.quantile(samples, QUANTILE))
    excess = samples[samples > threshold] - threshold
    if excess.size < 20 or np.ptp(excess) == 0.0:
        return None
    shape, _, scale = genpareto.fit(excess, floc=0.0)
    share = LEVEL * samples.size / excess.size
    value = threshold + float(genpareto.isf(share, shape, 0.0, scale))
    return Level(value, value)


def tail(samples: Floats) -> Level | None:
    """kadenz's own, at the level nearest to one in a million that it gives."""
    try:
        levels = fit_tail(samples).levels
    except TooFew:
        return None
    if not levels:
        return None
    nearest = min(levels, key=lambda level: abs(np.log(level.samples * LEVEL)))
    return Level(nearest.level.value, nearest.level.high)


OURS = "kadenz tail"
METHODS: dict[str, Method] = {
    "largest of n": largest,
    "block maxima, Gumbel": block_maxima,
    "peaks, Pareto": peaks,
    OURS: tail,
}


def populations(targets: Sequence[str], services: Sequence[str]) -> Iterator[Floats]:
    """The latencies of all arrivals of each service, by target, state and lane."""
    chosen = [word for target in targets for word in ("--target", target)]
    with tempfile.TemporaryDirectory() as place:
        program = [sys.executable, "-c", "from kadenz.cli import main; main()", "worst"]
        answer = subprocess.run(
            [*program, *services, *chosen, "--output", place],
            check=False,
            capture_output=True,
            text=True,
        )
        if answer.returncode != 0:
            sys.exit(answer.stdout[-2000:] + answer.stderr[-2000:])
        for run in find_runs([Path(place)]):
            for record in run.manifest.records:
                exact = Population.of(run, record)
                if exact is None or exact.step != 1 or exact.tried < FEWEST:
                    continue
                if exact.lost or exact.untried:  # the truth is not known
                    continue
                for lane in record.series:
                    if lane.name in ARRIVALS:
                        yield run.samples(record, lane).astype(np.float64)


@dataclass
class Score:
    """How a method did over all draws: levels over the truth, and intervals that end below it. A
    level is of whole cycles, as the truth is."""

    refused: int
    ratios: list[float]
    missed: int

    @classmethod
    def of(cls, answers: Sequence[tuple[Level | None, float]]) -> Score:
        """From answers, each with its truth."""
        given = [(level, truth) for level, truth in answers if level is not None]
        return cls(
            len(answers) - len(given),
            [round(level.value) / truth for level, truth in given],
            sum(round(level.high) < truth for level, truth in given),
        )

    def cells(self, *, refuses: bool) -> str:
        """Levels below the truth, and the median of level over truth; of a method that `refuses`
        also the draws that it refused, and intervals that end below the truth."""
        total, given = self.refused + len(self.ratios), len(self.ratios)
        below = sum(ratio < 1.0 for ratio in self.ratios)
        cells = ["–", "–"]
        if given:
            cells = [_percent(below, given), f"{np.median(self.ratios):.2f}"]
        if refuses:
            missed = _percent(self.missed, given) if given else "–"
            cells = [_percent(self.refused, total), cells[0], missed, cells[1]]
        return " | ".join(cells)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def draws(
    random: np.random.Generator, population: Floats, size: int, count: int, every: int
) -> Iterator[Floats]:
    """Random arrivals: all are as likely, or those of one cycle in `every` are."""
    for _ in range(count):
        begin = int(random.integers(0, every))
        yield random.choice(population[begin::every], size)


def scores(
    known: Sequence[Floats], sizes: Sequence[int], count: int, every: int
) -> Iterator[tuple[int, dict[str, Score]]]:
    """Each number of arrivals, with the score of each method."""
    random = np.random.default_rng(1)
    for size in sizes:
        drawn = [
            (samples, float(population.max()))
            for population in known
            for samples in draws(random, population, size, count, every)
        ]
        yield (
            size,
            {
                name: Score.of([(method(samples), truth) for samples, truth in drawn])
                for name, method in METHODS.items()
            },
        )


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--samples", default="100,2000,10000,100000")
    parser.add_argument("--target", action="append")
    parser.add_argument("--service", action="append")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.samples.split(",")]
    known = list(populations(asked.target or TARGETS, asked.service or ["critical"]))
    if not known:
        sys.exit(f"no service has {FEWEST} arrivals")
    sizes_of = sorted(population.size for population in known)
    print(
        f"{len(known)} populations of {sizes_of[0]:,} to {sizes_of[-1]:,} arrivals, "
        f"{asked.draws} draws of each.\n"
    )
    heads = "".join(f"{name}: below | over | " for name in METHODS if name != OURS)
    print(f"| arrivals | n | {heads}{OURS}: refused | below | interval below | over |")
    print("|---" * (2 * len(METHODS) + 4) + "|")
    missed = []
    for every, where in ((1, "in any cycle"), (EVERY, f"in one of {EVERY}")):
        for size, by_method in scores(known, sizes, asked.draws, every):
            cells = [score.cells(refuses=name == OURS) for name, score in by_method.items()]
            print(f"| {where} | {size:,} | {' | '.join(cells)} |", flush=True)
            ours = by_method[OURS]
            if every == 1 and ours.ratios:
                missed.append(ours.missed / len(ours.ratios))
    print("\nbelow: levels below the truth; over: the median of level over truth.\n")
    if missed:
        print(
            "answer: of kadenz's intervals, given arrivals in any cycle, "
            f"{100 * max(missed):.1f} % end below the truth"
        )


if __name__ == "__main__":
    main()
