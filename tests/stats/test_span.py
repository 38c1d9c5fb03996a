# SPDX-License-Identifier: Apache-2.0
"""Numbers that cannot be cycle numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.cycles import check_span
from kadenz.stats.decomposition import decompose
from kadenz.stats.disturbances import find_disturbances
from kadenz.stats.errors import Undefined
from kadenz.stats.limit import limit_rate


def test_an_absurd_span_is_refused_before_memory_is_allocated() -> None:
    noise = np.random.default_rng(1).normal(size=3_000)
    far = np.arange(3_000) * 1_000_000
    with pytest.raises(Undefined, match="spread over") as error:
        find_disturbances(noise, cycles=far)
    assert error.value.cause == "cycles"
    with pytest.raises(Undefined, match="spread over"):
        decompose(far * 1e6 + noise, nominal_period=1e6, cycles=far, window=4)


def test_a_day_of_cycles_with_most_of_them_missing_is_refused() -> None:
    check_span(np.arange(0, 16_000_000, 4_000), "jitter")
    check_span(np.arange(0, 20_000_000, 9), "jitter")
    check_span(np.arange(0), "jitter")


@pytest.mark.parametrize("limit", [np.nan, np.inf])
def test_a_limit_that_is_not_a_number_is_refused(limit: float) -> None:
    with pytest.raises(Undefined, match="finite"):
        limit_rate(np.arange(10.0), limit)
