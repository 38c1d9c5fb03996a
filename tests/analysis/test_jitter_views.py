# SPDX-License-Identifier: Apache-2.0
"""Jitter through the reading path: edge times and wake-ups of a run, and a user's files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse
from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.jitter_views import analyse_series, jitter_of_edges, tail_row
from kadenz.analysis.series_file import read_series
from kadenz.analysis.units import Unit
from kadenz.config.manifest import LaneEntry
from kadenz.errors import UsageError
from kadenz.report.jitter_words import limit_words, series_lines
from kadenz.report.summary import run_summary
from kadenz.store import read_run
from tests.synthetic import HIFIVE1, LINUX, Point, Samples, instructions, manifest, write_run

INDY7 = {**LINUX, "name": "posix/indy7@host", "board": "indy7", "title": "Six-axis cell"}
N = 20_000
NS = Unit("µs", "us", 1e-3, "hosted", is_time=True)


def edges(seed: int, n: int = N, ppm: float = 200.0) -> Samples:
    """ns: rate error, jitter of 600 ns, a flush of 160 µs every 2 s."""
    rng = np.random.default_rng(seed)
    number = np.arange(n)
    late = rng.normal(0.0, 600.0, n)
    late[1_000::2_000] += 160_000.0
    times = number * 1e6 * (1.0 + ppm * 1e-6) + late
    return np.asarray(times - times[0])


def edge_run(folder: Path, times: Samples, missed: int = 0) -> RunResult:
    point = Point(
        "ethercat/edge-jitter",
        {"rising": times},
        {"period_us": 1000, "n": times.size + missed},
        unit="ns",
        missed=missed,
    )
    return analyse(read_run(write_run(folder, manifest(INDY7), [point])))


def test_edge_times_are_described_by_their_jitter(tmp_path: Path) -> None:
    result = edge_run(tmp_path, edges(1))
    record = result.records[0]
    lane = record.main
    assert lane is not None and lane.jitter is not None and lane.summary is not None
    assert lane.jitter.rate_error_ppm.covers(200.0)
    # Nanoseconds; the median of times would be 10 s.
    assert abs(lane.summary.median) < 500.0
    assert 150e3 < lane.summary.max < 165e3
    assert any("the edge times after removal" in note for note in record.notes)
    (row,) = run_summary(result)["jitter"]
    (train,) = row["jitter"]["periodic"]
    assert train["every_s"] == pytest.approx(2.0, abs=1e-3)
    assert train["amplitude"] == pytest.approx(160.0, abs=1.0)
    assert (row["jitter"]["unit"], row["jitter"]["clock_class"]) == ("us", "hosted")
    assert msgspec.json.encode(row)


def test_lost_edges_leave_gaps(tmp_path: Path) -> None:
    keep = np.random.default_rng(2).random(N) > 0.03
    keep[0] = keep[-1] = True
    times = edges(2)[keep]
    lane = edge_run(tmp_path, times, missed=int(N - keep.sum())).records[0].main
    assert lane is not None and lane.jitter is not None
    assert lane.jitter.holes == N - keep.sum()
    assert lane.jitter.rate_error_ppm.value == pytest.approx(200.0, abs=0.5)
    assert lane.jitter.disturbances.periodic[0].every.covers(2_000.0)
    assert "come from the times" in lane.jitter.notes[0]


def test_cycles_skipped_by_a_program_that_keeps_counting_are_gaps() -> None:
    """It did not run for 40 periods, but numbers its edges without a gap."""
    times = edges(9)
    times[12_000:] += 40e6 * 1.0002
    edge_jitter, _ = jitter_of_edges(times, 1000.0, 1e-3, cycles=np.arange(N))
    assert (
        edge_jitter.holes == 40
        and "contradict the recorded cycle numbers at edge 12,000" in edge_jitter.notes[0]
    )
    assert edge_jitter.rate_error_ppm.covers(200.0)


def test_runs_of_edges_are_compared_by_their_jitter(tmp_path: Path) -> None:
    runs = []
    for number, more in enumerate((0.0, 3e3)):
        times = edges(number)
        times += np.where(np.arange(N) % 20 == 3, more, 0.0)
        entry = manifest(INDY7, id=f"2026112{number}-103000-posix-indy7")
        point = Point("ethercat/edge-jitter", {"rising": times}, {"period_us": 1000}, unit="ns")
        runs.append(read_run(write_run(tmp_path, entry, [point])))
    (p99,) = compare_sides(
        runs[:1], runs[1:], statistics=(0.99,), together=False, between_runs=0.001
    ).points
    # p99 of normal jitter is 1.4 us; with one edge in twenty late it is about 3.6 us.
    assert p99.figures[0] == pytest.approx(1.4, abs=0.2)
    assert p99.outcome == "worse"


def test_an_edge_later_than_the_next_cycle_is_not_a_gap() -> None:
    """As in cereia2011 with the standard kernel: 1434 us at a period of 1 ms."""
    times = edges(10)
    times[5_500] += 1.434e6
    times[5_501] = times[5_500] + 10e3
    edge_jitter, _ = jitter_of_edges(times, 1000.0, 1e-3)
    assert edge_jitter.holes == 0
    assert edge_jitter.summary.max == pytest.approx(1.434e6, rel=0.01)


def latencies(seed: int) -> tuple[Samples, Samples]:
    """Latencies in ns, 30 µs longer every 500 cycles, and the cycles that were not missed."""
    rng = np.random.default_rng(seed)
    late = 4_000.0 + rng.gamma(3.0, 800.0, N)
    late[99::500] += 30_000.0
    kept = np.flatnonzero(rng.random(N) > 0.05)
    return late[kept].astype(np.uint32), kept


def test_a_wake_up_is_at_its_due_time_plus_latency(tmp_path: Path) -> None:
    late, kept = latencies(3)
    point = Point(
        "cyclic/wakeup-latency",
        {"core0": late, "core0:cycle": kept.astype(np.uint32)},
        {"period_us": 1000},
        missed=N - kept.size,
    )
    folder = write_run(tmp_path, manifest(LINUX), [point])
    run = read_run(folder)
    lanes = run.manifest.records[0].lanes
    assert isinstance(lanes[1], LaneEntry)
    lanes[1].companion_of = "core0"
    lane = analyse(run).records[0].main
    assert lane is not None and lane.jitter is not None
    assert lane.jitter.disturbances.periodic[0].every.covers(500.0)
    assert lane.jitter.holes == int(kept[-1] - kept[0]) + 1 - kept.size
    assert abs(lane.jitter.rate_error_ppm.value) < 0.1
    # The figures of the record still describe the latency.
    assert lane.summary is not None and lane.summary.min > 3_000.0


def test_jitter_is_against_the_period_that_the_kernel_gave(tmp_path: Path) -> None:
    """10 ms asked at 1024 Hz."""
    late, _ = latencies(3)
    point = Point("cyclic/wakeup-latency", {"core0": late}, {"period_us": 10_000})
    run = read_run(write_run(tmp_path, manifest(LINUX), [point]))
    run.manifest.records[0].lanes[0].period_us = 9765.625
    lane = analyse(run).records[0].main
    assert lane is not None and lane.jitter is not None
    assert lane.jitter.period_us == 9765.625


def test_a_note_reports_closed_up_gaps_of_unrecorded_missed_cycles(tmp_path: Path) -> None:
    late, kept = latencies(4)
    point = Point(
        "cyclic/wakeup-latency", {"core0": late}, {"period_us": 1000}, missed=N - kept.size
    )
    lane = analyse(read_run(write_run(tmp_path, manifest(LINUX), [point]))).records[0].main
    assert lane is not None and lane.jitter is not None
    assert "closed up" in lane.jitter.notes[0]


def test_instructions_have_no_jitter_in_time_with_a_reason(tmp_path: Path) -> None:
    values = instructions(900, 3_000, np.random.default_rng(5))
    point = Point("cyclic/wakeup-latency", {"core0": values}, {"period_us": 1000})
    result = analyse(read_run(write_run(tmp_path, manifest(HIFIVE1), [point])))
    lane = result.records[0].main
    assert lane is not None and lane.jitter is None
    assert "counts instructions" in lane.gaps["jitter"]


def test_edges_of_another_period_are_refused(tmp_path: Path) -> None:
    record = edge_run(tmp_path, edges(6) * 3.0).records[0]
    assert record.main is None
    assert "not the period" in record.lanes[0].gaps["jitter"]


def test_long_records_have_a_tail(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    values = (1_000.0 + rng.exponential(300.0, 30_000)).astype(np.uint32)
    point = Point("itc/mutex", {"all": values}, {"period_us": 1000})
    short = dataclasses.replace(point, bench="itc/pipe", lanes={"all": values[:3_000]})
    result = analyse(read_run(write_run(tmp_path, manifest(LINUX), [point, short])))
    lane = result.records[0].main
    assert lane is not None and lane.tail is not None and not lane.tail.refusal
    (row,) = run_summary(result)["jitter"]
    truth = 1.0 + 0.3 * np.log(300_000.0)
    level = row["tail"]["levels"][1]
    assert level["low"] < truth < level["high"]


# ---- a user's own series -----------------------------------------------------------------------


def test_a_limit_for_latencies_applies_to_the_latency_not_its_jitter() -> None:
    """20 + Exp(2) µs: of 20000 latencies 20000 exp(-5) = 135 exceed 30 µs, but no jitter does."""
    late = 20.0 + np.random.default_rng(11).exponential(2.0, N)
    analysis = analyse_series(late, "latencies", 1000.0, 1.0, limit=30.0)
    assert analysis.quantity == "latency" and analysis.limit is not None
    assert analysis.limit.above == int((late > 30.0).sum()) > 50
    sentence = limit_words(analysis, "us")
    assert f"{analysis.limit.above} of 20,000 latencies" in sentence and "above 30 us" in sentence


def test_the_tail_of_latencies_is_that_of_the_record(tmp_path: Path) -> None:
    late = np.random.default_rng(12).gamma(3.0, 800.0, N).astype(np.uint32) + np.uint32(20_000)
    point = Point("cyclic/wakeup-latency", {"core0": late}, {"period_us": 1000})
    lane = analyse(read_run(write_run(tmp_path, manifest(LINUX), [point]))).records[0].main
    analysis = analyse_series(late, "latencies", 1000.0, 1e-3)
    assert lane is not None and lane.tail is not None and analysis.tail is not None
    assert tail_row(analysis.tail, NS) == tail_row(lane.tail, NS)
    assert analysis.tail.peaks.min() > 20_000
    assert any("tail        of the latency" in line for line in series_lines(analysis, NS, "ns"))


def test_a_limit_for_edges_applies_to_their_jitter() -> None:
    analysis = analyse_series(edges(13), "edges", 1000.0, 1e-3, limit=100_000.0)
    assert analysis.quantity == "jitter" and analysis.limit is not None
    assert analysis.limit.above == 10  # a flush of 160 µs every 2 s
    assert "jitter values" in limit_words(analysis, "ns")


@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize(("tick", "refused"), [(2_000, True), (1_000, True), (100, False)])
@pytest.mark.parametrize("series", ["latencies", "edges"])
def test_a_clock_too_coarse_for_the_tail_is_refused(
    series: Literal["latencies", "edges"], tick: int, refused: bool, kind: type
) -> None:
    """Exp(1000 ns): a step of half of that prevents a fit; edges 20 ppm off hide the step."""
    late = np.random.default_rng(3).exponential(1_000.0, N)
    due = np.arange(N) * 1e6 * (1.0 + 20e-6) if series == "edges" else 0.0
    values: Samples = (np.round((due + late) / tick) * tick).astype(kind)
    analysis = analyse_series(values, series, 1000.0, 1e-3)
    assert analysis.tail is not None and analysis.tail.tick == tick
    assert ("clock's step" in analysis.tail.refusal) == refused
    assert bool(analysis.tail.levels) != refused


def test_the_step_of_edges_is_also_known_in_a_run(tmp_path: Path) -> None:
    late = np.random.default_rng(3).exponential(1_000.0, N)
    times = np.round((np.arange(N) * 1e6 * (1.0 + 20e-6) + late) / 1e3) * 1e3
    lane = edge_run(tmp_path, times).records[0].main
    assert lane is not None and lane.tail is not None
    assert "clock's step" in lane.tail.refusal


# ---- files -------------------------------------------------------------------------------------


def test_columns_are_found_by_name_and_number(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("# made by hand\ncycle; late\n0; 5.5\n2; 6\n\n3; 7 # the last\n")
    series = read_series(file, column="late", cycles="cycle")
    assert series.values.tolist() == [5.5, 6.0, 7.0] and series.cycles is not None
    assert series.cycles.tolist() == [0, 2, 3]
    assert read_series(file, column="1").values.tolist() == [5.5, 6.0, 7.0]
    (tmp_path / "one.txt").write_text("1767225600000000001\n1767225600001000000\n")
    assert read_series(tmp_path / "one.txt").values.tolist() == [
        1767225600000000001,
        1767225600001000000,
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "", "empty"),
        ("a.csv", "1,2\n3\n", "line 2: 1 columns"),
        ("a.csv", "t\n1\nx\n", "value 1 .* not a finite"),
        ("a.npy", "no array", "not a .npy file"),
    ],
)
def test_a_bad_file_is_named_with_its_place(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=said):
        read_series(tmp_path / name)


def test_missing_files_and_columns_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    np.save(tmp_path / "two.npy", np.array([[1.0, 5.0], [1.0, 6.0]]))
    for path, said in (
        (tmp_path / "none.npy", "no such file"),
        (tmp_path, "a folder"),
        (tmp_path / "cube.npy", "3 dimensions"),
        (tmp_path / "words.npy", "not numbers"),
    ):
        with pytest.raises(UsageError, match=said):
            read_series(path)
    with pytest.raises(UsageError, match="ascending"):
        read_series(tmp_path / "two.npy", column="1", cycles="0")
    with pytest.raises(UsageError, match="no column 7") as error:
        read_series(tmp_path / "two.npy", column="7")
    assert "0 to 1" in error.value.remedy


def test_edges_too_few_for_a_jitter_happened(tmp_path: Path) -> None:
    """Else the missed ones would be all of them."""
    result = edge_run(tmp_path, edges(1, n=900), missed=10)
    misses = result.records[0].misses
    assert misses is not None and misses.late is None
    assert (misses.missed, misses.asked) == (10, 910)
