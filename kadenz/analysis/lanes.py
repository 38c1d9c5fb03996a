# SPDX-License-Identifier: Apache-2.0
"""One series: all its statistics, from one sort and a few passes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kadenz.analysis.deadlines import Misses
from kadenz.analysis.jitter_views import JitterResult, tail_of
from kadenz.analysis.lane_figures import FIGURES
from kadenz.analysis.outliers import Recorded, find_outliers
from kadenz.analysis.periods import Periods
from kadenz.analysis.results import LaneResult
from kadenz.config.manifest import LaneEntry
from kadenz.side_by_side import Task, run_all
from kadenz.stats.box import box
from kadenz.stats.cold import cold_effect, suggest_cold
from kadenz.stats.common_causes import Worst
from kadenz.stats.effective import effective_size
from kadenz.stats.envelope import envelope
from kadenz.stats.errors import Undefined
from kadenz.stats.exceedance import exceedance
from kadenz.stats.histogram import Histogram, histogram
from kadenz.stats.mean_interval import mean_interval
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.percentiles import percentiles
from kadenz.stats.periodic import PeriodicOutliers, find_periodic
from kadenz.stats.place_effect import MarkedEffect, marked_effect
from kadenz.stats.prediction import maximum_bound
from kadenz.stats.summary import summarize
from kadenz.stats.tail import Tail

# Enough for a plot 300 units wide; the extremes of every cell survive (stats.envelope).
ENVELOPE_CELLS = 240
# Maximum number of histogram cells, and its growth before that: twice Rice's rule, because counts
# are logarithmic and a single outlier should keep its own cell.
HISTOGRAM_CELLS = 96
CELLS_BY_CUBE_ROOT = 4.0
COLD_SHOWN = 64
# A run has dozens of lanes: at 1 % each, there would often be a false suggestion somewhere.
SUGGESTION_ALPHA = 0.002
# With a maximum this far above the median, linear cells would put all but the tail into one.
LOG_FROM = 12.0

T = TypeVar("T")


class _Attempts:
    """Statistics to compute side by side; an Undefined one becomes None, and has a gap."""

    def __init__(self) -> None:
        self._tasks: list[Task[Any]] = []
        self._named: list[tuple[str, Task[tuple[Any, str]]]] = []

    def __call__(self, name: str, compute: Callable[[], T]) -> Callable[[], T | None]:
        """A statistic that may be Undefined: its value after `run`."""

        def attempt() -> tuple[T | None, str]:
            try:
                return compute(), ""
            except Undefined as error:
                return None, error.reason

        task = Task(attempt)
        self._tasks.append(task)
        self._named.append((name, task))
        return lambda: task.result[0]

    def always(self, compute: Callable[[], T]) -> Callable[[], T]:
        """A statistic that is always defined: its value after `run`."""
        task = Task(compute)
        self._tasks.append(task)
        return lambda: task.result

    def run(self, size: int) -> dict[str, str]:
        """Computes all, of `size` samples. Returns the reason of each gap, by name."""
        run_all(self._tasks, size)
        return {name: task.result[1] for name, task in self._named if task.result[1]}


def analyse_lane(
    entry: LaneEntry,
    samples: npt.NDArray[Any],
    cold: int,
    recorded: Recorded,
    *,
    worst: Worst = Worst(),  # noqa: B008 (frozen)
    jitter: JitterResult | None = None,
    misses: Misses | None = None,
    periods: Periods | None = None,
    other_rate: float | None = None,
) -> tuple[LaneResult, Ordered | None]:
    """Statistics of `samples` (taken,) in ticks, in time order, without the first `cold`.

    Also returns the sorted warm samples, so that lanes can be pooled without sorting again.
    `recorded` serves to identify periodic outliers and common causes of the `worst` samples.
    The other four are passed on.
    """
    first = min(cold, samples.size)
    kept = tuple(float(x) for x in samples[: min(first, COLD_SHOWN)])
    warm = samples[first:]
    if warm.size == 0:
        gaps = {"summary": "all samples are cold" if kept else "no samples"}
        return LaneResult(entry, kept, misses=misses, gaps=gaps), None
    ordered, of = order(warm), _Attempts()
    numbers = {kind.name: of(kind.name, partial(kind.compute, warm, ordered)) for kind in FIGURES}
    levels = of("percentiles", lambda: percentiles(warm, ordered=ordered))
    mean = of("mean", lambda: mean_interval(warm))
    effective = of("effective", lambda: effective_size(warm))
    maximum = of("maximum", lambda: maximum_bound(warm, ordered=ordered))
    colder = of("cold_effect", lambda: cold_effect(samples, first) if first else None)
    drained = of("drain_effect", lambda: _drain_effect(warm, recorded, first))
    periodic = of("periodic", lambda: _periodic(warm, ordered, recorded))
    cells = of("histogram", lambda: cells_of(ordered))
    tail = of("tail", lambda: _tail(warm, ordered, jitter))
    summary = of.always(lambda: summarize(warm, ordered=ordered))
    suggested = of.always(lambda: suggest_cold(samples, alpha=SUGGESTION_ALPHA))
    plotted = of.always(lambda: envelope(warm, cells=ENVELOPE_CELLS))
    outliers = of.always(lambda: find_outliers(warm, ordered, recorded, cold=first, which=worst))
    gaps = of.run(warm.size)
    return LaneResult(
        entry=entry,
        cold=kept,
        summary=summary(),
        percentiles=levels() or (),
        central=_central(ordered),
        mean=mean(),
        effective=effective(),
        figures={name: number() for name, number in numbers.items()},
        maximum=maximum(),
        cold_effect=colder(),
        cold_suggested=suggested(),
        drain_effect=drained(),
        periodic=periodic(),
        box=box(ordered),
        histogram=cells(),
        envelope=plotted(),
        exceedance=exceedance(ordered, missed=entry.missed),
        outliers=outliers(),
        jitter=jitter,
        tail=tail(),
        misses=misses,
        periods=periods,
        other_rate=other_rate,
        gaps=gaps,
    ), ordered


def _drain_effect(warm: npt.NDArray[Any], recorded: Recorded, first: int) -> MarkedEffect | None:
    marks = np.asarray(recorded.drains, dtype=np.int64) - first
    marks = marks[(marks >= 0) & (marks < warm.size)]
    return marked_effect(warm, marks) if marks.size else None


def _tail(warm: npt.NDArray[Any], ordered: Ordered, jitter: JitterResult | None) -> Tail:
    return tail_of(warm, 0.0 if jitter is None else jitter.step, ordered)


def _periodic(warm: npt.NDArray[Any], ordered: Ordered, recorded: Recorded) -> PeriodicOutliers:
    return find_periodic(
        warm,
        sample_period=recorded.period_us,
        tick_period=recorded.tick_period_us,
        ordered=ordered,
    )


def cells_of(ordered: Ordered) -> Histogram:
    """A histogram of all samples; with geometric cells if the tail is far away."""
    far = ordered.rank(1) > 0 and ordered.rank(ordered.n) > LOG_FROM * ordered.median
    cells = max(12, min(HISTOGRAM_CELLS, round(CELLS_BY_CUBE_ROOT * ordered.n ** (1 / 3))))
    return histogram(ordered, cells=cells, spacing="log" if far else "linear")


def _central(ordered: Ordered) -> tuple[float, float] | None:
    return (ordered.quantile(0.01), ordered.quantile(0.99)) if ordered.n >= 100 else None


def merge(parts: list[Ordered]) -> Ordered:
    """Merges sorted lanes; a stable sort does that in linear time."""
    values = np.concatenate([part.values for part in parts])
    values.sort(kind="stable")
    values.flags.writeable = False
    return Ordered(values)
