# SPDX-License-Identifier: Apache-2.0
"""The table of several systems as JSON: the same of show, run and the report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.cli.run_summary import write_json
from tests.docs.pages import ROOT
from tests.report.test_standings import kernels, loaded


def called(*arguments: object) -> Any:
    result = CliRunner().invoke(cli, [str(word) for word in arguments], standalone_mode=False)
    assert result.exception is None, result.output
    return result.stdout


def test_show_run_and_the_report_have_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = kernels(
        tmp_path / "runs",
        {"itc/queue": (100, 200), "itc/mutex": 7, "micro/a": 50},
        {"itc/queue": (150, 260), "itc/mutex": "no mutex", "micro/a": 51},
        {"itc/queue": (160, 270), "micro/a": 70},
    )
    shown = json.loads(called("show", tmp_path / "runs", "--json"))
    (group,) = shown["standings"]
    assert (group["unit"], group["clock_class"]) == ("instructions", "instruction")
    assert (group["counted_of"], group["decided_by"]) == ("armv7m", "order")
    assert [(system["letter"], system["name"], system["runs"]) for system in group["systems"]] == [
        (letter, f"kernel{n}/stm32f4@emulated", [f"run-0{n}"]) for n, letter in enumerate("ABC")
    ]
    rows = {row["bench"]: row for row in group["rows"]}
    assert rows["itc/queue"]["params"] == {"size_bytes": 4} and rows["itc/queue"]["points"] == 2
    assert [row["quickest"] for row in rows.values()] == ["A", None, None]
    assert rows["micro/a"]["near"] == ["A", "B"] and rows["micro/a"]["unlike"] is False
    mutex = {figure["system"]: figure for figure in rows["itc/mutex"]["figures"]}
    assert (mutex["A"]["median"], mutex["A"]["status"]) == (7.0, "ok")
    assert (mutex["B"]["median"], mutex["B"]["status"]) == (None, "n/a")
    assert mutex["B"]["reason"] == "no mutex" and mutex["C"]["status"] == "absent"
    assert group["without_figure"] == [
        {"system": "B", "benches": ["itc/mutex"], "status": "n/a", "reason": "no mutex"}
    ]
    assert [margin["systems"] for margin in shown["margins"]] == [["A", "B"], ["A", "C"]]
    assert [run["run"] for run in shown["runs"]] == [f"run-0{n}" for n in range(3)]
    write_json([run.path for run in runs], [])
    assert json.loads(capsys.readouterr().out) == shown | {"errors": []}
    called("report", tmp_path / "runs", "-o", tmp_path / "r.html", "--tables", tmp_path / "t")
    written = json.loads((tmp_path / "t" / "systems.json").read_text())
    assert written == {name: shown[name] for name in ("standings", "margins")}


def test_one_run_has_no_table_and_two_sides_of_a_change_have_margins_only(tmp_path: Path) -> None:
    (run,) = kernels(tmp_path / "one", {"micro/a": 3})
    alone = json.loads(called("show", run.path, "--json"))
    assert alone["standings"] == alone["margins"] == []
    loaded(tmp_path / "two", 4, {"none": 20_000.0, "disk": 90_000.0})
    two = json.loads(called("show", tmp_path / "two", "--json"))
    assert two["standings"] == [] and two["margins"][0]["largest"][0]["ahead"] == "A"


def test_times_are_decided_by_intervals(tmp_path: Path) -> None:
    loaded(tmp_path, 4, {"none": 20_000.0, "cpu": 90_000.0, "disk": 60_000.0})
    (group,) = json.loads(called("show", tmp_path, "--json"))["standings"]
    assert group["decided_by"] == "intervals" and group["rows"][0]["quickest"] == "A"
    assert [len(system["runs"]) for system in group["systems"]] == [4, 4, 4]


def test_nothing_measured_has_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    write_json([], [])
    assert json.loads(capsys.readouterr().out) == {
        "runs": [],
        "standings": [],
        "margins": [],
        "errors": [],
    }


def test_every_key_is_documented(tmp_path: Path) -> None:
    loaded(tmp_path, 4, {"none": 20_000.0, "cpu": 90_000.0, "disk": 60_000.0})
    absent = {"itc/mutex": "no mutex"}
    kernels(tmp_path / "a", {"itc/mutex": 5}, absent)
    page = (ROOT / "docs/reference/export.md").read_text()
    page = page[page.index("## Several systems") :]
    named = set(re.findall(r"`(\w+)`", page))
    shown = json.loads(called("show", tmp_path, tmp_path / "a", "--json"))
    del shown["runs"]
    assert keys(shown) <= named


def keys(value: Any) -> set[str]:
    """Every key of a document, without those of parameters."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(keys(inner) for name, inner in value.items() if name != "params"))
