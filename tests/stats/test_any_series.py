# SPDX-License-Identifier: Apache-2.0
"""For any series, a statistic gives finite figures or a reason why it cannot."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadenz.stats.autocorrelation import autocorrelation
from kadenz.stats.box import box
from kadenz.stats.cold import cold_effect, suggest_cold
from kadenz.stats.compare import compare
from kadenz.stats.cycles import cycle_numbers
from kadenz.stats.decomposition import decompose
from kadenz.stats.disturbances import find_disturbances
from kadenz.stats.drift import separate_drift
from kadenz.stats.effective import effective_size
from kadenz.stats.envelope import envelope
from kadenz.stats.errors import Undefined
from kadenz.stats.exceedance import exceedance
from kadenz.stats.histogram import histogram
from kadenz.stats.limit import limit_rate
from kadenz.stats.mean_interval import mean_interval
from kadenz.stats.percentiles import percentiles
from kadenz.stats.periodic import find_periodic
from kadenz.stats.place_effect import marked_effect
from kadenz.stats.prediction import maximum_bound
from kadenz.stats.samples import Array
from kadenz.stats.size_fit import fit_size
from kadenz.stats.step import step_of
from kadenz.stats.summary import summarize
from kadenz.stats.tail import fit_tail

STATISTICS: dict[str, Callable[[Array], Any]] = {
    "summary": summarize,
    "box": box,
    "percentiles": percentiles,
    "maximum": maximum_bound,
    "autocorrelation": autocorrelation,
    "effective": effective_size,
    "mean": lambda x: mean_interval(x, replicates=50),
    "cold": lambda x: cold_effect(x, 2),
    "suggestion": suggest_cold,
    "marked": lambda x: marked_effect(x, [0, 5]),
    "periodic": lambda x: find_periodic(x, sample_period=1.0, tick_period=2.7),
    "histogram": histogram,
    "envelope": lambda x: envelope(x, cells=7),
    "exceedance": lambda x: exceedance(x, missed=3),
    "compare means": lambda x: compare([x], [x[::-1]], statistic="mean", replicates=50),
    "compare medians": lambda x: compare([x, x[::-1]], [x], replicates=50),
    "fit": lambda x: fit_size((1, 2, 4, 8), [x, x[::-1], x, x], replicates=50),
    "drift": lambda x: separate_drift(np.cumsum(np.abs(x.astype(np.float64)) + 1.0)),
    "jitter": lambda x: decompose(
        np.arange(x.size) * 1e6 + x.astype(np.float64), nominal_period=1e6, cycles=np.arange(x.size)
    ),
    "cycles": lambda x: cycle_numbers(np.cumsum(np.abs(x.astype(np.float64)) + 1.0), 2.0),
    "disturbances": find_disturbances,
    "tail": lambda x: fit_tail(np.tile(x, 20)),
    "step": step_of,
    "limit": lambda x: limit_rate(x, float(x.max())),
}
LOG_OF_NOTHING = {"log_counts"}  # NaN for an empty cell, by definition


def numbers(result: Any) -> Iterator[float]:
    if is_dataclass(result):
        for field in fields(result):
            if field.name not in LOG_OF_NOTHING:
                yield from numbers(getattr(result, field.name))
    elif isinstance(result, tuple):
        for part in result:
            yield from numbers(part)
    elif isinstance(result, np.ndarray):
        yield from result.ravel().tolist()
    elif isinstance(result, float):
        yield result


# Runs of equal values, few levels, extremes of the type: typical of ticks and counters.
def series(low: int, high: int) -> st.SearchStrategy[list[int]]:
    level = st.one_of(st.sampled_from([low, low + 1, high - 1, high]), st.integers(low, high))
    run = st.tuples(level, st.integers(1, 60)).map(lambda pair: [pair[0]] * pair[1])
    return st.lists(run, min_size=1, max_size=8).map(lambda runs: [x for r in runs for x in r])


FLOATS = series(-(10**6), 10**6)
KINDS: dict[str, tuple[type, st.SearchStrategy[list[int]], float]] = {
    "uint32": (np.uint32, series(0, 2**32 - 1), 1),
    "int32": (np.int32, series(-(2**31), 2**31 - 1), 1),
    "float64": (np.float64, FLOATS, 1.0),
    "floats as large as they may be": (np.float64, FLOATS, 1e54),
    "floats whose squares overflow": (np.float64, FLOATS, 1e154),
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_series_breaks_a_statistic(name: str, kind: str) -> None:
    dtype, values, scale = KINDS[kind]

    @given(values)
    @settings(max_examples=25, deadline=None)
    def holds(drawn: list[int]) -> None:
        array: Array = np.array([value * scale for value in drawn], dtype=dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                result = STATISTICS[name](array)
            except Undefined as refusal:
                assert len(refusal.reason) > 10
                return
        assert np.isfinite(list(numbers(result))).all()

    holds()
