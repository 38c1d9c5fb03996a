# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kadenz.stats.errors import Undefined
from kadenz.stats.exceedance import exceedance


@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=400),
    st.integers(0, 50),
    st.integers(1, 60),
)
@settings(max_examples=200, deadline=None)
def test_every_share_is_exact_and_missed_samples_exceed_all(
    values: list[int], missed: int, largest: int
) -> None:
    curve = exceedance(np.array(values, np.uint32), missed=missed, largest=largest)
    for value, count, above in zip(curve.values, curve.counts, curve.above, strict=True):
        assert count == missed + sum(v >= value for v in values)
        assert above == missed + sum(v > value for v in values)
    assert curve.planned == len(values) + missed and curve.above[-1] == missed


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300), st.integers(1, 40))
@settings(max_examples=100, deadline=None)
def test_thinning_keeps_the_smallest_and_all_of_the_largest(
    values: list[float], largest: int
) -> None:
    curve = exceedance(values, largest=largest)
    assert curve.values[0] == min(values)
    assert set(sorted(values)[-largest:]) <= set(curve.values.tolist())


def test_a_million_samples_become_a_few_hundred_points() -> None:
    curve = exceedance(np.random.default_rng(1).lognormal(3.0, 1.0, 1_000_000))
    assert 80 < curve.values.size < 200


def test_a_negative_number_of_missed_samples_is_refused() -> None:
    with pytest.raises(Undefined):
        exceedance([1, 2, 3], missed=-1)
