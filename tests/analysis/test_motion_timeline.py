# SPDX-License-Identifier: Apache-2.0
"""A motion's own records give its timeline: tasks by priority, and the frames of the main task."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.runs import analyse
from kadenz.analysis.timelines import timelines_of
from kadenz.config.params import Value
from kadenz.config.timeline import Slice, Timeline
from kadenz.report.svg.timeline import window_of
from kadenz.report.timelines import chrome, vcd
from kadenz.store import read_run
from tests.synthetic import LINUX, Point, manifest, write_run

MS = 1_000_000
RELEASES = [7, 8, 10]  # number 9 was skipped


def task(
    bench: str, name: str, values: list[int], releases: list[int] | None, **params: Value
) -> Point:
    lanes = {name: np.array(values, dtype=np.uint32)}
    if releases is not None:
        lanes[f"{name}:release"] = np.array(releases, dtype=np.uint32)
    return Point(bench, lanes, params=params, unit="ns")


def points(releases: list[int] | None = RELEASES) -> list[Point]:
    main: dict[str, Value] = {"period_us": 1000, "priority": 90}
    log: dict[str, Value] = {"period_us": 100_000, "priority": 70}
    frame = {
        "frame": np.array([200, 210], dtype=np.uint32),
        "frame:release": np.array([7, 10], dtype=np.uint32),  # that of 8 was lost
        "frame:sent": np.array([60, 70], dtype=np.uint32),
    }
    late = None if releases is None else [0]
    return [
        task("motion/response-time", "log", [MS], late, **log),
        task("motion/response-time", "main", [500, 1_000_400, 520], releases, **main),
        task("motion/release-latency", "log", [0], None, **log),
        task("motion/release-latency", "main", [50, 40, 30], None, **main),
        Point("motion/frame-time", frame, params={}, unit="ns"),
    ]


def timeline(folder: Path) -> Timeline:
    (recording,) = timelines_of(read_run(write_run(folder, manifest(LINUX), points())))
    return recording


def test_each_period_is_where_its_release_was(tmp_path: Path) -> None:
    recording = timeline(tmp_path)
    rows = {(row.kind, row.name): row.slices for row in recording.tracks}
    order = [("wait", "main"), ("period", "main"), ("frame", "frame"), ("wait", "log")]
    assert list(rows) == [*order, ("period", "log")]
    assert rows["wait", "main"][0] == Slice("released", 7 * MS, 7 * MS + 50)
    assert rows["period", "main"] == [
        Slice("main", 7 * MS + 50, 7 * MS + 500),
        Slice("main", 8 * MS + 40, 9 * MS + 400),
        Slice("main", 10 * MS + 30, 10 * MS + 520),
    ]
    assert rows["frame", "frame"][1] == Slice("frame", 10 * MS + 70, 10 * MS + 280)
    assert (recording.begin, recording.end, recording.unit) == (0, 10 * MS + 520, "ns")


def test_viewers_get_tasks_and_frames(tmp_path: Path) -> None:
    recording = timeline(tmp_path)
    drawn = [event for event in json.loads(chrome(recording))["traceEvents"] if event["ph"] == "X"]
    assert {event["cat"] for event in drawn} == {"wait", "period", "frame"}
    text = vcd(recording)
    assert all(f"$scope module {name} $end" in text for name in ("released", "tasks", "bus"))


def test_the_picture_has_a_period_of_the_slowest_task(tmp_path: Path) -> None:
    recording = timeline(tmp_path)
    begin, end = window_of(recording)
    assert begin < 0 < end <= 12 * MS


def test_a_run_without_numbers_of_releases_has_no_timeline(tmp_path: Path) -> None:
    assert timelines_of(read_run(write_run(tmp_path, manifest(LINUX), points(None)))) == []


@pytest.mark.parametrize("bench", ["motion/response-time", "motion/frame-time"])
def test_numbers_of_releases_are_no_cause_of_late_samples(bench: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    n = 2000
    values = rng.integers(100, 200, n).astype(np.uint32)
    values[-50:] += 5000  # the last ones, which have the highest numbers
    lanes = {"main": values, "main:release": np.arange(n, dtype=np.uint32)}
    series = [Point(bench, lanes, params={"period_us": 1000, "priority": 90}, unit="ns")]
    result = analyse(read_run(write_run(tmp_path, manifest(LINUX), series)))
    (record,) = result.records
    outliers = record.lanes[0].outliers
    assert outliers is None or "release" not in outliers.recorded
