# SPDX-License-Identifier: Apache-2.0
"""Deadlines and misses: which deadline applies, what counts as a miss, and what is unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.deadlines import Misses, check_asked, parse_deadline
from kadenz.analysis.results import RecordResult
from kadenz.analysis.runs import point_misses
from kadenz.config.manifest import DeadlineEntry
from kadenz.errors import UsageError
from kadenz.report import labels
from kadenz.store import Run, read_run
from tests.synthetic import HIFIVE1, LINUX, Point, Samples, manifest, write_run

BENCH = "cyclic/wakeup-latency"


def cyclic(n: int = 2000, *, missed: tuple[int, ...] = (), late: tuple[int, ...] = ()) -> Point:
    """A 1 ms thread that wakes within 50 µs, but with `late` cycles (300 µs) and `missed` ones."""
    cycles = np.delete(np.arange(n, dtype=np.uint32), missed)
    values = np.full(cycles.size, 50_000, np.uint32)
    values[np.isin(cycles, late)] = 300_000
    lanes = {"core0": values, "core0:cycle": cycles}
    return Point(BENCH, lanes, {"period_us": 1000}, missed=len(missed))


def run_of(parent: Path, *points: Point, target: dict[str, str] = LINUX) -> Run:
    return read_run(write_run(parent, manifest(target), points))


def first(run: Run, *asked: str) -> RecordResult:
    return analyse(run, deadlines=[parse_deadline(text) for text in asked]).records[0]


def misses(run: Run, *asked: str) -> Misses:
    figures = first(run, *asked).misses
    assert figures is not None
    return figures


def test_the_rate_is_over_the_cycles_planned_of_that_benchmark(tmp_path: Path) -> None:
    clock = Point("clock/read-cost", {"all": np.full(1500, 20, np.uint32)})
    run = run_of(tmp_path, clock, cyclic(missed=tuple(range(0, 1000, 10))))
    result = analyse(run)
    figures = result.records[1].misses
    assert figures is not None and result.records[0].misses is None
    assert (figures.planned, figures.missed, figures.share) == (2000, 100, 0.05)
    (warning,) = [w for w in result.warnings if w.code == "samples-missed"]
    assert "100 of 2,000 cycles did not happen" in warning.message


@pytest.mark.parametrize("spoil", [0.0, 0.5, -3000.0])
def test_cycle_numbers_may_be_floats_and_invalid_ones_make_the_rate_unknown(
    tmp_path: Path, spoil: float
) -> None:
    point = cyclic(missed=tuple(range(0, 2000, 100)))
    point.lanes = {name: values.astype(np.float64) for name, values in point.lanes.items()}
    point.lanes["core0:cycle"][7] += spoil
    figures = misses(run_of(tmp_path, point), "100us")
    assert figures.missed == 20
    assert (figures.rate is None) == (spoil != 0.0)


def test_a_cycle_that_did_not_happen_and_one_that_ended_late_both_miss(tmp_path: Path) -> None:
    figures = misses(run_of(tmp_path, cyclic(missed=(5, 6), late=(40, 41, 42))), "100us")
    assert (figures.never, figures.late, figures.missed, figures.measured) == (2, 3, 5, 1998)


def test_the_period_is_the_default_deadline_of_periodic_work(tmp_path: Path) -> None:
    figures = misses(run_of(tmp_path, cyclic(late=(3,))))
    assert figures.deadline is not None
    assert str(figures.deadline) == "1,000 µs (period)"
    assert (figures.late, figures.missed) == (0, 0)  # 300 µs are within its period


def test_the_deadline_and_the_point_are_of_the_period_that_the_kernel_gave(tmp_path: Path) -> None:
    """1.5 ms asked at a tick of 1 ms: 1.6 ms are within the 2 ms that it had."""
    values = np.full(100, 1_600_000, np.uint32)
    run = run_of(tmp_path, Point(BENCH, {"core0": values}, {"period_us": 1500}))
    assert misses(run).late == 100  # a run that does not state it
    run.manifest.records[0].lanes[0].period_us = 2000.0
    assert (misses(run).late, str(misses(run).deadline)) == (0, "2,000 µs (period)")
    assert labels.point(first(run)) == "every 2 ms (1.5 ms asked)"


def test_each_thread_has_the_deadline_of_its_own_period(tmp_path: Path) -> None:
    values = np.full(100, 1_400_000, np.uint32)
    lanes: dict[str, Samples] = {"thread0": values, "thread1": values}
    point = Point(BENCH, lanes, {"period_us": 1000, "distance_us": 500})
    record = first(run_of(tmp_path, point))
    assert [lane.misses.late for lane in record.lanes if lane.misses] == [100, 0]
    assert record.misses is not None and record.misses.late == 100


def test_the_command_line_overrides_the_campaign_which_overrides_the_period(tmp_path: Path) -> None:
    campaign = DeadlineEntry(quantity="200us", origin="campaign")
    run = run_of(tmp_path, replace(cyclic(late=(3,)), deadline=campaign))
    assert str(misses(run).deadline) == "200 µs (campaign)" and misses(run).late == 1
    other = misses(run, "1us", "cyclic/* period_us=1000=0.4ms")
    assert str(other.deadline) == "0.4 ms (command line)" and other.late == 0


def test_no_miss_gives_the_one_sided_bound(tmp_path: Path) -> None:
    rate = misses(run_of(tmp_path, cyclic(3000))).rate
    assert rate is not None
    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high == pytest.approx(3.0 / 3000, rel=0.01)


def test_a_single_burst_does_not_determine_the_rate(tmp_path: Path) -> None:
    figures = misses(run_of(tmp_path, cyclic(missed=tuple(range(500, 800)))))
    assert figures.share == 0.15 and figures.rate is None
    assert "300 misses worth 1 independent" in figures.reason


def test_a_pause_of_all_threads_is_one_occasion(tmp_path: Path) -> None:
    starts = np.arange(20, 2000, 90)
    late = np.concatenate([starts, starts + 1, starts + 2])
    thread = cyclic(late=tuple(late))
    lanes = thread.lanes | {f"core{i}": thread.lanes["core0"] for i in range(1, 4)}
    together, alone = (
        misses(run_of(tmp_path / str(len(point.lanes)), point), "100us").rate
        for point in (replace(thread, lanes=lanes), thread)
    )
    assert together is not None and alone is not None
    assert together.high / together.low > 0.9 * alone.high / alone.low


def test_not_measured_is_not_missed(tmp_path: Path) -> None:
    stopped = replace(cyclic(1102), not_measured=2898, reason="stopped on request")
    run = run_of(tmp_path, stopped)
    figures = misses(run)
    assert (figures.planned, figures.measured, figures.missed) == (4000, 1102, 0)
    assert figures.not_measured == 2898 and figures.rate is not None
    result = analyse(run)
    assert "1,102 of 4,000 measured" in result.records[0].notes
    assert not [w for w in result.warnings if w.code == "samples-missed"]


def test_cold_cycles_are_excluded(tmp_path: Path) -> None:
    figures = misses(run_of(tmp_path, replace(cyclic(late=(0, 900)), cold=2)), "100us")
    assert (figures.cold, figures.cold_late, figures.late, figures.planned) == (2, 1, 1, 1998)


def test_instructions_are_only_compared_with_instructions(tmp_path: Path) -> None:
    run = run_of(tmp_path, cyclic(late=(7,)), target=HIFIVE1)
    assert misses(run, "60000 instructions").late == 1
    with pytest.raises(UsageError, match="instructions there .*100 µs cannot be compared"):
        check_asked([parse_deadline("100us")], [run])


def test_figures_of_another_quantity_use_the_targets_overrun_count(tmp_path: Path) -> None:
    """A following error in degrees belongs to a cycle of a real clock."""
    figures = misses(run_of(tmp_path / "a", replace(cyclic(), unit="deg")))
    assert (figures.late, figures.missed) == (0, 0) and figures.rate is not None
    figures = misses(run_of(tmp_path / "b", replace(cyclic(), unit="deg", overrun=4)))
    assert figures.late == 4 and figures.rate is None


def counted(parent: Path, clock_class: Any, hz: int, unit: str, point: Point) -> Run:
    document = manifest(HIFIVE1)
    document.clock.clock_class, document.clock.hz, document.clock.unit = clock_class, hz, unit
    return read_run(write_run(parent, document, [point]))


@pytest.mark.parametrize(
    ("clock_class", "unit"),
    [("instruction", "instruction"), ("instruction", "virtual ns"), ("cycle-model", "cycle")],
)
def test_a_period_is_no_deadline_of_a_clock_that_keeps_no_time(
    clock_class: Any, unit: str, tmp_path: Path
) -> None:
    """1 ms is a million instructions of an emulator, and 168,000 cycles of the chip."""
    run = counted(tmp_path / "a", clock_class, 0, unit, replace(cyclic(), overrun=4))
    assert first(run).misses is None
    figures = misses(counted(tmp_path / "b", clock_class, 0, unit, cyclic(missed=(3,))))
    assert (figures.never, figures.late, figures.deadline) == (1, None, None)
    stated = replace(cyclic(), deadline=DeadlineEntry(quantity="100us", origin="campaign"))
    figures = misses(counted(tmp_path / "c", clock_class, 0, unit, stated))
    assert figures.late is None and "cannot be compared" in figures.sentence
    with pytest.raises(UsageError, match="cannot be compared"):
        check_asked([parse_deadline("100us")], [run])


def test_a_simulated_core_at_a_stated_clock_is_judged(tmp_path: Path) -> None:
    """At 100 MHz 1 ms has 100,000 cycles: samples of 300,000 are late."""
    run = counted(tmp_path, "cycle-exact", 100_000_000, "cycle", cyclic(late=(7, 9)))
    assert misses(run).late == 2
    assert misses(run, "400us").late == 2000 and misses(run, "4ms").late == 0


def test_unrecorded_gaps_leave_the_rate_unknown(tmp_path: Path) -> None:
    point = cyclic(missed=(1, 2))
    bare = replace(point, lanes={"core0": point.lanes["core0"]})
    figures = misses(run_of(tmp_path, bare))
    assert figures.missed == 2 and figures.rate is None
    assert "not recorded" in figures.reason


def test_without_a_deadline_missed_samples_are_counted_and_late_ones_unknown(
    tmp_path: Path,
) -> None:
    point = Point("itc/queue", {"all": np.full(50, 9, np.uint32)}, missed=3)
    figures = misses(run_of(tmp_path, point))
    assert (figures.never, figures.late, figures.deadline) == (3, None, None)


def test_runs_of_one_point_are_pooled_and_their_spread_widens_the_interval(tmp_path: Path) -> None:
    runs = [
        run_of(tmp_path / str(i), cyclic(late=tuple(range(3, 2000, step))))
        for i, step in enumerate((100, 50, 20))
    ]
    pairs = [(run, run.manifest.records[0]) for run in runs]
    figures = point_misses(pairs, [parse_deadline("100us")])
    assert figures is not None and figures.rate is not None
    assert (figures.planned, figures.missed) == (6000, 160)
    # 20, 40 and 100 misses per run: no single run predicts the others' rate.
    assert figures.rate.low < 20 / 2000 and figures.rate.high > 100 / 2000


@pytest.mark.parametrize(
    "text", ["", "fast", "-3us", "0us", "100", "a b=100us", "cyclic/*=", "1e999us"]
)
def test_an_invalid_deadline_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--deadline"):
        parse_deadline(text)


def test_a_deadline_that_applies_to_no_point_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such point"):
        check_asked([parse_deadline("itc/*=1us")], [run_of(tmp_path, cyclic())])
