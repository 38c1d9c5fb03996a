# SPDX-License-Identifier: Apache-2.0
"""Companions of a lane are not samples: they enter no figure, and an export shows them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from kadenz.analysis import analyse
from kadenz.store import read_run
from tests.report.test_commands import answer
from tests.synthetic import LINUX, Point, manifest, nanoseconds, write_run

LANES = ("core0", "core1")


def measured(folder: Path, *, beside: bool, short: int = 0) -> Path:
    rng = np.random.default_rng(7)
    lanes = {name: nanoseconds(21_000, 900, rng) for name in LANES}
    if beside:
        for name in LANES:
            lanes[f"{name}:cycle"] = np.arange(900, dtype=np.uint32)
            lanes[f"{name}:cpu"] = np.full(900 - short, 3, np.uint32)
    points = [
        Point("cyclic/wakeup-latency", lanes, {"period_us": 1000, "cpu": 255}),
        Point("itc/mutex", {"all": nanoseconds(3000, 300, rng)}),
    ]
    return write_run(folder, manifest(LINUX), points)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same samples with companions and without."""
    home = tmp_path_factory.mktemp("runs")
    return measured(home / "with", beside=True), measured(home / "without", beside=False)


def test_figures_are_the_same_with_companions_and_without(folders: tuple[Path, Path]) -> None:
    shown = []
    for folder in folders:
        (run,) = json.loads(answer("show", "--json", folder))["runs"]
        shown.append(run["records"])
    assert [row["lane"] for row in shown[0]] == [*LANES, "all"]
    assert shown[0] == shown[1]


def test_totals_count_samples_only(folders: tuple[Path, Path]) -> None:
    cyclic = analyse(read_run(folders[0])).records[0]
    assert (cyclic.planned, cyclic.taken, len(cyclic.lanes)) == (1800, 1800, 2)
    assert cyclic.pooled is not None and cyclic.pooled.summary.n == 1800


def test_compare_compares_samples_only(folders: tuple[Path, Path]) -> None:
    told = json.loads(answer("compare", "--json", *folders))
    assert {point["lane"] for point in told["points"]} == {*LANES, ""}


def test_a_report_names_no_companion(folders: tuple[Path, Path], tmp_path: Path) -> None:
    answer("report", folders[0], "--output", tmp_path / "r.html")
    assert "core0:cycle" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_companion_with_lost_values_invalidates_its_record(tmp_path: Path) -> None:
    record = analyse(read_run(measured(tmp_path, beside=True, short=1))).records[0]
    assert not record.usable
    assert record.reason == "lane core0: 900 samples, but 899 values of cpu for them"


def test_csv_and_parquet_show_companions_next_to_their_samples(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    answer("export", folders[0], "--output", tmp_path / "s.csv")
    answer("export", folders[0], "--format", "parquet", "--output", tmp_path / "s.parquet")
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-2:] == ["sample_cycle", "sample_cpu"]
    assert [(r["sample_cycle"], r["sample_cpu"]) for r in rows[899:902]] == [
        ("899", "3"),
        ("0", "3"),
        ("1", "3"),
    ]
    assert (rows[-1]["sample_cycle"], rows[-1]["cpu"]) == ("", "")  # a mutex has no cycles
    assert rows[0]["cpu"] == "255"  # the parameter of that name
    table = pq.read_table(tmp_path / "s.parquet")
    assert table.column_names == list(rows[0]) and table.num_rows == len(rows) == 2100
    shown = ["" if v is None else str(v) for v in table.column("sample_cycle").to_pylist()]
    assert shown == [row["sample_cycle"] for row in rows]


def test_json_has_companions_inside_their_series(folders: tuple[Path, Path]) -> None:
    series = json.loads(answer("export", folders[0], "--format", "json"))["runs"][0]["series"]
    assert [entry["lane"] for entry in series] == [*LANES, "all"]
    assert series[1]["beside"]["cycle"] == list(range(900))
    assert "beside" not in series[2]
