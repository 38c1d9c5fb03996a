# SPDX-License-Identifier: Apache-2.0
"""Runs in Python: records by name, samples as numpy, names of runs."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kadenz
from kadenz.analysis import analyse
from kadenz.config.params import Params
from kadenz.errors import NothingThere, ToolMissing, UsageError
from kadenz.store import read_run
from tests.synthetic import LINUX, STM32F4, Point, Samples, manifest, write_run


def write(parent: Path, name: str, created: str, values: list[int]) -> Path:
    document = manifest(LINUX if name == "linux" else STM32F4)
    document.name, document.created = name, created
    points = [
        Point("itc/queue", {"all": np.array(values, "<u4")}, {"size_bytes": 4}),
        Point("itc/queue", {"all": np.array(values[:2], "<u4")}, {"size_bytes": 60}),
        Point("micro/pair", {"core0": np.array([7], "<u4"), "core1": np.array([8], "<u4")}, {}),
    ]
    return write_run(parent, document, points)


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


UNKNOWN: list[tuple[Callable[[kadenz.Run], object], str]] = [
    (lambda run: run["itc/queu"], "no benchmark `itc/queu`. Did you mean `itc/queue`?"),
    (lambda run: run.records("quue"), "no benchmark `quue`"),
    (lambda run: run.columns("clock"), "It has itc/queue, micro/pair"),
    (lambda run: run.figures("clock"), "no benchmark `clock`"),
    (
        lambda run: run.records("itc/queue", size=60),
        "no parameter of itc/queue `size`. Did you mean `size_bytes`?",
    ),
    (lambda run: run.records("micro/pair", size_bytes=4), "It has none"),
    (lambda run: run["itc/queue"][0].ticks("core7"), "no lane `core7`. It has all"),
    (lambda run: run["micro/pair"][0].in_unit(2), "no lane `2`. It has core0, core1"),
    (lambda run: run["itc/queue"][0].companion("cycle"), "no companion `cycle`. It has none"),
    (lambda run: run["itc/queue"][0].figure("p999"), "no figure `p999`"),
    (lambda run: run["itc/queue"][0].figure("p99"), "not enough samples: 3, 100 needed"),
]


@pytest.mark.parametrize(("ask", "message"), UNKNOWN)
def test_a_name_that_is_not_there_is_an_error_with_those_that_are(
    folder: Path, ask: Callable[[kadenz.Run], object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        ask(kadenz.Run("first"))
    assert isinstance(caught.value, KeyError)
    assert message in str(caught.value)


def test_values_that_no_point_has_are_no_error(folder: Path) -> None:
    assert kadenz.Run("first").records("itc/queue", size_bytes=61) == []


def test_completion_shows_what_there_is() -> None:
    assert dir(kadenz) == sorted(["Figure", "Record", "Run", "runs", "__version__"])
    assert all(getattr(kadenz, name).__doc__ for name in kadenz.__all__)


def test_a_hosted_clock_gives_microseconds(folder: Path) -> None:
    record = kadenz.Run("latest")["itc/queue"][0]
    assert record.unit == "µs" and list(record.in_unit()) == [1.0, 2.0, 3.0]


def test_latest_and_names_are_those_of_the_default_folder(folder: Path) -> None:
    (latest,) = kadenz.runs()
    assert latest.manifest.name == "linux"
    assert kadenz.Run(latest.path).path == latest.path
    for ask in (kadenz.runs, kadenz.Run):
        with pytest.raises(NothingThere, match="nobody: no run of this name in runs"):
            ask("nobody")
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
    assert list(columns["size_bytes"][:5]) == [4, 4, 4, 60, 60]
    assert np.isnan(columns["size_bytes"][5:]).all()
    assert run.columns("itc/queue")["size_bytes"].dtype == np.int64
    assert list(columns["lane"][-2:]) == ["core0", "core1"]
    assert set(columns["target"]) == {run.target}
    assert "size_bytes" not in run.columns("micro/pair")


def test_figures_are_those_of_the_tables(tmp_path: Path) -> None:
    """Value and interval of each statistic, of every lane; a record without figures has none."""
    samples = np.random.default_rng(1).integers(1000, 2000, 300).astype("<u4")
    path = write_run(
        tmp_path,
        manifest(LINUX),
        [
            Point("itc/queue", {"all": samples}, {"size_bytes": 4}),
            Point("micro/pair", {"core0": samples[:9], "core1": samples[9:20]}, {"kind": "a"}),
            Point("itc/pipe", {}, {}, status="n/a", reason="the kernel has no pipes"),
        ],
    )
    run = kadenz.Run(path)
    (record,) = run["itc/queue"]
    (lane,) = analyse(read_run(path)).find("itc/queue")[0].lanes
    p99 = lane.percentile("p99")
    assert p99 is not None and p99.value is not None and lane.summary is not None
    shown = record.figure("p99")
    assert shown.value == p99.value / 1000.0 and shown.unit == "µs"
    assert shown.confidence is None and shown.low is None  # 368 samples are needed for the ends
    median = record.figure("median")
    assert median.low is not None and median.high is not None
    assert median.low <= median.value <= median.high and median.confidence == 0.95
    assert str(median) == f"{median.value:g} [{median.low:g}, {median.high:g}] µs"
    assert record.figure("max").value == lane.summary.max / 1000.0
    columns = run.figures()
    assert set(columns["bench"]) == {"itc/queue", "micro/pair"}
    assert {len(column) for column in columns.values()} == {len(columns["value"])}
    at = [i for i, name in enumerate(columns["figure"]) if name == "median"]
    assert [columns["lane"][i] for i in at] == ["all", "core0", "core1"]
    assert columns["value"][at[0]] == median.value and columns["low"][at[0]] == median.low
    assert columns["value"].dtype == columns["low"].dtype == np.float64
    assert set(columns["clock_class"]) == {run.manifest.clock.clock_class}
    with pytest.raises(UsageError, match="gives no figures: the kernel has no pipes"):
        run["itc/pipe"][0].figures()


def test_a_batch_and_a_window_have_what_one_execution_takes(tmp_path: Path) -> None:
    def filled(**values: int) -> dict[str, Samples]:
        return {
            lane.replace("_", ":"): np.full(5, value, np.uint32) for lane, value in values.items()
        }

    batch, counts = filled(batch=5_100, empty=100), filled(window=900, window_operations=30)
    points = [
        Point("micro/batch", batch, {"iterations": 50}),
        Point("thread-metric/basic", counts),
        Point("micro/a", filled(all=7)),
    ]
    run = kadenz.Run(write_run(tmp_path, manifest(STM32F4), points))
    (batched,) = run["micro/batch"]
    assert batched.figure("per_execution").value == 100.0
    assert "per_execution" not in batched.figures("empty")
    (counted,) = run["thread-metric/basic"]
    assert counted.figure("per_execution").value == 30.0
    assert "per_execution" not in run["micro/a"][0].figures()


def test_a_parameter_with_the_name_of_a_column_hides_none(tmp_path: Path) -> None:
    """Of a benchmark of one's own: its values are below `param_NAME`."""
    params: Params = dict.fromkeys(("value", "low", "high", "index", "lane", "target"), 77)
    samples = np.full(5, 9, np.uint32)
    run = kadenz.Run(
        write_run(tmp_path, manifest(STM32F4), [Point("my/own", {"all": samples}, params)])
    )
    columns = run.columns("my/own")
    assert set(columns["value"]) == {9.0} and set(columns["param_value"]) == {77}
    assert list(columns["index"]) == [0, 1, 2, 3, 4] and set(columns["lane"]) == {"all"}
    assert set(columns["target"]) == {run.target} and set(columns["low"]) == {77}
    figures = run.figures("my/own")
    assert set(figures["param_low"]) == {77} and set(figures["param_value"]) == {77}
    assert np.isnan(figures["low"]).all() and 9.0 in set(figures["value"])
    assert set(figures["index"]) == {77}


def test_pandas_gets_the_columns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas is no dependency: a stand-in shows what it is given."""
    stand_in = types.ModuleType("pandas")
    stand_in.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    frame = kadenz.Run("first").to_pandas("itc/queue")
    assert list(frame["value"]) == [1, 2, 3, 1, 2]
    frame = kadenz.Run("first").to_pandas("itc/queue", figures=True)
    assert list(frame["figure"][:2]) == ["mean", "sd"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ToolMissing, match="pandas"):
        kadenz.Run("first").to_pandas()


def test_importing_kadenz_alone_imports_no_numpy() -> None:
    code = "import kadenz, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
