# SPDX-License-Identifier: Apache-2.0
"""The samples that a profile shows: typical, slowest of the warm ones, coldest."""

from __future__ import annotations

import pytest

from kadenz.lab.profile.making import chosen_samples


@pytest.mark.parametrize(
    ("spans", "cold", "typical", "slowest"),
    [
        ([90, 10, 30, 10], 0, 1, 2),  # the first is excluded, whatever the record says
        ([90, 80, 10, 30, 10], 2, 3, 3),
        ([90, 10, 90], 1, 0, 2),  # a warm one that is as long
        ([10, 10, 10], 1, 0, 1),
        ([50], 0, 0, 0),
        ([50, 40], 5, 1, 1),  # fewer than the record excludes
    ],
)
def test_the_slowest_sample_is_a_warm_one(
    spans: list[int], cold: int, typical: int, slowest: int
) -> None:
    assert dict(chosen_samples(spans, cold)) == {
        "all": -1,
        "typical": typical,
        "slowest": slowest,
        "coldest": 0,
    }
