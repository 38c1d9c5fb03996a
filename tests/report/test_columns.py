# SPDX-License-Identifier: Apache-2.0
"""A benchmark of one's own may call a parameter as a column is called: neither hides the other."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.config.params import Params
from tests.synthetic import STM32F4, Point, manifest, write_run

# "n", "max", "unit" are figures of a summary; the others are columns of samples.
NAMES = ("n", "max", "unit", "run", "target", "lane", "index", "cold", "value_ticks", "depth")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    params: Params = dict.fromkeys(NAMES, 77)
    samples = np.arange(20, 29, dtype=np.uint32)
    return write_run(tmp_path, manifest(STM32F4), [Point("my/own", {"all": samples}, params)])


def exported(run: Path, file: Path, *options: str) -> Path:
    answer = CliRunner().invoke(cli, ["export", str(run), "--output", str(file), *options])
    assert answer.exit_code == 0, answer.output
    return file


def test_samples_keep_their_columns(run: Path, tmp_path: Path) -> None:
    with exported(run, tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["value_ticks"] for row in rows] == [str(20 + at) for at in range(9)]
    assert [row["index"] for row in rows] == [str(at) for at in range(9)]
    assert {row["lane"] for row in rows} == {"all"} and {row["depth"] for row in rows} == {"77"}
    for name in ("run", "target", "lane", "index", "cold", "value_ticks"):
        assert {row[f"param_{name}"] for row in rows} == {"77"}
    table = pq.read_table(exported(run, tmp_path / "a.parquet"))
    assert table.column_names == list(rows[0])
    assert table["value_ticks"].to_pylist() == list(range(20, 29))


def test_a_summary_keeps_its_figures(run: Path, tmp_path: Path) -> None:
    with exported(run, tmp_path / "a.csv", "--summary").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["n"], row["max"], row["unit"]) == ("9", "28.0", "instructions")
    assert {row[f"param_{name}"] for name in ("n", "max", "unit", "run", "target")} == {"77"}
    assert row["depth"] == "77" and "param_depth" not in row
