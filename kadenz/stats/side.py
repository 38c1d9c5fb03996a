# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison: its runs' figures, their errors, and the effect of the clock's step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.replicate import (
    LessLoop,
    Replicated,
    level_of,
    replicate,
    replicate_less_loop,
    varied_between_runs,
)
from kadenz.stats.spread import RunLogs

Run = npt.ArrayLike | LessLoop


@dataclass(frozen=True, eq=False)
class Side:
    """One side's runs: their statistic, and how far the clock's step can move it.

    `history` are figures of other runs of the same system, used only for the spread.
    """

    runs: list[Replicated]
    step: float = 0.0
    history: tuple[float, ...] = ()

    @property
    def count(self) -> int:
        """The number of runs, without the history."""
        return len(self.runs)

    @property
    def constant(self) -> bool:
        """Whether there is no spread within or between runs."""
        return all(run.constant and run.value == self.runs[0].value for run in self.runs)

    @property
    def positive(self) -> bool:
        """Whether every run's figure is above zero, so that it has a logarithm."""
        return min(run.value for run in self.runs) > 0.0

    @property
    def value(self) -> float:
        """The geometric mean over runs; the arithmetic mean if a run has no logarithm."""
        values = [run.value for run in self.runs]
        if min(values) == max(values):
            return values[0]
        if not self.positive:
            return math.fsum(values) / self.count
        return math.exp(math.fsum(math.log(value) for value in values) / self.count)

    @property
    def within(self) -> float:
        """Variance of a figure's logarithm within runs; all figures above zero."""
        errors = (math.log1p(run.standard_error / run.value) ** 2 for run in self.runs)
        return math.fsum(errors) / self.count

    @property
    def logs(self) -> RunLogs | None:
        """The runs' or the history's logarithms, for the spread; None for a single run alone."""
        values = [run.value for run in self.runs] + list(self.history)
        if len(values) < 2 or min(values) <= 0.0:
            return None
        # Readings of a coarse clock may agree by chance.
        coarse = (self.step / self.value) ** 2 / 3.0
        return RunLogs(np.log(values), max(self.within, coarse))


def side_of(
    runs: Sequence[Run],
    *,
    statistic: str | float = "median",
    between_runs: float = 0.0,
    step: float = 0.0,
    history: Sequence[Run] = (),
    replicates: int = 2000,
    seed: tuple[int, int] = (1, 0),
) -> Side:
    """The runs of a side, replicated. `seed` ends with a number that differs between the sides.

    `step` is the clock's. If time stamps fall anywhere between two ticks, a quantile q of readings
    is off by at most max(q, 1 - q) steps; the mean is then correct unless all readings are equal.
    """
    if not runs:
        raise Undefined("comparison", "a side without runs. Give at least one run per side")
    replications = []
    for i, run in enumerate((*runs, *history)):
        rng = np.random.default_rng([*seed, i])
        # Of the history only the figure is needed.
        draws = replicates if i < len(runs) else 100
        replicated = (
            replicate_less_loop(run, statistic, draws, rng)
            if isinstance(run, LessLoop)
            else replicate(run, statistic, draws, rng)
        )
        replications.append(
            varied_between_runs(replicated, between_runs, rng) if between_runs else replicated
        )
    current, more = replications[: len(runs)], replications[len(runs) :]
    level = 1.0 if statistic == "max" else level_of(statistic)
    if level is None:
        share = 1.0 if all(run.constant for run in current) else 0.0
    else:
        share = max(level, 1.0 - level)
    return Side(current, step * share, tuple(run.value for run in more))
