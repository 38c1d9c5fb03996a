# SPDX-License-Identifier: Apache-2.0
"""The samples of a benchmark point, run by run, in the unit of figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kadenz.analysis.matching import SameRuns
from kadenz.analysis.results import Samples
from kadenz.analysis.runs import described, refusal
from kadenz.analysis.structures import Compared, compared_of
from kadenz.analysis.units import unit_of
from kadenz.config.manifest import REPEATABLE, LaneEntry, RecordEntry
from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import order
from kadenz.stats.replicate import LessLoop
from kadenz.stats.samples import exact_mean
from kadenz.store import Run

Series = Samples | LessLoop


def lanes_of(entry: RecordEntry) -> list[str]:
    """The names of its compared lanes, as their structure calls them."""
    return list(_compared(entry))


def _compared(entry: RecordEntry) -> dict[str, Compared]:
    every = [compared_of(entry, lane) or _samples(entry, lane) for lane in entry.series]
    return {compared.name: compared for compared in every if compared.name}


def _samples(entry: RecordEntry, lane: LaneEntry) -> Compared:
    def read(run: Run, scale: float) -> Samples:
        warm = described(run, entry, lane)
        # Without scaling, integers stay integers, which stats count exactly.
        return warm if scale == 1.0 else np.asarray(warm * np.float64(scale))

    return Compared(lane.name, read)


def both_sides(left: SameRuns, right: SameRuns, lane: str) -> tuple[list[list[Series]], str]:
    """Every run's samples of a lane on both sides, or the reason why they cannot be compared."""
    sides = []
    for side in (left, right):
        samples: list[Series] = []
        for run, entry in side.runs:
            refused, series = series_of(run, entry, lane)
            if refused or series is None:
                return [], f"{run.path.name}: {refused}"
            samples.append(series)
        sides.append(samples)
    return sides, ""


def series_of(run: Run, entry: RecordEntry, lane: str) -> tuple[str, Series | None]:
    """Warm samples of a lane in the unit of figures, or the reason for none.

    This is the only place where clocks of different rates meet.
    """
    refused = refusal(entry)
    if refused:
        return refused, None
    compared = _compared(entry)
    if lane not in compared:
        return f"it has {', '.join(compared) or 'no lane'} instead of {lane}", None
    try:
        return "", compared[lane].read(run, unit_of(entry.unit, run.manifest.clock).scale)
    except Undefined as error:
        return error.reason, None


def as_figures(run: Series) -> Samples:
    """Samples as figures; for a batch, less the median of the empty loop."""
    if not isinstance(run, LessLoop):
        return run
    return np.asarray((np.asarray(run.samples) - np.median(np.asarray(run.loop))) / run.per)


def figure_of(runs: Sequence[Series], statistic: str | float) -> float | None:
    """The geometric mean of a statistic over runs; None if a run has too few samples."""
    figures = []
    for run in runs:
        series = as_figures(run)
        if series.size == 0:
            return None
        if statistic == "mean":
            figures.append(exact_mean(series))
        elif statistic == "max":
            figures.append(float(series.max()))
        elif statistic == "median":
            figures.append(order(series).median)
        else:
            level = float(statistic)
            if series.size * min(level, 1.0 - level) < 1.0:
                return None
            figures.append(order(series).quantile(level))
    if min(figures) == max(figures):
        return figures[0]
    if min(figures) <= 0.0:
        return math.fsum(figures) / len(figures)
    return math.exp(math.fsum(map(math.log, figures)) / len(figures))


def repeated(same: SameRuns, series: Sequence[Series]) -> bool:
    """Whether the runs of a side repeat themselves, judged by tier and by the samples `series`.

    Equal emulated runs are always equal (rule 8 of the method). Runs that differ, e.g. of two
    images, do not repeat themselves.
    """
    return all(run.manifest.target.tier in REPEATABLE for run, _ in same.runs) and identical(series)


def identical(series: Sequence[Series]) -> bool:
    """Whether all runs have the same samples."""
    first = as_figures(series[0])
    return all(np.array_equal(first, as_figures(other)) for other in series[1:])
