# SPDX-License-Identifier: Apache-2.0
"""One series: all its statistics, from one sort and a few passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kadenz.analysis.deadlines import Misses
from kadenz.analysis.jitter import JitterResult, tail_of
from kadenz.analysis.outliers import Recorded, find_outliers
from kadenz.analysis.periods import Periods
from kadenz.analysis.results import LaneResult
from kadenz.config.manifest import LaneEntry
from kadenz.stats.autocorrelation import autocorrelation
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
from kadenz.stats.periodic import find_periodic
from kadenz.stats.place_effect import marked_effect
from kadenz.stats.prediction import maximum_bound
from kadenz.stats.summary import summarize

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
    """Computes statistics; an Undefined one becomes None, and `gaps` gets the reason."""

    def __init__(self) -> None:
        self.gaps: dict[str, str] = {}

    def __call__(self, name: str, compute: Callable[[], T]) -> T | None:
        try:
            return compute()
        except Undefined as error:
            self.gaps[name] = error.reason
            return None


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
        gap = "no samples" if samples.size == 0 else "all samples are cold"
        return LaneResult(entry, kept, misses=misses, gaps={"summary": gap}), None
    attempt = _Attempts()
    ordered = order(warm)
    marks = np.asarray(recorded.drains, dtype=np.int64) - first
    marks = marks[(marks >= 0) & (marks < warm.size)]
    lag = attempt("lag1", lambda: autocorrelation(warm, 1))
    result = LaneResult(
        entry=entry,
        cold=kept,
        summary=summarize(warm, ordered=ordered),
        percentiles=attempt("percentiles", lambda: percentiles(warm, ordered=ordered)) or (),
        central=_central(ordered),
        mean=attempt("mean", lambda: mean_interval(warm)),
        effective=attempt("effective", lambda: effective_size(warm)),
        lag1=None if lag is None or lag.constant else float(lag.rho[1]),
        maximum=attempt("maximum", lambda: maximum_bound(warm, ordered=ordered)),
        cold_effect=attempt("cold_effect", lambda: cold_effect(samples, first)) if first else None,
        cold_suggested=suggest_cold(samples, alpha=SUGGESTION_ALPHA),
        drain_effect=attempt("drain_effect", lambda: marked_effect(warm, marks))
        if marks.size
        else None,
        periodic=attempt(
            "periodic",
            lambda: find_periodic(
                warm,
                sample_period=recorded.period_us,
                tick_period=recorded.tick_period_us,
                ordered=ordered,
            ),
        ),
        box=box(ordered),
        histogram=attempt("histogram", lambda: cells_of(ordered)),
        envelope=envelope(warm, cells=ENVELOPE_CELLS),
        exceedance=exceedance(ordered, missed=entry.missed),
        outliers=find_outliers(warm, ordered, recorded, cold=first, which=worst),
        jitter=jitter,
        tail=attempt("tail", lambda: tail_of(warm, 0.0 if jitter is None else jitter.step, ordered)),
        misses=misses,
        periods=periods,
        other_rate=other_rate,
        gaps=attempt.gaps,
    )
    return result, ordered


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
