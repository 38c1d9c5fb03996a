# SPDX-License-Identifier: Apache-2.0
"""Benchmarks and IPC paths across two cores, on two processors of this Linux and on one."""

from __future__ import annotations

import os
from itertools import product

import numpy as np
import pytest

from tests.decoded import plan
from tests.guest.test_paths import CHANNELS, MUTEXES, ORDERS, SAMPLES, WAKES
from tests.posix.conftest import TOLERANT, Run

TWO_CORES = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="this machine lets the tests use one processor"
)
CYCLIC = "cyclic/wakeup-latency samples=40 period_us=4000 rank=8 threads=1"
# A move that comes when its thread has woken up already is none, and undoes the next one.
MOVED = "cyclic/wakeup-latency samples=20 period_us=20000 rank=8 threads=1 migrate=move"
ACROSS = (
    "itc/semaphore-counting-to-higher samples=30 period_us=1000 core_b=1",
    "itc/mutex-to-higher samples=30 period_us=3000 core_b=1",
    "itc/semaphore-give samples=30 period_us=1000 core_b=1",
    "smp/clocks samples=100",
    "smp/wake-up samples=30 period_us=2000",
    "smp/wake-up samples=30 period_us=2000 other_core=busy",
    "smp/wake-up samples=10 period_us=20000 other_core=above hold_us=3000",
    "smp/wake-up samples=10 period_us=7000 other_core=poll hold_us=5000",
    "smp/contention samples=200 other_core=none",
    # Long enough for the other core, which may be taken away for some ms.
    "smp/contention samples=20000 other_core=loop",
    "smp/contention samples=20000 other_core=own call=pipe pause_us=5",
    "smp/contention samples=20000 other_core=same",
    "smp/contention samples=20000 other_core=memory",
    "smp/offset samples=500 other_core=none",
    "smp/offset samples=500 other_core=loop",
    "smp/offset samples=500 other_core=memory",
    "smp/offset samples=500 other_core=own call=pipe size_bytes=60 before=6000 behind=3000",
    "smp/offset samples=500 other_core=same",
    # The middle thread works from before the lock on: it is not to finish when that comes late.
    "inversion/mutex samples=10 period_us=30000 core_high=1 middle_us=20000",
    "inversion/mutex samples=10 period_us=3000 core_high=1 inheritance=0",
    f"{CYCLIC} core=0 migrate=watch",
    f"{CYCLIC} migrate=watch",
    MOVED,
    f"{CYCLIC} migrate=load",
)


@pytest.mark.machine
@TWO_CORES
def test_every_point_across_two_cores_measures_and_proves(run: Run) -> None:
    said = run(plan(*ACROSS))
    assert said.done
    assert [(ACROSS[e.record], e.reason) for e in said.ends if e.status != "ok"] == []
    assert len(said.ends) == len(ACROSS)
    for record, point in enumerate(ACROSS):
        if point.startswith("smp/wake-up"):
            assert set(said.lane(record, ":begin-core")) == {0}
            assert set(said.lane(record, ":end-core")) == {1}
        if point.startswith("smp/offset") and "none" not in point:
            begin, other = (said.lane(record, f":{kind}") for kind in ("begin", "other-begin"))
            # A thread that is taken away begins late, on each side.
            offsets = other.astype(np.int64) - begin
            assert np.percentile(offsets, 5) < 0 < np.percentile(offsets, 95)
        elif "other_core=own" in point or "other_core=same" in point:
            assert said.lane(record, ":other-calls").sum() > 0
            assert (said.lane(record, ":since")[1:] > 0).all()
    held = next(i for i, point in enumerate(ACROSS) if "other_core=above" in point)
    assert said.values(held).min() > 2_900_000  # ns
    moved, bound = ACROSS.index(MOVED), ACROSS.index(ACROSS[-4])
    assert set(said.lane(bound, ":begin-core")) == set(said.lane(bound, ":end-core")) == {0}
    # The mover comes in the middle of each period.
    assert np.mean(said.lane(moved, ":begin-core") != said.lane(moved, ":end-core")) > 0.5


@pytest.mark.machine
@TWO_CORES
@pytest.mark.parametrize("kind", CHANNELS + WAKES + MUTEXES)
def test_a_path_across_two_cores_is_measured_and_proved(run: Run, kind: str) -> None:
    """Between threads and between processes; tests/guest/test_paths.py has those on one core."""
    parts = ("one-way",) if kind in MUTEXES else ("one-way", "round-trip")
    points = [
        f"itc/{kind}-{part} samples={SAMPLES} period_us=300 rank_a={a} rank_b={b} core_b=1 "
        f"processes={processes}"
        for part, (a, b), processes in product(parts, ORDERS, (0, 1))
    ]
    if kind not in MUTEXES:
        points += [
            f"itc/{kind}-{part} samples={SAMPLES} period_us=0 core_b=1 processes={processes}"
            for part, processes in product(parts, (0, 1))
        ]
    said = run(plan(*points))
    assert said.done
    assert len(said.ends) == len(points)
    for end in said.ends:
        assert (end.status, end.reason) == ("ok", "")
        assert end.proof.failed == 0 and end.proof.checked >= 2 * SAMPLES
        assert len(said.values(end.record)) == SAMPLES
        assert said.values(end.record).max() < 2**31  # an end before its beginning would wrap


@TWO_CORES
def test_placements_without_meaning_are_refused_with_a_sentence(run: Run) -> None:
    said = run(
        plan(
            "itc/semaphore-counting samples=3 core_b=1",
            "smp/wake-up samples=3 core_b=0",
            "itc/semaphore-give samples=3 rank_a=7 rank_b=8",
            f"{CYCLIC} core=0 migrate=move",
            f"{CYCLIC} migrate=watch context=cheap",
        ),
        TOLERANT,
    )
    wrong, same, inside, bound, both = said.ends
    assert wrong.status == "n/a" and "-to-higher" in wrong.reason
    assert same.status == "failed" and "itc/semaphore-counting-to-higher" in same.reason
    assert inside.status == "failed" and "inside the give" in inside.reason
    assert bound.status == "failed" and "no `core`" in bound.reason
    assert both.status == "failed" and "one of the two" in both.reason


def test_on_one_processor_points_of_two_are_n_a_with_one_sentence(run: Run) -> None:
    first = min(os.sched_getaffinity(0))
    said = run(plan(*ACROSS), TOLERANT, preexec_fn=lambda: os.sched_setaffinity(0, {first}))
    assert said.hello.cores == 1 and said.done
    assert len(said.ends) == len(ACROSS)
    reasons = {(e.status, e.reason) for e in said.ends}
    assert reasons == {("n/a", "this point needs two cores, and the board has one")}
