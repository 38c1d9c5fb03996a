# SPDX-License-Identifier: Apache-2.0
"""Periods between wake-ups, and what counters of single cores make of them."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.errors import TooFew
from kadenz.stats.periods import periods, read_from_counters
from kadenz.stats.summary import summarize


def test_a_period_is_the_time_between_two_wake_ups_across_missed_cycles() -> None:
    assert periods([5, 7, 3], [0, 1, 3], 100.0).tolist() == [102.0, 196.0]


def test_one_wake_up_has_no_period() -> None:
    with pytest.raises(TooFew):
        periods([5], [0], 100.0)


@pytest.mark.parametrize("apart", [-70_000.0, 0.0, 90_000.0])
def test_descriptions_give_what_counting_each_span_gives(apart: float) -> None:
    """Each span read from two counters of 20 bits, against the groups' descriptions."""
    rng = np.random.default_rng(5)
    modulus = float(1 << 20)
    spans = rng.integers(9_000, 11_000, 400).astype(np.float64)
    begin, end = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    read = (spans + apart * (begin - end)) % modulus
    groups = [
        (summarize(spans[(begin == b) & (end == e)]), apart * (b - e))
        for b in (0, 1)
        for e in (0, 1)
    ]
    summary, expected = read_from_counters(groups, modulus), summarize(read)
    assert summary.n == expected.n
    assert summary.sd is not None and expected.sd is not None
    assert [summary.mean, summary.sd, summary.min, summary.max] == pytest.approx(
        [expected.mean, expected.sd, expected.min, expected.max], rel=1e-12
    )


def test_alternating_cores_have_the_period_and_half_the_range_as_mean() -> None:
    """arm2022: 32 bits at 240 MHz, periods of 10 ms, whatever the counters differ by."""
    wrap = 2**32 / 240e3  # ms
    period = summarize(np.full(50, 10.0))
    for apart in (11.0, 190.318, 203.006, 9_000.0):
        summary = read_from_counters([(period, apart), (period, -apart)], wrap)
        assert summary.mean == pytest.approx(8957.8485, abs=1e-4)


def test_no_span_has_no_description() -> None:
    with pytest.raises(TooFew):
        read_from_counters([], 100.0)
