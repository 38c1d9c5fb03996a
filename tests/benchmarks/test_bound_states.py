# SPDX-License-Identifier: Apache-2.0
"""benchmarks/bound_states.py: the states that it draws, and what it says of an arrival that is
above its bound."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import cast

import pytest

from benchmarks.bound_states import (
    EMPTY,
    ROOM,
    Judged,
    Kept,
    More,
    State,
    Ticks,
    Tried,
    Variant,
    Within,
    draw,
)
from kadenz.bounds.latency import Bounds
from kadenz.bounds.sections import Section

SERVICE = "critical/sleep"
USUAL = Tried(-1, State(SERVICE, {}), met=(16,))


class Linear:
    """A bound of 100 cycles and 10 for each thread that is woken; the thread has none."""

    def __init__(self) -> None:
        self.asked: list[More] = []

    def of(self, service: str, met: Collection[int], more: More, *, tick: bool) -> Bounds:
        self.asked.append(more)
        return Bounds(Section(100 + 10 * more[1]), "no bound", tick)


def judged(within: Linear, *states: Tried) -> Judged:
    return Judged([USUAL], states, cast(Within, within))


def woken(number: int, waking: int, handler: int) -> Tried:
    return Tried(number, State(SERVICE, {}, waking=waking), most=(handler, 900), met=(32,))


def test_an_arrival_above_the_bound_of_its_state_is_named() -> None:
    below, above = woken(0, 3, 130), woken(1, 2, 121)
    service = judged(Linear(), below, above)
    assert service.above(0) == [(above, 120.0)]
    assert service.nearest(0) == (above, 120.0)


def test_only_states_that_may_be_nearest_get_a_bound() -> None:
    within = Linear()
    near, far = woken(0, 1, 100), woken(1, 8, 20)
    assert judged(within, near, far).nearest(0) == (near, 110.0)
    assert within.asked == [(0, 0), (1, 1)]


def test_a_lane_without_a_bound_says_why() -> None:
    service = judged(Linear(), woken(0, 0, 90))
    assert service.above(1) == []
    assert "90 of 100 | 1.11 | 0 | 900 | – | – | 0" in service.cells([[], []])
    assert service.none == {"no bound"}


def test_a_number_is_one_state_that_has_room() -> None:
    known = [Variant(SERVICE, {"waiter": 1}, USUAL, ready) for ready in (False, True)]
    states = [draw(1, number, known, flushes=False) for number in range(200)]
    assert states == [draw(1, number, known, flushes=False) for number in range(200)]
    assert max(s.sleepers + s.waking + s.ready for s in states) == ROOM
    assert not any(draw(1, number, known[:1], flushes=False).ready for number in range(50))


def test_caches_are_empty_in_some_states_of_a_core_that_has_some() -> None:
    known = [Variant(SERVICE, {}, USUAL, False)]
    states = [draw(1, number, known, flushes=True) for number in range(50)]
    assert {state.empty for state in states} == set(EMPTY)
    (both,) = {tuple(state.flushed) for state in states if len(state.empty) == len(EMPTY[-1])}
    assert both == ("--flush", "instructions", "--flush", "data")
    assert not any(draw(1, number, known, flushes=False).empty for number in range(50))


def test_states_are_kept_for_one_image_and_seed(tmp_path: Path) -> None:
    file = tmp_path / "states"
    Kept(file, "image", 1).add(USUAL)
    with file.open("a") as unfinished:
        unfinished.write('{"number":2')
    again = Kept(file, "image", 1)
    assert again.states == {-1: USUAL}
    again.add(woken(2, 0, 90))
    assert set(Kept(file, "image", 1).states) == {-1, 2}
    with pytest.raises(SystemExit, match="of another image or seed"):
        Kept(file, "image", 2)


@pytest.mark.parametrize(
    ("begin", "end", "comes"), [(388_499, 388_500, True), (388_500, 488_499, False)]
)
def test_a_tick_comes_in_a_cycle_of_its_own(begin: int, end: int, *, comes: bool) -> None:
    assert Ticks(288_500, 100_000).between(begin, end) is comes
