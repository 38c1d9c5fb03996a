# SPDX-License-Identifier: Apache-2.0
"""The samples of a benchmark point, run by run, in the unit of figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kadenz.analysis.batches import ITERATIONS, batch_lanes
from kadenz.analysis.counted import counts_operations, windows_of
from kadenz.analysis.matching import SameRuns
from kadenz.analysis.results import Samples
from kadenz.analysis.runs import described, refusal
from kadenz.analysis.units import unit_of
from kadenz.config.manifest import REPEATABLE, LaneEntry, RecordEntry
from kadenz.config.params import number
from kadenz.stats.ordered import order
from kadenz.stats.replicate import LessLoop
from kadenz.stats.samples import exact_mean
from kadenz.store import Run

BATCH_LANE = "per iteration"
PER_OPERATION = " per operation"  # behind the name of a lane of windows
Series = Samples | LessLoop


def lanes_of(entry: RecordEntry) -> list[str]:
    """The lanes with figures: one of a batch with its empty loop; windows by their operations."""
    if batch_lanes(entry) is not None:
        return [BATCH_LANE]
    return [lane.name + PER_OPERATION * counts_operations(entry, lane) for lane in entry.series]


def both_sides(left: SameRuns, right: SameRuns, lane: str) -> tuple[list[list[Series]], str]:
    """Every run's samples of a lane on both sides, or the reason why they cannot be compared."""
    sides = []
    for side in (left, right):
        found: list[Series] = []
        for run, entry in side.runs:
            refused, series = series_of(run, entry, lane)
            if refused or series is None:
                return [], f"{run.path.name}: {refused}"
            found.append(series)
        sides.append(found)
    return sides, ""


def series_of(run: Run, entry: RecordEntry, lane: str) -> tuple[str, Series | None]:
    """Warm samples of a lane in the unit of figures, or the reason for none.

    This is the only place where clocks of different rates meet. A batch is its total less the empty
    loop, per iteration (mazzi2021, equation 1), with the loop's repetitions. A window is the time
    of one of its operations.
    """
    refused = refusal(entry)
    if refused:
        return refused, None
    scale = unit_of(entry.unit, run.manifest.clock).scale
    if lane == BATCH_LANE:
        return _batch(run, entry, scale)
    name = lane.removesuffix(PER_OPERATION)
    known = {one.name: one for one in entry.series}
    if name not in known:
        return f"it has no lane {name}", None
    if counts_operations(entry, known[name]) != (name != lane):
        return "operations in its windows were counted on one side only", None
    if name != lane:
        return _operations(run, entry, known[name], scale)
    warm = described(run, entry, known[name])
    # Without scaling, integers stay integers, which stats count exactly.
    return "", warm if scale == 1.0 else np.asarray(warm * np.float64(scale))


def _batch(run: Run, entry: RecordEntry, scale: float) -> tuple[str, Series | None]:
    lanes = batch_lanes(entry)
    if lanes is None:
        return "it is not a batch there", None
    whole, loop = (run.samples(entry, entry.series[i])[entry.cold :] for i in lanes)
    if whole.size == 0 or loop.size == 0:
        return "a batch without its empty loop: its total includes the loop", None
    return "", LessLoop(whole, loop, number(entry.params, ITERATIONS) / scale)


def _operations(
    run: Run, entry: RecordEntry, lane: LaneEntry, scale: float
) -> tuple[str, Series | None]:
    counted = windows_of(run, entry, lane)
    if counted is None:
        return "its windows have no counts of operations", None
    return "", counted[0] / counted[1] * scale


def as_figures(run: Series) -> Samples:
    """Samples as figures; for a batch, less the median of the empty loop."""
    if not isinstance(run, LessLoop):
        return run
    return np.asarray((np.asarray(run.samples) - np.median(np.asarray(run.loop))) / run.per)


def figure_of(runs: Sequence[Series], statistic: str | float) -> float | None:
    """The geometric mean of a statistic over runs; None if a run has too few samples."""
    found = []
    for run in runs:
        series = as_figures(run)
        if series.size == 0:
            return None
        if statistic == "mean":
            found.append(exact_mean(series))
        elif statistic == "max":
            found.append(float(series.max()))
        elif statistic == "median":
            found.append(order(series).median)
        else:
            level = float(statistic)
            if series.size * min(level, 1.0 - level) < 1.0:
                return None
            found.append(order(series).quantile(level))
    if min(found) == max(found):
        return found[0]
    if min(found) <= 0.0:
        return math.fsum(found) / len(found)
    return math.exp(math.fsum(map(math.log, found)) / len(found))


def repeated(same: SameRuns, series: Sequence[Series]) -> bool:
    """Whether the runs of a side repeat themselves, judged by tier and by the samples `series`.

    Equal emulated runs are always equal (rule 8 of the method). Runs that differ, e.g. of two
    images, do not repeat themselves.
    """
    return all(run.manifest.target.tier in REPEATABLE for run, _ in same.runs) and identical(series)


def identical(series: Sequence[Series]) -> bool:
    """Whether all runs have the same samples."""
    first = as_figures(series[0])
    return all(np.array_equal(first, as_figures(one)) for one in series[1:])
