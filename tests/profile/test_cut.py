# SPDX-License-Identifier: Apache-2.0
"""Paths that end before the trace does: the records before the cut keep their profiles."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.lab.profile.making import regions_of
from kadenz.targets.paths import TOKEN, Paths, Region
from kadenz.targets.scope import RecordSpans, ScopeDamaged


def record(number: int, *spans: int) -> RecordSpans:
    return RecordSpans(number, np.array(spans, dtype=np.uint64), closed=True)


def paths(*spans: int) -> Paths:
    regions = [Region((100, 100 + span), (100, 100 + span), 1, ()) for span in spans]
    return Paths(np.zeros(0, dtype=TOKEN), [], regions, whole_records=False, complete=False)


def test_records_before_a_cut_keep_their_paths() -> None:
    records = regions_of(paths(5, 6, 7), {10: record(10, 5, 6), 11: record(11, 7, 8)})
    number, regions = next(records)
    assert (number, len(regions)) == (10, 2)
    with pytest.raises(ScopeDamaged, match="record 11: sample 1 has 8 .* and no path"):
        next(records)


def test_a_path_of_another_length_is_named() -> None:
    with pytest.raises(ScopeDamaged, match="record 10: sample 1 has 6 .* another number"):
        list(regions_of(paths(5, 7), {10: record(10, 5, 6)}))
