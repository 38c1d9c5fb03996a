# SPDX-License-Identifier: Apache-2.0
"""kioxia2019 in the report: readings and rates of the clock beside the published ones."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from kadenz.analysis import RunResult, analyse, published
from kadenz.config.manifest import ClockEntry, RateEntry
from kadenz.report.studies import kioxia2019_clock
from kadenz.report.table import Table
from kadenz.store import read_run
from tests.synthetic import EMULATED_CLOCK, HIFIVE1, Point, manifest, write_run

RATE = RateEntry(
    against="mtime (32768 Hz crystal)", hz=282e6, low=281e6, high=283e6, tolerance_ppm=100.0
)


def a_run(folder: Path, bench: str, clock: ClockEntry = EMULATED_CLOCK) -> RunResult:
    points = [Point(bench, {"all": np.array([96] * 20 + [120], np.uint32)})]
    return analyse(read_run(write_run(folder, manifest(HIFIVE1, clock=clock), points)))


def texts(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[cell.text for cell in row] for row in table.rows]


def test_the_output_of_perf0_stands_above_our_readings(tmp_path: Path) -> None:
    clock = msgspec.structs.replace(EMULATED_CLOCK, backward_steps=2)
    runs = [("here", a_run(tmp_path, "clock/read-cost", clock))]
    theirs, ours = texts(kioxia2019_clock.reading_table(published.load(), runs))
    assert theirs[3:9] == ["10,000", "0: 9,988, > 1000: 10, > INT_MAX: 2", "–", "–", "–", "5"]
    assert ours[3:9] == ["21", "–", "96", "96", "120", "2"]
    assert (theirs[-2:], ours[-2:]) == (["µs", "hardware"], ["instructions", "instruction"])


def test_calculated_rates_are_next_to_measured_ones(tmp_path: Path) -> None:
    clock = msgspec.structs.replace(
        EMULATED_CLOCK, clock_class="hardware", unit="cycle", hz=256_000_000, rate=RATE
    )
    runs = [("board", a_run(tmp_path, "itc/queue", clock))]
    rows = texts(kioxia2019_clock.rate_table(published.load(), runs))
    assert [row[2:5] for row in rows] == [
        ["default", "16", "–"],
        ["default", "84", "–"],
        ["DEFAULT_CLOCK", "256", "> 280"],
        ["R1-F41-Q3", "84", "–"],
        ["R1-F37-Q3", "–", "86"],
        ["mtime (32768 Hz crystal)", "256", "282 [281, 283]"],
    ]


def test_without_readings_or_a_measured_rate_there_is_no_table(tmp_path: Path) -> None:
    runs = [("here", a_run(tmp_path, "itc/queue"))]
    assert kioxia2019_clock.reading_table(published.load(), runs) is None
    assert kioxia2019_clock.rate_table(published.load(), runs) is None
