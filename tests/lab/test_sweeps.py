# SPDX-License-Identifier: Apache-2.0
"""What a sweep of arrivals says while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.config.manifest import RecordEntry
from kadenz.lab import session as sessions
from kadenz.lab.arrivals import Outlook
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.session import Session
from kadenz.store import RunWriter
from kadenz.targets.arrivals import Sweep
from tests.store.manifests import manifest
from tests.wire.streams import begin, bench


def said(*looks: tuple[float, int], earlier: int = 0, in_pairs: bool = False) -> list[str]:
    """The notes on a sweep of 100,000 arrivals. Of each look: its second, and the tried ones."""
    texts: list[str] = []
    outlook = Outlook(texts.append, in_pairs=in_pairs)
    for now, tried in looks:
        outlook.look(Sweep(100_000, tried, earlier), now)
    return texts


def test_a_long_sweep_says_once_how_long_and_what_shortens_it() -> None:
    assert said((0.0, 0), (5.0, 100), (6.0, 110), (10.0, 200), (15.0, 210)) == [
        "99,800 arrivals are left, which takes about 83 min; --step 100 tries one cycle in 100"
    ]
    (text,) = said((0.0, 0), (5.0, 10), (10.0, 20))
    assert "about 14 h; --step 1000 " in text


def test_the_first_arrivals_which_take_longest_are_not_its_pace() -> None:
    assert said((0.0, 0), (5.0, 10), (10.0, 5000), (15.0, 10_000)) == []
    assert said((0.0, 0), (5.0, 7), (10.0, 7), (15.0, 7)) == []  # too few


def test_a_step_shortens_pairs_by_its_square() -> None:
    (text,) = said((0.0, 0), (5.0, 100), (10.0, 200), in_pairs=True)
    assert "--step 10 tries one cycle in 10" in text


def test_a_short_sweep_says_nothing() -> None:
    assert said((0.0, 0), (1.0, 10), (5.0, 5000), (90.0, 90_000)) == []


def test_a_sweep_that_goes_on_says_so_and_counts_its_pace_from_there() -> None:
    assert said((0.0, 90_000), (5.0, 91_000), earlier=90_000) == [
        "goes on behind 90,000 of 100,000 arrivals that an earlier call tried"
    ]


def test_a_sweep_that_begins_again_since_ticks_decide_the_time_has_a_new_pace() -> None:
    assert said((0.0, 0), (1.0, 50_000), (2.0, 0), (7.0, 50_000), (12.0, 90_000)) == []


class Watcher(Progress):
    """Stores what it is shown of sweeps."""

    def __init__(self, *, live: bool) -> None:
        self.live = live
        self.shown: list[Sweep] = []
        self.noted: list[str] = []

    def swept(self, target: str, record: RecordEntry, sweep: Sweep) -> None:
        self.shown.append(sweep)

    def note(self, target: str, text: str) -> None:
        self.noted.append(text)


@pytest.mark.parametrize("live", [True, False])
def test_only_a_watcher_sees_each_step_of_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    monkeypatch.setattr(sessions, "_LOOK_S", 0.0)
    watcher, sweep = Watcher(live=live), Sweep(planned=500, tried=130, earlier=120)
    point = Point(10, "itc/queue", 4, params={"waiter": 1}, arrivals=("arrivals=1",))
    with RunWriter(tmp_path, manifest()) as writer:
        session = Session(writer, "a", [point], [bench()], watcher)
        session.sweep = lambda: sweep
        session.look()
        assert not watcher.shown and not watcher.noted
        session.opened(begin(lanes=["core0"]))
        session.look()
        session.look()
    assert watcher.shown == ([sweep, sweep] if live else [])
    assert watcher.noted == [
        "itc/queue waiter=1: goes on behind 120 of 500 arrivals that an earlier call tried"
    ]
