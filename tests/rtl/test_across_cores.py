# SPDX-License-Identifier: Apache-2.0
"""Benchmarks across the cores of two Ibex, and with a cycle counter of its own in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.cli.folders import find_runs
from kadenz.store import Run
from tests.rtl.planted import plant
from tests.rtl.test_cores import kadenz, measured
from tests.rtl.test_two_cores import IBEX_2

pytestmark = pytest.mark.counted
SWITCH = "itc/semaphore-counting-to-higher"
LATE = 19_031_800  # cycles: tests/rtl/faults/late_counter.c
CAMPAIGN = f"""
name = "across"
title = "Across two cores, short"
targets = ["{IBEX_2}"]
[[benchmark]]
name = "{SWITCH}"
samples = 3
[benchmark.params]
core_a = [0, 1]
core_b = [0, 1]
[[benchmark]]
name = "smp/clocks"
samples = 3
"""
PLACED = f"""
name = "placed"
title = "Tasks that a plan places, short"
targets = ["{IBEX_2}"]
[[benchmark]]
name = "{SWITCH}"
samples = 3
[benchmark.params]
core_a = [0, 1]
core_b = 0
period_us = 1000
[[benchmark]]
name = "itc/queue"
samples = 3
[benchmark.params]
core_b = 1
period_us = 1000
[[benchmark]]
name = "itc/semaphore-give"
samples = 3
[benchmark.params]
core_b = 1
period_us = 1000
[[benchmark]]
name = "micro/preemption-sampled"
samples = 3
[benchmark.params]
core_high = 1
[[benchmark]]
name = "inversion/mutex"
samples = 2
[benchmark.params]
core_high = 1
section_us = 20
middle_us = 50
period_us = 1000
[[benchmark]]
name = "smp/contention"
samples = 20
[[benchmark]]
name = "smp/offset"
samples = 20
[[benchmark]]
name = "smp/clocks"
samples = 3
"""
MORE = """
[[benchmark]]
name = "smp/wake-up"
samples = 3
[benchmark.params]
other_core = ["idle", "busy"]
period_us = 2000
[[benchmark]]
name = "smp/contention"
samples = 20
[benchmark.params]
other_core = ["none", "own"]
[[benchmark]]
name = "micro/preemption-sampled"
samples = 3
[benchmark.params]
core_high = 1
[[benchmark]]
name = "inversion/mutex"
samples = 2
[benchmark.params]
core_high = 1
section_us = 20
middle_us = 50
[[benchmark]]
name = "cyclic/wakeup-latency"
samples = 5
[benchmark.params]
period_us = 3000 # loads of 2 ms: each time the other one works
rank = 8
threads = 1
migrate = ["move", "suspend"]
"""


def run_of(folder: Path, text: str) -> Run:
    file = folder / "across.toml"
    file.write_text(text)
    (run,) = measured(folder / "runs", str(file))
    return run


def faulty_run(folder: Path, text: str) -> Run:
    """A run of which not every record is ok."""
    file = folder / "across.toml"
    file.write_text(text)
    kadenz("run", str(file), "--output", str(folder / "runs"))
    (run,) = find_runs([folder / "runs"])
    return run


def values(run: Run, bench: str, **params: int | str) -> list[int]:
    (record,) = [
        entry
        for entry in run.manifest.records
        if entry.bench == bench and params.items() <= entry.params.items()
    ]
    assert (record.status, record.reason) == ("ok", ""), record.bench
    return [int(value) for value in run.samples(record, 0)]


def test_points_across_cores_measure_on_the_cores_of_their_plan(tmp_path: Path) -> None:
    run = run_of(tmp_path, CAMPAIGN + MORE)
    assert [(r.bench, r.reason) for r in run.manifest.records if r.status != "ok"] == []
    assert values(run, "smp/clocks") == [0, 0, 0]  # one clock
    alone, beside = (
        values(run, "smp/contention", other_core=other_core) for other_core in ("none", "own")
    )
    assert sum(beside) > sum(alone)
    moved = cores_of(run, "move")
    assert all(begin != end for begin, end in moved[1:])
    driven = cores_of(run, "suspend")  # to the core whose load does not work when it wakes
    assert {core for pair in driven for core in pair} == {0, 1}


def cores_of(run: Run, migrate: str) -> list[tuple[int, int]]:
    """Where each period of the cyclic thread began and ended."""
    (record,) = [entry for entry in run.manifest.records if entry.params.get("migrate") == migrate]
    lanes = record.companions(record.series[0])
    begin, end = (
        run.samples(record, lanes[f"{moment}-core"]).tolist() for moment in ("begin", "end")
    )
    return list(zip(begin, end, strict=True))


def test_a_kernel_that_ignores_the_core_of_a_thread_gives_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = "cycle_limit = 9000000"
    target = plant("unbound", "kdz_thread_create", tmp_path, monkeypatch, tier=limit)
    run = faulty_run(tmp_path, PLACED.replace(IBEX_2, target))
    placed = [entry for entry in run.manifest.records if not entry.bench.startswith("clock/")]
    assert len(placed) == 9
    for record in placed:
        verdict = (record.status, record.reason)
        assert verdict == ("invalid", "a task ran on another core than its own"), record.bench


def test_a_counter_a_core_gives_the_190_ms_of_arm2022_and_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = plant("late_counter", "kdz_cores_begin", tmp_path, monkeypatch)
    run = faulty_run(tmp_path, CAMPAIGN.replace(IBEX_2, target))  # one record is invalid
    # The fault's read and write of the counter lie some cycles apart.
    assert all(abs(value - LATE) < 100 for value in values(run, "smp/clocks"))
    same = max(values(run, SWITCH, core_a=0, core_b=0))
    across = values(run, SWITCH, core_a=1, core_b=0)
    assert min(across) > LATE and max(across) < LATE + 3 * same
    assert max(across) - min(across) < same
    (wrapped,) = [
        entry
        for entry in run.manifest.records
        if entry.bench == SWITCH and (entry.params["core_a"], entry.params["core_b"]) == (0, 1)
    ]
    assert wrapped.status == "invalid" and "END came" in wrapped.reason
