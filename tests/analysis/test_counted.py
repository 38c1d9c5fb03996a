# SPDX-License-Identifier: Apache-2.0
"""Operations counted in windows: what one takes, and its place in tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.cli import cli
from kadenz.report.families import thread_metric
from kadenz.store import read_run
from tests.synthetic import LINUX, Point, manifest, write_run


def counted(bench: str, windows: list[int], operations: list[int]) -> Point:
    lanes = {
        "window": np.array(windows, np.uint32),
        "window:operations": np.array(operations, np.uint32),
    }
    return Point(bench, lanes, {"window_us": 1000})


def made(folder: Path) -> Path:
    sampled = np.array([900, 1000, 1100, 1000] * 50, np.uint32)
    points = [
        counted("thread-metric/cooperative", [1_000_000, 1_100_000], [1000, 1000]),
        Point("thread-metric/cooperative-sampled", {"all": sampled}),
        counted("thread-metric/basic", [1_000_000], [10]),
    ]
    return write_run(folder, manifest(LINUX), points)


def test_one_operation_takes_the_windows_over_the_count(tmp_path: Path) -> None:
    result = analyse(read_run(made(tmp_path)))
    found = result.records[0].counted
    assert found is not None
    assert (found.windows, found.operations, found.per_operation) == (2, 2000, 1050.0)
    assert (found.low, found.high) == (1000.0, 1100.0)
    assert result.records[1].counted is None


def test_the_rule_and_the_samples_stand_in_one_row(tmp_path: Path) -> None:
    table = thread_metric.table([("A", analyse(read_run(made(tmp_path))))])
    assert table is not None
    rows = {row[1].text: [cell.text for cell in row] for row in table.rows}
    assert set(rows) == {"cooperative", "basic"}
    assert rows["cooperative"][3] == "2,000"
    assert [float(text) for text in rows["cooperative"][4:6]] == [1.05, 1.0]
    assert rows["basic"][5] == "–"  # not sampled


def test_show_says_what_one_operation_takes(tmp_path: Path) -> None:
    folder = str(made(tmp_path))
    text = CliRunner().invoke(cli, ["show", folder]).output
    assert "2,000 operations, 1.050 each" in text
    assert "Thread-Metric" in text
    (run,) = json.loads(CliRunner().invoke(cli, ["show", "--json", folder]).output)
    row = next(row for row in run["records"] if row["bench"] == "thread-metric/cooperative")
    assert (row["operations"], row["per_operation"]) == (2000, 1.05)
