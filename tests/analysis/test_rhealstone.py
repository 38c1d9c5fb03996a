# SPDX-License-Identifier: Apache-2.0
"""Rhealstone's figure of a run: its parts, its unit, and missing parts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.cli import cli
from kadenz.report.families.rhealstone import RhealstoneResult, rhealstone_of
from kadenz.store import read_run
from tests.synthetic import HIFIVE1, LINUX, Point, instructions, manifest, nanoseconds, write_run

LINUX_SIX = (
    ("micro/task-switch-sampled", 1000.0),
    ("itc/semaphore-counting-to-higher", 4000.0),
    ("irq/to-handler", 500.0),
    ("micro/semaphore-shuffle-sampled", 1500.0),
    ("rhealstone/deadlock-break", 8000.0),
    ("micro/message-latency-sampled", 3000.0),
)


def points(rng: np.random.Generator) -> list[Point]:
    return [Point(bench, {"all": nanoseconds(ns, 200, rng)}) for bench, ns in LINUX_SIX]


def figure(folder: Path) -> RhealstoneResult:
    rhealstone = rhealstone_of(analyse(read_run(folder)))
    assert rhealstone is not None
    return rhealstone


def test_six_times_give_their_mean_and_rhealstones_per_second(tmp_path: Path) -> None:
    parts = points(np.random.default_rng(1))
    rhealstone = figure(write_run(tmp_path, manifest(LINUX), parts))
    means_ns = [float(point.lanes["all"].mean()) for point in parts]
    assert rhealstone.figure.mean is not None and rhealstone.per_second is not None
    assert rhealstone.unit.figure(rhealstone.figure.mean.value) == pytest.approx(
        np.mean(means_ns) / 1e3
    )
    assert rhealstone.per_second.value == pytest.approx(1e9 / np.mean(means_ns))
    assert rhealstone.per_second.low < rhealstone.per_second.value < rhealstone.per_second.high
    assert rhealstone.parts[1].bench == "itc/semaphore-counting-to-higher"


def test_a_part_that_is_not_applicable_is_named_and_prevents_the_figure(tmp_path: Path) -> None:
    parts = [
        Point("irq/to-handler", {"all": np.zeros(0, np.uint32)}, status="n/a", reason="none here")
        if point.bench == "irq/to-handler"
        else point
        for point in points(np.random.default_rng(1))
    ]
    folder = write_run(tmp_path, manifest(LINUX), parts)
    rhealstone = figure(folder)
    assert rhealstone.figure.mean is None and rhealstone.per_second is None
    assert rhealstone.figure.missing == ("interrupt latency",)
    assert rhealstone.reason == "interrupt latency: n/a: none here"
    answer = CliRunner().invoke(cli, ["show", str(folder)], env={"COLUMNS": "200"})
    assert "Rhealstones per second" in answer.output
    assert "interrupt latency: n/a: none here" in answer.output
    row = json.loads(CliRunner().invoke(cli, ["show", "--json", str(folder)]).output)["runs"][0]
    assert row["rhealstone"]["mean"]["value"] is None
    assert [part["name"] for part in row["rhealstone"]["parts"] if part["value"] is None] == [
        "interrupt latency"
    ]


def test_a_part_without_measurement_or_proof_does_not_count(tmp_path: Path) -> None:
    parts = points(np.random.default_rng(1))[1:]
    parts[-1] = replace(parts[-1], failed_checks=1, proof_reason="bytes differ")
    rhealstone = figure(write_run(tmp_path, manifest(LINUX), parts))
    assert rhealstone.figure.missing == ("task switch", "message latency")
    assert "not measured" in rhealstone.parts[0].reason
    assert "bytes differ" in rhealstone.parts[-1].reason


def test_counted_instructions_are_never_rhealstones_per_second(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    parts = [Point(bench, {"all": instructions(100, 200, rng)}) for bench, _ in LINUX_SIX]
    rhealstone = figure(write_run(tmp_path, manifest(HIFIVE1), parts))
    assert rhealstone.figure.mean is not None
    assert rhealstone.unit.key == "instructions"
    assert rhealstone.per_second is None


def test_other_runs_have_no_rhealstone_figure(tmp_path: Path) -> None:
    parts = [p for p in points(np.random.default_rng(1)) if not p.bench.startswith("rhealstone/")]
    assert rhealstone_of(analyse(read_run(write_run(tmp_path, manifest(LINUX), parts)))) is None


def test_the_report_shows_the_parts_and_the_figure(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(LINUX), points(np.random.default_rng(1)))
    page = tmp_path / "page.html"
    answer = CliRunner().invoke(cli, ["report", str(folder), "--output", str(page)])
    assert answer.exit_code == 0, answer.output
    text = page.read_text()
    for label in ("Rhealstones per second", "semaphore shuffle", "mean of the six"):
        assert label in text
