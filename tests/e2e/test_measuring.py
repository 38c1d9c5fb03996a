# SPDX-License-Identifier: Apache-2.0
"""The main job: measuring real kernels on real targets into run folders."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kadenz.config import inventory
from kadenz.store import Run
from tests.e2e.conftest import BOARDS, LINUX, all_runs, kadenz, runs_in


@pytest.mark.counted
def test_two_runs_of_the_study_are_byte_identical(built: None, tmp_path: Path) -> None:
    """Rule 8, on every point of yoo2024's FreeRTOS part (with --quick: 50 samples per point)."""
    targets = [word for board in BOARDS for word in ("--target", board)]
    for name in ("one", "two"):
        answer = kadenz(
            "run", "yoo2024", "--quick", "--fresh", *targets, "--output", tmp_path / name
        )
        assert answer.returncode == 0, answer.stderr
    runs, again = runs_in(tmp_path / "one"), runs_in(tmp_path / "two")
    assert set(runs) == set(BOARDS)
    for board in BOARDS:
        files = sorted(path.name for path in (runs[board].path / "samples").iterdir())
        assert files == sorted(path.name for path in (again[board].path / "samples").iterdir())
        assert len([name for name in files if "-itc-" in name]) == 33
        for name in files:
            first = (runs[board].path / "samples" / name).read_bytes()
            assert first == (again[board].path / "samples" / name).read_bytes(), name


@pytest.mark.counted
def test_wake_ups_are_repeatable_next_to_busy_processes(built: None, tmp_path: Path) -> None:
    """QEMU had one late tick in 80,000 when its two threads did not alternate.

    The runs are each other's busy processes: two emulators and more for each processor.
    """
    count = max(5, 2 * len(os.sched_getaffinity(0)) + 1)

    def measured(number: int) -> subprocess.CompletedProcess[str]:
        return kadenz(
            *("run", "cyclic/wakeup-latency", "--fresh", "--target", BOARDS[1]),
            *("--set", "samples=30000", "--output", tmp_path / str(number)),
        )

    with ThreadPoolExecutor(count) as pool:
        for answer in pool.map(measured, range(count)):
            assert answer.returncode == 0, answer.stderr
    runs = [runs_in(tmp_path / str(number))[BOARDS[1]] for number in range(count)]
    lanes = [run.samples(run.manifest.records[-1], 0) for run in runs]
    assert lanes[0].size == 30000
    assert all(np.array_equal(lane, lanes[0]) for lane in lanes)


@pytest.mark.counted
def test_a_boards_note_on_a_benchmark_is_stored_in_its_run(built: None, tmp_path: Path) -> None:
    kadenz("run", "cyclic/wakeup-latency", "irq/to-task", "--quick", "--target", BOARDS[0],
           "--output", tmp_path)  # fmt: skip
    manifest = runs_in(tmp_path)[BOARDS[0]].manifest
    assert "timer grid" in manifest.benchmark_notes["cyclic/wakeup-latency"]
    warnings = manifest.warnings
    notes = [warning.message for warning in warnings if warning.code == "benchmark-note"]
    assert len(notes) == 1 and notes[0].startswith("in cyclic/wakeup-latency, ")


RUST = ("embassy/stm32f4@emulated", "rtic/stm32f4@emulated")
IBEX = "freertos/ibex@rtl"


def measured_with_the_clock_first(run: Run, clock_class: str) -> None:
    """Every record of the run has its proof and adds up; there are several.

    A model's clock is no counter that a program reads: only its cost is measured.
    """
    manifest = run.manifest
    clock = manifest.clock
    assert clock.clock_class == clock_class
    counter = clock_class != "cycle-model"
    assert (clock.monotonic is True, clock.resolution is not None) == (counter, counter)
    assert clock.read_cost is not None
    assert [r.bench for r in manifest.records][:3] == [
        "clock/monotonic",
        "clock/read-cost",
        "clock/resolution",
    ]
    assert manifest.build is not None and len(manifest.build.elf_sha256) == 64
    assert "-O2" in manifest.build.flags
    measured = [r for r in manifest.records if r.status == "ok"]
    assert len(measured) >= {"cycle-exact": 7, "cycle-model": 9}.get(clock_class, 12)
    for record in measured:
        assert record.begins and record.ends and record.source
        assert record.proof.checked > 0 and record.proof.failed == 0
        for lane in record.lanes:
            assert lane.planned == lane.taken + lane.missed
            assert run.samples(record, lane).size == lane.taken


