# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadenz.stats.envelope import envelope
from kadenz.stats.errors import Undefined
from kadenz.stats.histogram import histogram

Spacing = Literal["linear", "log"]
whole = st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=300)


@given(whole, st.integers(1, 60), st.sampled_from(["linear", "log"]))
@settings(max_examples=200, deadline=None)
def test_no_integer_sample_is_lost(values: list[int], cells: int, spacing: Spacing) -> None:
    hist = histogram(np.array(values, dtype=np.uint32), cells=cells, spacing=spacing)
    assert hist.underflow == hist.overflow == 0
    assert hist.counts.sum() == hist.n == len(values)
    assert hist.counts.size <= cells
    assert (hist.edges == np.round(hist.edges)).all()
    for low, high, count in zip(hist.edges[:-1], hist.edges[1:], hist.counts, strict=True):
        assert count == sum(low <= v < high for v in values)


@given(
    st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=200),
    st.floats(1e-3, 1e6),
    st.floats(1e-3, 1e6),
    st.sampled_from(["linear", "log"]),
)
@settings(max_examples=200, deadline=None)
def test_samples_outside_the_range_are_counted_separately(
    values: list[float], a: float, b: float, spacing: Spacing
) -> None:
    low, high = min(a, b), max(a, b)
    hist = histogram(np.array(values), cells=20, low=low, high=high, spacing=spacing)
    assert hist.underflow + hist.counts.sum() + hist.overflow == len(values)
    assert hist.underflow == sum(v < low for v in values)
    assert hist.overflow == sum(v > high for v in values)


def test_integer_cells_contain_the_same_number_of_integers() -> None:
    hist = histogram(np.arange(1000), cells=37)
    assert np.unique(np.diff(hist.edges)).size == 1
    # So a uniform series gives a flat histogram.
    assert np.unique(hist.counts[:-1]).size == 1


def test_log_counts_show_single_samples_and_leave_gaps_empty() -> None:
    hist = histogram(np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3]), cells=3)
    assert hist.counts.tolist() == [10, 0, 1]
    assert hist.log_counts[0] == 1.0
    assert np.isnan(hist.log_counts[1])
    assert hist.log_counts[2] == 0.0


def test_one_value_makes_one_cell() -> None:
    assert histogram(np.full(10, 7, dtype=np.uint32)).counts.tolist() == [10]
    assert histogram(np.full(10, 7.5)).counts.tolist() == [10]
    assert histogram(np.full(10, 2**32 - 1, dtype=np.uint32)).counts.tolist() == [10]


def test_invalid_ranges_are_refused() -> None:
    with pytest.raises(Undefined, match="above 0"):
        histogram(np.arange(10), spacing="log")
    with pytest.raises(Undefined, match="above high"):
        histogram(np.arange(10), low=5, high=4)
    with pytest.raises(Undefined, match="0 cells"):
        histogram(np.arange(10), cells=0)


@given(whole, st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_an_envelope_keeps_every_extreme(values: list[int], cells: int) -> None:
    extremes = envelope(np.array(values, dtype=np.uint32), cells=cells, levels=(0.5, 0.9))
    assert extremes.first.size <= cells
    assert extremes.length.sum() == len(values)
    for i, (first, length) in enumerate(zip(extremes.first, extremes.length, strict=True)):
        cell = sorted(values[first : first + length])
        assert extremes.low[i] == cell[0]
        assert extremes.high[i] == cell[-1]
        for level, quantile in zip((0.5, 0.9), extremes.bands[:, i].tolist(), strict=True):
            assert sum(v <= quantile for v in cell) >= level * length - 1e-9
            assert sum(v < quantile for v in cell) < level * length


def test_an_envelope_of_fewer_samples_than_cells_is_the_samples() -> None:
    extremes = envelope(np.array([3, 1, 2]), cells=100)
    assert extremes.low.tolist() == extremes.high.tolist() == [3, 1, 2]
    with pytest.raises(Undefined):
        envelope(np.arange(3), cells=0)
