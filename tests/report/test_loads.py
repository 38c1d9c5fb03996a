# SPDX-License-Identifier: Apache-2.0
"""Every figure names its load, and a load counts as a difference between runs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.differences import differences
from kadenz.analysis.results import RunResult
from kadenz.config.manifest import LoadEntry
from kadenz.report import labels, loads, tables
from kadenz.report.export import to_csv
from kadenz.report.summary import run_summary
from kadenz.report.table import Cell
from kadenz.report.views import loads as load_view
from kadenz.report.views import manifests
from kadenz.store import Run, read_run
from tests.synthetic import (
    LINUX,
    Point,
    manifest,
    nanoseconds,
    under,
    write_run,
)

DISK = LoadEntry(
    name="disk",
    title="files",
    workers=2,
    command=["stress-ng", "--hdd", "2"],
    cpus=[0, 1],
    settings={"size": "128 MiB a worker"},
    counter="/proc/diskstats",
    unit="MB/s written",
    idle_rate=0.5,
    rate=141.0,
    rate_before=150.0,
    least=1.0,
    record_rates={10: 120.0, 11: 140.0},
    cpu_percent=7.0,
    verified=True,
)


@pytest.fixture
def runs(tmp_path: Path) -> list[RunResult]:
    """The same measurement without load, under a load, and under a weaker load."""
    weak = msgspec.structs.replace(DISK, verified=False, reason="too little", workers=1, rate=0.1)
    results = []
    for number, entries in enumerate(([], [DISK], [weak])):
        values = nanoseconds(5000.0, 300, np.random.default_rng(number))
        point = Point("itc/pipe", {"all": values}, {"size_bytes": 4})
        run = read_run(write_run(tmp_path / str(number), manifest(LINUX), [point]))
        run.manifest.conditions = under(load="disk" if entries else "none")
        run.manifest.loads = list(entries)
        results.append(analyse(run))
    return results


def test_labels_distinguish_runs_by_their_load(runs: list[RunResult]) -> None:
    none, disk = labels.run_labels(runs[:2])
    assert none.endswith("(load none)") and disk.endswith("(load disk)")
    bench = runs[0].records[-1].bench
    rows = tables.results(bench, list(zip([none, disk], runs[:2], strict=True))).rows
    assert {row[0].text for row in rows} == {none, disk}
    assert "load" not in labels.run_labels(runs[:1])[0]


def test_labels_distinguish_runs_by_kernel_and_tuning(runs: list[RunResult]) -> None:
    loaded, other = runs[0], runs[1]
    load = loaded.manifest.condition_values["load"]
    other.manifest.conditions = under(load=load, tuning="cereia2011-case2")
    plain, tuned = labels.run_labels([loaded, other])
    assert plain.endswith("(tuning none)") and tuned.endswith("(tuning cereia2011-case2)")
    other.manifest.target.kernel_version = "6.1.0"
    assert labels.run_labels([loaded, other])[1].endswith("(6.1.0)")


def test_the_report_shows_the_work_of_each_load(runs: list[RunResult]) -> None:
    assert load_view.load_table([("a", runs[0])]) is None
    table = load_view.load_table([("a", runs[0]), ("b", runs[1]), ("c", runs[2])])
    assert table is not None
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [row["Run"].text for row in rows] == ["b", "c"]
    figures = ("Idle machine", "Before", "While measuring", "Least in a record")
    assert [rows[0][name].raw for name in figures] == [0.5, 150.0, 141.0, 120.0]
    assert [row["Verified"].text for row in rows] == ["yes", "no: too little"]
    assert any("141 MB/s written (idle 0.5)" in cell.text for cell in _cells(runs[1]))


def _cells(run: RunResult) -> list[Cell]:
    return [cell for row in manifests.manifest_table("x", run).rows for cell in row]


def test_a_line_names_the_load_of_a_run(runs: list[RunResult]) -> None:
    assert loads.line(runs[0].manifest) == "load none"
    assert loads.line(runs[1].manifest) == "load disk: 141 MB/s written (idle 0.5)"
    runs[1].manifest.conditions = under(load="all")
    assert loads.line(runs[1].manifest) == "load all: disk: 141 MB/s written (idle 0.5)"


def test_a_load_is_a_difference_between_runs(runs: list[RunResult]) -> None:
    values = {(d.group, d.key): d.values for d in differences([r.manifest for r in runs])}
    assert values["condition", "load"] == ("none", "disk", "disk")
    assert values["load", "disk workers"] == ("–", "2", "1")
    assert values["load", "disk verified"] == ("–", "yes", "no")


def test_json_contains_the_loads(runs: list[RunResult]) -> None:
    out = io.StringIO()
    to_csv([Run(runs[1].path, runs[1].manifest)], out, summary=True)
    assert {row["load"] for row in csv.DictReader(io.StringIO(out.getvalue()))} == {"disk"}
    summary = run_summary(runs[1])
    assert summary["conditions"]["load"] == "disk"
    assert summary["loads"][0] == {
        "name": "disk",
        "workers": 2,
        "unit": "MB/s written",
        "idle_rate": 0.5,
        "rate": 141.0,
        "verified": True,
    }
