# SPDX-License-Identifier: Apache-2.0
"""From run folders to results: which values become figures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.differences import differences
from kadenz.analysis.structures.batch import batch_of
from kadenz.analysis.units import unit_of
from kadenz.config.manifest import CallEntry
from kadenz.errors import StoreError
from kadenz.report.summary import run_summary
from kadenz.store import read_run
from kadenz.store.manifest_file import write_manifest
from tests.synthetic import (
    EMULATED_CLOCK,
    HIFIVE1,
    LINUX,
    LINUX_CLOCK,
    STM32F4,
    Point,
    board_points,
    instructions,
    linux_points,
    manifest,
    nanoseconds,
    write_run,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_an_instruction_is_never_a_time() -> None:
    for hz in (0, 1_000_000_000):  # even if the target reports a rate
        clock = msgspec.structs.replace(EMULATED_CLOCK, hz=hz)
        unit = unit_of("ticks", clock)
        assert (unit.label, unit.scale, unit.is_time) == ("instructions", 1.0, False)
        assert not unit_of("ns", clock).is_time


def test_ticks_of_a_running_clock_become_microseconds() -> None:
    unit = unit_of("ticks", LINUX_CLOCK)
    assert unit.figure(2500) == pytest.approx(2.5)
    slow = msgspec.structs.replace(LINUX_CLOCK, hz=80_000_000, clock_class="hardware")
    assert unit_of("ticks", slow).figure(80) == pytest.approx(1.0)


def test_a_custom_unit_is_kept() -> None:
    unit = unit_of("deg/s", LINUX_CLOCK)
    assert (unit.label, unit.key, unit.scale) == ("deg/s", "deg_per_s", 1.0)


def test_cold_executions_are_stored_but_not_averaged(tmp_path: Path) -> None:
    values = np.array([900, 800] + [100] * 50, dtype=np.uint32)
    point = Point("itc/queue", {"all": values}, cold=2)
    lane = analyse(read_run(write_run(tmp_path, manifest(HIFIVE1), [point]))).records[0].main
    assert lane is not None and lane.summary is not None
    assert lane.cold == (900.0, 800.0)
    assert (lane.summary.n, lane.summary.mean, lane.summary.max) == (50, 100.0, 100.0)


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (Point("a/b", status="n/a", reason="no such thing here"), "no such thing here"),
        (Point("a/b", status="invalid", reason="span too long"), "span too long"),
        (Point("a/b", status="failed"), "the target gave no reason for status failed"),
        (
            Point("a/b", failed_checks=2, proof_reason="payload differs"),
            "proof failed for 2 of 40 checks: payload differs",
        ),
    ],
)
def test_unproved_records_have_a_reason_and_no_figures(
    tmp_path: Path, point: Point, said: str
) -> None:
    point = dataclasses.replace(point, lanes={"all": np.full(40, 7, np.uint32)})
    result = analyse(read_run(write_run(tmp_path, manifest(HIFIVE1), [point])))
    record = result.records[0]
    assert not record.usable and record.main is None
    assert record.reason == said
    row = run_summary(result)["records"][0]
    assert "median" not in row and row["reason"] == said


def test_samples_that_are_unaccounted_for_invalidate_the_record(tmp_path: Path) -> None:
    folder = write_run(
        tmp_path, manifest(HIFIVE1), [Point("a/b", {"all": np.full(40, 7, np.uint32)})]
    )
    written = read_run(folder).manifest
    written.records[0].lanes[0].planned = 50
    write_manifest(folder, written, sync=False)
    record = analyse(read_run(folder)).records[0]
    assert (
        not record.usable
        and "50 planned, but 40 taken, 0 missed and 0 not measured" in record.reason
    )


def test_every_result_carries_unit_class_and_accounting(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path, manifest(HIFIVE1), board_points(rng(), 120)),
        write_run(tmp_path, manifest(LINUX), linux_points(rng(), 300)),
    ]
    kinds = ("instructions", "instruction"), ("us", "hosted")
    for folder, (unit, kind) in zip(runs, kinds, strict=True):
        for row in run_summary(analyse(read_run(folder)))["records"]:
            assert (row["unit"], row["clock_class"]) == (unit, kind)
            assert row["planned"] == row["taken"] + row["missed"]
            assert row["status"] == "n/a" or row["median"] > 0


def test_missing_percentiles_have_a_reason(tmp_path: Path) -> None:
    point = Point("a/b", {"all": instructions(100, 60, rng())})
    result = analyse(read_run(write_run(tmp_path, manifest(HIFIVE1), [point])))
    row = run_summary(result)["records"][0]
    assert row["p99.9"] is None and "1,000 needed" in row["gaps"]["p99.9"]


def test_a_sweep_finds_fixed_cost_and_cost_per_byte(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(HIFIVE1), board_points(rng(), 200))
    sweep = next(s for s in analyse(read_run(folder)).sweeps if s.bench == "itc/queue")
    assert sweep.sizes == tuple(range(60, 601, 60))
    assert sweep.fit is not None and sweep.fit.linear
    assert sweep.fit.fixed.value == pytest.approx(900, rel=0.01)
    assert sweep.fit.per_byte.value == pytest.approx(2.1, rel=0.01)


def test_sweeps_with_different_parameters_are_separate(tmp_path: Path) -> None:
    points = [
        Point(
            "itc/queue",
            {"all": instructions(100 + size, 50, rng())},
            {"size_bytes": size, "rank_a": rank},
        )
        for size in (4, 8, 16)
        for rank in (7, 8)
    ]
    result = analyse(read_run(write_run(tmp_path, manifest(HIFIVE1), points)))
    assert [s.params for s in result.sweeps] == [{"rank_a": 7}, {"rank_a": 8}]


def test_a_batch_gives_one_iteration_less_the_empty_loop() -> None:
    batch = np.array([7_000_000, 7_000_100, 7_000_050], dtype=np.uint32)
    empty = np.array([200_000, 200_000, 200_000], dtype=np.uint32)
    cost = batch_of(50_000, batch, empty)
    assert cost is not None
    assert cost.total == 6_800_050
    assert cost.per_iteration == pytest.approx(136.001)
    assert cost.low <= cost.per_iteration <= cost.high


def test_an_empty_loop_longer_than_a_batch_gives_a_negative_figure() -> None:
    cost = batch_of(10, np.array([5], np.uint32), np.array([6], np.uint32))
    assert cost is not None and cost.per_iteration == pytest.approx(-0.1)


def test_threads_of_all_cores_are_also_pooled(tmp_path: Path) -> None:
    lanes = {f"core{i}": nanoseconds(20_000 + 5_000 * i, 500, rng()) for i in range(3)}
    folder = write_run(tmp_path, manifest(LINUX), [Point("cyclic/wakeup-latency", lanes)])
    pooled = analyse(read_run(folder)).records[0].pooled
    together = np.concatenate(list(lanes.values()))
    assert pooled is not None
    assert pooled.summary.n == 1500
    assert pooled.summary.mean == pytest.approx(together.mean())
    assert pooled.summary.median == np.median(together)
    assert pooled.quantiles["p99"] == np.quantile(together, 0.99, method="inverted_cdf")


def test_an_interfering_tick_is_reported(tmp_path: Path) -> None:
    point = Point("a/b", {"all": instructions(500, 800, rng(), every=20)}, cold=3)
    lane = analyse(read_run(write_run(tmp_path, manifest(HIFIVE1), [point]))).records[0].main
    assert lane is not None and lane.periodic is not None
    assert lane.periodic.periodic and lane.periodic.every == pytest.approx(20, rel=1e-3)


def test_the_first_warning_of_a_partial_run_says_so(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, manifest(HIFIVE1), board_points(rng(), 60)))
    run.manifest.partial, run.manifest.partial_reason = True, "interrupted (Ctrl-C)"
    warning = analyse(run).warnings[0]
    assert warning.code == "partial-run" and "interrupted (Ctrl-C)" in warning.message
    assert "--resume" not in warning.remedy  # it does not say how it was called
    run.manifest.call = CallEntry(arguments=["itc/queue"], folder="/")
    assert "kadenz run --resume" in analyse(run).warnings[0].remedy


def test_a_clock_that_went_back_causes_a_warning(tmp_path: Path) -> None:
    clock = msgspec.structs.replace(LINUX_CLOCK, backward_steps=3)
    folder = write_run(tmp_path, manifest(LINUX, clock=clock), linux_points(rng(), 60))
    assert "clock-went-back" in {w.code for w in analyse(read_run(folder)).warnings}


def test_a_missing_sample_file_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(HIFIVE1), board_points(rng(), 60))
    file = sorted((folder / "samples").iterdir())[4]
    file.unlink()
    with pytest.raises(StoreError, match=file.name):
        analyse(read_run(folder))


def test_a_truncated_sample_file_is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(HIFIVE1), board_points(rng(), 60))
    file = sorted((folder / "samples").iterdir())[4]
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(StoreError, match=file.name):
        analyse(read_run(folder))


def test_a_run_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(HIFIVE1), [])
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text.replace('"schema_version": 2', '"schema_version": 99'))
    with pytest.raises(StoreError, match="newer kadenz"):
        read_run(folder)


def test_differences_show_every_setting_that_differs() -> None:
    left = manifest(HIFIVE1, settings={"tick_rate_hz": "1000", "asserts": "on"})
    right = manifest(STM32F4, settings={"tick_rate_hz": "1000", "fpu": "on"})
    values = {(d.group, d.key): d.values for d in differences([left, right])}
    assert values["setting", "asserts"] == ("on", "–")
    assert values["setting", "fpu"] == ("–", "on")
    assert ("setting", "tick_rate_hz") not in values
    assert differences([left, left]) == []


def test_only_flags_that_are_not_shared_are_shown() -> None:
    left, right = manifest(HIFIVE1), manifest(STM32F4)
    assert left.build is not None and right.build is not None
    left.build.flags, right.build.flags = "-O2 -Wall -march=rv32imac", "-O2 -mthumb -Wall"
    flags = next(d for d in differences([left, right]) if d.key == "flags")
    assert flags.values == ("-march=rv32imac", "-mthumb")
    assert flags.disagrees


def test_a_setting_of_only_one_run_is_not_a_disagreement() -> None:
    left = manifest(HIFIVE1, settings={"asserts": "on"})
    right = manifest(HIFIVE1, settings={"fpu": "on"})
    assert [d.disagrees for d in differences([left, right])] == [False, False]
