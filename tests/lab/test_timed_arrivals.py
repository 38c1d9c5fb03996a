# SPDX-License-Identifier: Apache-2.0
"""Companions of samples become lanes of arrivals."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from kadenz.lab.timed_arrivals import PHASE, TimedArrivals
from kadenz.targets.arrivals import Asked
from kadenz.wire.records import Ending
from tests.wire.streams import begin

OK = Ending("ok", "stopped on request before all was measured")


def timed(
    phases: Sequence[int],
    *,
    spans: Sequence[int] = (20, 20),
    step: int = 1,
    ticks: int = 1,
    planned: int = 100,
    counted: bool = True,
) -> TimedArrivals:
    """Two undisturbed samples, and one with an arrival at each of `phases`, 0 for none."""
    lanes = ["all", "all:phase", "all:handler", "all:task"]
    opened = msgspec.structs.replace(
        begin(), lanes=lanes, planned=planned, device="tim", device_ticks=ticks
    )
    assert TimedArrivals.are_in(opened)
    seen = TimedArrivals(opened, Asked(1, step=step, by_timer=True), counted)
    columns = [
        [*spans, *(30 for _ in phases)],
        [0, 0, *phases],
        [0, 0, *(100 + each if each else 0 for each in phases)],
        [0, 0, *(500 + each if each else 0 for each in phases)],
    ]
    for lane, column in enumerate(columns):
        seen.take(lane, np.array(column, "<u4"))
    return seen


def test_samples_of_the_service_are_the_first_and_all_else_is_kept() -> None:
    seen = TimedArrivals(timed([]).begin, Asked(1, by_timer=True), True)
    assert seen.take(0, np.array([7], "<u4")).tolist() == [7]
    assert seen.take(0, np.array([8, 9, 9], "<u4")).tolist() == [8]
    assert seen.take(1, np.array([0, 0, 3, 0], "<u4")).tolist() == []


def test_arrivals_are_in_the_order_of_their_phases() -> None:
    rows = timed([0, 3, 0, 1, 2]).rows
    assert rows[PHASE].tolist() == [1, 2, 3]
    assert rows["handler"].tolist() == [101, 102, 103]
    assert rows["task"].tolist() == [501, 502, 503]


def test_a_record_that_was_cut_off_keeps_whole_arrivals() -> None:
    seen = timed([1, 2])
    seen.take(1, np.array([3], "<u4"))
    assert seen.rows[PHASE].tolist() == [1, 2]


@pytest.mark.parametrize(
    "phases, missing, exact",
    [
        ([1, 2, 3, 4], 0, True),
        ([2, 3, 4], 1, False),
        ([1, 2, 4, 7], 3, False),
        ([1, 2, 2, 3], 0, False),
    ],
)
def test_each_phase_once_is_exact(phases: list[int], missing: int, exact: bool) -> None:
    seen = timed(phases)
    assert seen.missing == missing and seen.raised.exact == exact


def test_a_step_a_coarse_timer_another_way_and_silicon_give_samples() -> None:
    assert not timed([1, 11, 21], step=10).raised.exact
    assert timed([1, 11, 31], step=10).missing == 1
    assert not timed([2, 4, 6], ticks=2).raised.exact
    assert not timed([1, 2, 3], spans=(20, 21)).raised.exact
    assert not timed([1, 2, 3], counted=False).raised.exact


def test_a_target_that_ended_its_samples_itself_is_whole() -> None:
    assert timed([1, 2, 3]).ending(OK) == Ending("ok", "")
    assert timed([1]).ending(Ending("failed", "why")) == Ending("failed", "why")


def test_samples_that_do_not_suffice_name_a_step() -> None:
    ending = timed([1, 2, 3], planned=5).ending(Ending("ok", ""))
    assert ending.status == "invalid"
    assert "suffice for 3 of 20 arrivals" in ending.reason and "--step 9" in ending.reason
    assert timed([]).ending(OK).reason == "no arrival came in a sample"
