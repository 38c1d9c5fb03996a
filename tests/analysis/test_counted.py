# SPDX-License-Identifier: Apache-2.0
"""Operations counted in windows: what one takes, and its place in tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.gating import gate
from kadenz.analysis.limits import parse_limit
from kadenz.analysis.shared import exceedance_of
from kadenz.analysis.structures.windows import Windows
from kadenz.archive.rows import lane_rows
from kadenz.cli import cli
from kadenz.report.families import thread_metric
from kadenz.store import Run, read_run
from tests.synthetic import LINUX, STM32F4, Point, Samples, manifest, write_run


def counted(bench: str, windows: list[int], operations: list[int]) -> Point:
    lanes = {
        "window": np.array(windows, np.uint32),
        "window:operations": np.array(operations, np.uint32),
    }
    return Point(bench, lanes, {"window_us": 1000})


def workload_run(folder: Path) -> Path:
    sampled = np.array([900, 1000, 1100, 1000] * 50, np.uint32)
    points = [
        counted("thread-metric/cooperative", [1_000_000, 1_100_000], [1000, 1000]),
        Point("thread-metric/cooperative-sampled", {"all": sampled}),
        counted("thread-metric/basic", [1_000_000], [10]),
    ]
    return write_run(folder, manifest(LINUX), points)


def test_one_operation_takes_the_windows_over_the_count(tmp_path: Path) -> None:
    result = analyse(read_run(workload_run(tmp_path)))
    totals = result.records[0].structure(Windows)
    assert totals is not None
    assert (totals.windows, totals.operations, totals.per_operation) == (2, 2000, 1050.0)
    assert (totals.low, totals.high) == (1000.0, 1100.0)
    assert result.records[1].structure(Windows) is None


def test_the_rule_and_the_samples_stand_in_one_row(tmp_path: Path) -> None:
    table = thread_metric.workload_table([("A", analyse(read_run(workload_run(tmp_path))))])
    assert table is not None
    rows = {row[1].text: [cell.text for cell in row] for row in table.rows}
    assert set(rows) == {"cooperative", "basic"}
    assert rows["cooperative"][3] == "2,000"
    assert [float(text) for text in rows["cooperative"][4:6]] == [1.05, 1.0]
    assert rows["basic"][5] == "–"  # not sampled


def test_show_says_what_one_operation_takes(tmp_path: Path) -> None:
    folder = str(workload_run(tmp_path))
    text = CliRunner().invoke(cli, ["show", folder]).output
    assert "2,000 operations, 1.050 each" in text
    assert "Thread-Metric" in text
    (run,) = json.loads(CliRunner().invoke(cli, ["show", "--json", folder]).output)["runs"]
    row = next(row for row in run["records"] if row["bench"] == "thread-metric/cooperative")
    assert (row["operations"], row["per_operation"]) == (2000, 1.05)


def side(parent: Path, word: str, operations: int, target: dict[str, str]) -> list[Run]:
    """Three runs of this Linux with `operations` in a window, or one of a target that repeats."""
    runs = []
    for number in range(3 if target is LINUX else 1):
        noise = np.random.default_rng(number).integers(0, 5, 12) * (target is LINUX)
        point = counted(
            "thread-metric/basic", [1_000_000] * 12, [int(operations + extra) for extra in noise]
        )
        document = manifest(target, id=f"{word}-{number}")
        runs.append(read_run(write_run(parent, document, [point])))
    return runs


@pytest.mark.parametrize("target", [LINUX, STM32F4], ids=["real", "repeats"])
def test_windows_of_one_length_are_judged_by_their_operations(
    tmp_path: Path, target: dict[str, str]
) -> None:
    """Half of the operations in the same time is a regression, in compare, gate and limits."""
    old, new = (side(tmp_path, *variant, target) for variant in (("old", 1000), ("new", 500)))
    (median, _) = compare_sides(old, new).points
    assert (median.statistic, median.outcome) == ("median", "worse")
    assert median.figures[1] == pytest.approx(2.0 * (median.figures[0] or 0.0), rel=0.01)
    assert gate(new, old, statistics=("median",)).outcome == "fail"
    assert gate(old, new, statistics=("median",)).outcome == "pass"
    unit = {LINUX["name"]: "us", STM32F4["name"]: "instructions"}[target["name"]]
    most = parse_limit(f"thread-metric/basic median < {1.5 if unit == 'us' else 1500} {unit}")
    assert [gate(runs, [], limits=[most]).outcome for runs in (old, new)] == ["pass", "fail"]


def test_an_archive_keeps_what_one_operation_takes(tmp_path: Path) -> None:
    (run,) = side(tmp_path, "a", 1000, STM32F4)
    (row,) = lane_rows(run, label="", commit="", added="2026-11-27T10:00:00Z").to_pylist()
    assert (row["p50"], row["unit"]) == (1000.0, "instructions per operation")
    assert row["n"] == 12


def test_windows_are_no_latencies(tmp_path: Path) -> None:
    (run,) = side(tmp_path, "a", 1000, STM32F4)
    assert exceedance_of(analyse(run).records[0]) is None


def two_cores(parent: Path, word: str, *, first: int, second: int, counts: bool = True) -> Run:
    """A run that repeats itself: windows of two cores, with or without their operations."""
    windows = np.full(12, 1_000_000, np.uint32)
    lanes: dict[str, Samples] = {"core0": windows, "core1": windows}
    if counts:
        for core, operations in (("core0", first), ("core1", second)):
            lanes[f"{core}:operations"] = np.full(12, operations, np.uint32)
    document = manifest(STM32F4, id=word)
    return read_run(write_run(parent, document, [Point("my/count", lanes, cold=2)]))


def test_each_core_is_judged_by_its_own_operations(tmp_path: Path) -> None:
    """A regression of the second core alone is one; cold windows do not count."""
    old = two_cores(tmp_path, "old", first=1000, second=1000)
    new = two_cores(tmp_path, "new", first=1000, second=500)
    points = {p.lane: p for p in compare_sides([old], [new], statistics=("median",)).points}
    assert {lane: point.outcome for lane, point in points.items()} == {
        "core0 per operation": "equivalent",
        "core1 per operation": "worse",
    }
    assert gate([new], [old], statistics=("median",)).outcome == "fail"
    rows = lane_rows(new, label="", commit="", added="2026-11-27T10:00:00Z").to_pylist()
    assert [(row["lane"], row["p50"], row["n"]) for row in rows] == [
        ("core0", 1000.0, 10),
        ("core1", 2000.0, 10),
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_windows_and_operations_are_never_compared(tmp_path: Path, turned: bool) -> None:
    """A run whose image did not send its counts is no run a thousand times slower."""
    sides = [
        [two_cores(tmp_path, "with", first=1000, second=1000)],
        [two_cores(tmp_path, "without", first=0, second=0, counts=False)],
    ]
    comparison = compare_sides(*(sides[::-1] if turned else sides), statistics=("median",))
    assert {point.outcome for point in comparison.points} <= {"not-comparable", "inconclusive"}
    assert all("instead of" in point.reason for point in comparison.points)