@pytest.mark.counted
def test_the_demo_measures_every_counted_target_with_its_clock_first(
    built: None, tmp_path: Path
) -> None:
    """Each board of a timing model has two runs: which of them ends first, nobody says."""
    classes = {
        name: {"instruction", "cycle-model"} if "/stm32f4@" in name else {"instruction"}
        for name in (*BOARDS, *RUST)
    } | {IBEX: {"cycle-exact"}}
    targets = [word for name in classes for word in ("--target", name)]
    answer = kadenz("run", "demo", "--quick", "--json", *targets, "--output", tmp_path)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert told["errors"] == []
    runs = all_runs(tmp_path)
    names = [run.manifest.target.name for run in runs]
    assert sorted(names) == sorted(run["target"] for run in told["runs"])
    assert len(runs) == sum(map(len, classes.values()))
    for name, expected in classes.items():
        of_target = [run for run in runs if run.manifest.target.name == name]
        assert {run.manifest.clock.clock_class for run in of_target} == expected
    for run in runs:
        measured_with_the_clock_first(run, run.manifest.clock.clock_class)
    assert {*classes, LINUX} == set(inventory.campaigns()["demo"].targets)


@pytest.mark.machine
def test_the_demo_measures_this_linux_with_its_clock_first(built: None, tmp_path: Path) -> None:
    answer = kadenz("run", "demo", "--quick", "--target", LINUX, "--output", tmp_path)
    assert answer.returncode == 0, answer.stderr
    measured_with_the_clock_first(runs_in(tmp_path)[LINUX], "hosted")


@pytest.mark.counted
def test_instructions_never_have_a_rate(built: None, tmp_path: Path) -> None:
    """An emulated figure must not be turned into microseconds of a board: hz is 0."""
    kadenz("run", "irq/to-task", "--quick", "--target", BOARDS[0], "--output", tmp_path)
    clock = runs_in(tmp_path)[BOARDS[0]].manifest.clock
    assert (clock.unit, clock.hz) == ("instruction", 0)


@pytest.mark.counted
def test_the_scope_agrees_with_the_counter(built: None, tmp_path: Path) -> None:
    """Two instruments, one benchmark: a constant offset for all samples."""
    for instrument in ("counter", "scope"):
        answer = kadenz(
            "run",
            "micro/task-switch-sampled",
            "--quick",
            "--instrument",
            instrument,
            "--target",
            BOARDS[1],
            "--output",
            tmp_path / instrument,
        )
        assert answer.returncode == 0, answer.stderr
    values = []
    for instrument in ("counter", "scope"):
        run = runs_in(tmp_path / instrument)[BOARDS[1]]
        values.append(run.samples(run.record(10)).astype(np.int64))
    offsets = np.unique(values[0][1:] - values[1][1:])  # the first one is cold
    assert offsets.size == 1
    assert abs(int(offsets[0])) <= 4


@pytest.mark.counted
def test_a_plan_that_does_not_fit_its_page_is_measured_in_several_boots(
    built: None, tmp_path: Path
) -> None:
    sizes = ",".join(str(size) for size in range(4, 600, 7))  # 86 lines, more than 4 KiB
    answer = kadenz(
        "run", "itc/queue", "--set", f"size_bytes={sizes}", "--set", "samples=3",
        "--set", "period_us=1000", "--target", BOARDS[1], "--output", tmp_path,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    run = runs_in(tmp_path)[BOARDS[1]]
    points = [r for r in run.manifest.records if r.bench == "itc/queue"]
    assert [r.params["size_bytes"] for r in points] == list(range(4, 600, 7))
    assert all(r.status == "ok" for r in points)


def test_features_that_a_kernel_lacks_are_n_a_and_not_a_failure(
    built: None, tmp_path: Path
) -> None:
    answer = kadenz(
        *("run", "itc/queue", "--quick", "--target", LINUX, "--output", tmp_path),
        "--allow",
        "no-realtime",
    )
    assert answer.returncode == 0, answer.stderr
    record = runs_in(tmp_path)[LINUX].record(10)
    assert record.status == "n/a" and record.reason
    assert [(lane.planned, lane.taken, lane.missed) for lane in record.lanes] == [(0, 0, 0)]


@pytest.mark.counted
def test_the_demo_measures_what_files_decide_and_reports_it(built: None, tmp_path: Path) -> None:
    """`make demo`, without this Linux: boards, frameworks in Rust and a simulated core."""
    targets = [name for name in inventory.campaigns()["demo"].targets if name != LINUX]
    page = tmp_path / "demo.html"
    chosen = [word for name in targets for word in ("--target", name)]
    output = tmp_path / "runs"
    answer = kadenz("run", "demo", "--quick", *chosen, "--output", output, "--report", page)
    assert answer.returncode == 0, answer.stderr
    assert {run.manifest.target.name for run in all_runs(output)} == set(targets)
    text = page.read_text()
    assert all(name.partition("@")[0] in text for name in targets)
