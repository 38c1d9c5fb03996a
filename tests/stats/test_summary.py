# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadenz.stats.box import box
from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.ordered import order
from kadenz.stats.samples import PIECE, cell_means
from kadenz.stats.summary import summarize


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=300))
@settings(max_examples=200, deadline=None)
def test_integer_samples_are_described_exactly(values: list[int]) -> None:
    summary = summarize(np.array(values, dtype=np.uint32))
    assert summary.n == len(values)
    assert summary.mean == float(Fraction(sum(values), len(values)))
    assert summary.median == statistics.median(values)
    assert (summary.min, summary.max) == (min(values), max(values))
    if len(values) == 1:
        assert summary.sd is None
    else:
        assert summary.sd == pytest.approx(statistics.stdev(values), rel=1e-12, abs=1e-9)
    assert summary == summarize(values, ordered=order(np.array(values)))


def test_a_sum_beyond_53_bits_keeps_its_last_digit() -> None:
    # 2^22 samples near 2^32: their sum needs 54 bits, f8 would round it.
    values = np.full(1 << 22, 2**32 - 1, dtype=np.uint32)
    values[0] = 0
    summary = summarize(values)
    assert summary.mean == float(Fraction((2**32 - 1) * (values.size - 1), values.size))


def test_the_sd_survives_a_large_offset() -> None:
    rng = np.random.default_rng(1)
    small = rng.integers(0, 10, 3 * PIECE + 17)
    offset = summarize(small + 10**12)
    assert offset.sd == pytest.approx(summarize(small).sd, rel=1e-9)


def test_a_u4_array_is_not_copied_to_f8_whole() -> None:
    import tracemalloc

    values = np.random.default_rng(2).integers(0, 1000, 4_000_000, dtype=np.uint32)
    tracemalloc.start()
    summarize(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # One u4 copy for the median (16 MB) and pieces; an f8 copy would be 32 MB.
    assert peak < 30e6


def test_constant_samples_have_sd_zero() -> None:
    summary = summarize(np.full(1000, 0.1))
    assert summary.constant
    assert summary.sd == 0.0


def test_an_invalid_series_is_refused() -> None:
    with pytest.raises(TooFew):
        summarize(np.array([]))
    with pytest.raises(Undefined, match="shape"):
        summarize(np.zeros((3, 3)))
    with pytest.raises(Undefined, match="NaN"):
        summarize(np.array([1.0, np.inf]))
    with pytest.raises(Undefined, match="real numbers"):
        summarize(np.array(["a"]))


@given(st.lists(st.integers(0, 100), min_size=1, max_size=200))
@settings(max_examples=200, deadline=None)
def test_a_box_accounts_for_every_sample(values: list[int]) -> None:
    box_plot = box(np.array(values))
    inside = [v for v in values if box_plot.low_whisker <= v <= box_plot.high_whisker]
    assert box_plot.below + len(inside) + box_plot.above == box_plot.n == len(values)
    assert box_plot.low_whisker <= box_plot.q1 <= box_plot.q3 <= box_plot.high_whisker
    reach = 1.5 * (box_plot.q3 - box_plot.q1)
    assert box_plot.low_whisker >= box_plot.q1 - reach
    assert box_plot.high_whisker <= box_plot.q3 + reach


def test_unsigned_samples_do_not_wrap_below_zero_in_a_box() -> None:
    box_plot = box(np.array([0, 1, 10, 20, 30], dtype=np.uint32))
    assert box_plot.below == 0
    assert box_plot.low_whisker == 0.0


@given(st.integers(1, 50), st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=400))
@settings(max_examples=100, deadline=None)
def test_cell_means_are_the_means_of_cells(cell: int, values: list[int]) -> None:
    array = np.array(values, dtype=np.uint32)
    whole = array.size // cell
    expected = array[: whole * cell].reshape(whole, cell).astype(float).mean(axis=1)
    np.testing.assert_allclose(cell_means(array, cell), expected, rtol=1e-14)
