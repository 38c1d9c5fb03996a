# SPDX-License-Identifier: Apache-2.0
"""Runs in Python: records by name, samples as numpy, names of runs."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import kadenz
from kadenz.errors import ToolMissing, UsageError
from kadenz.store import read_run
from tests.synthetic import LINUX, STM32F4, Point, manifest, write_run


def write(parent: Path, name: str, created: str, values: list[int]) -> Path:
    made = manifest(LINUX if name == "linux" else STM32F4)
    made.name, made.created = name, created
    points = [
        Point("itc/queue", {"all": np.array(values, "<u4")}, {"size_bytes": 4}),
        Point("itc/queue", {"all": np.array(values[:2], "<u4")}, {"size_bytes": 60}),
        Point("micro/pair", {"core0": np.array([7], "<u4"), "core1": np.array([8], "<u4")}, {}),
    ]
    return write_run(parent, made, points)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "runs" / "a", "first", "2026-11-23T10:00:00+00:00", [1, 2, 3])
    write(tmp_path / "runs" / "b", "linux", "2026-11-23T11:00:00+00:00", [1000, 2000, 3000])
    return tmp_path


def test_records_by_name_and_parameters(folder: Path) -> None:
    run = kadenz.Run("first")
    assert run.benchmarks == list(run) == ["itc/queue", "micro/pair"]
    small, large = run["itc/queue"]
    assert run.records("itc/queue", size_bytes=60) == [large]
    assert small.params == {"size_bytes": 4} and small.status == "ok"
    cold = small.entry.cold
    assert small.unit == "instructions" and list(small.values) == [1.0, 2.0, 3.0][cold:]
    assert list(small.ticks()) == [1, 2, 3] and not small.ticks().flags.writeable
    assert list(run["micro/pair"][0].ticks("core1")) == [8]
    with pytest.raises(KeyError):
        run["itc/pipe"]
    with pytest.raises(UsageError, match="no lane"):
        small.ticks("core7")
    with pytest.raises(UsageError, match="no companion"):
        small.companion("cycle")


def test_a_hosted_clock_gives_microseconds(folder: Path) -> None:
    record = kadenz.Run("latest")["itc/queue"][0]
    assert record.unit == "µs" and list(record.in_unit()) == [1.0, 2.0, 3.0]


def test_latest_and_names_are_those_of_the_default_folder(folder: Path) -> None:
    (latest,) = kadenz.runs()
    assert latest.manifest.name == "linux"
    assert kadenz.Run(latest.path).path == latest.path
    assert kadenz.runs("nobody") == []
    with pytest.raises(UsageError, match="no such folder"):
        kadenz.Run("nobody")
    write(folder / "runs" / "c", "first", "2026-11-23T09:00:00+00:00", [1, 2])
    with pytest.raises(UsageError, match="the name of 2 runs"):
        kadenz.Run("first")
    assert len(kadenz.runs("first")) == 2


def test_columns_hold_every_sample_once(folder: Path) -> None:
    run = kadenz.Run("first")
    columns = run.columns()
    stored = read_run(run.path)
    assert sum(lane.taken for r in stored.manifest.records for lane in r.series) == 7
    assert {len(column) for column in columns.values()} == {7}
    assert list(columns["value"]) == [1, 2, 3, 1, 2, 7, 8]
    assert list(columns["size_bytes"]) == [4, 4, 4, 60, 60, None, None]
    assert list(columns["lane"][-2:]) == ["core0", "core1"]
    assert {len(column) for column in run.columns("itc/pipe").values()} == {0}


def test_pandas_gets_the_columns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas is no dependency: a stand-in shows what it is given."""
    stand_in = types.ModuleType("pandas")
    stand_in.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    frame = kadenz.Run("first").to_pandas("itc/queue")
    assert list(frame["value"]) == [1, 2, 3, 1, 2]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ToolMissing, match="pandas"):
        kadenz.Run("first").to_pandas()


def test_importing_kadenz_alone_imports_no_numpy() -> None:
    code = "import kadenz, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
