# SPDX-License-Identifier: Apache-2.0
"""Deadlines and misses in the user interface: tables, JSON, exit codes."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.cli.run_summary import write_tables
from kadenz.errors import UsageError
from tests.analysis.test_deadlines import cyclic
from tests.synthetic import HIFIVE1, LINUX, manifest, write_run

LATE = tuple(range(7, 2000, 40))  # 50 of 2,000, 300 µs each


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stopped = replace(
        cyclic(1102), not_measured=2898, reason="stopped on request", params={"period_us": 500}
    )
    points = [cyclic(late=LATE, missed=(3,)), stopped]
    return write_run(tmp_path_factory.mktemp("misses"), manifest(LINUX), points)


def call(*arguments: str | Path) -> tuple[str, int]:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout, int(result.return_value or 0)


def test_show_answers_whether_the_deadline_is_kept(run: Path) -> None:
    text = " ".join(call("show", run, "--deadline", "100us")[0].split())
    assert "51 of 2,000 missed 100 µs (command line), 2.55 % [1.9, 3.35]" in text
    assert "1 did not happen, 50 ended late" in text
    assert "1,102 of 4,000 measured" in text


def test_show_as_json_and_the_export_hold_the_misses(run: Path, tmp_path: Path) -> None:
    row = json.loads(call("show", run, "--deadline", "100us", "--json")[0])["runs"][0]["records"][0]
    assert (row["misses"], row["late"], row["cycles"], row["not_measured"]) == (51, 50, 2000, 0)
    assert row["deadline"] == "100 µs" and row["deadline_origin"] == "command line"
    assert row["misses_low"] < 0.0255 == row["misses_share"] < row["misses_high"]
    call("export", run, "--summary", "--format", "csv", "--output", tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    assert [row["misses"] for row in rows] == ["1", "0"]
    assert [row["deadline_origin"] for row in rows] == ["period", "period"]
    assert rows[1]["not_measured"] == "2898"


def test_the_closing_table_shows_the_evidence_for_ok(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns in ("80", "240"):
        monkeypatch.setenv("COLUMNS", columns)
        write_tables([run])
        text = " ".join(capsys.readouterr().out.split())
        assert "1 of 2,000 missed 1,000 µs (period)" in text, columns
        assert "stopped on request; 1,102 of 4,000 measured" in text, columns


@pytest.mark.parametrize(
    ("limit", "code"),
    [("misses < 10%", 4), ("misses = 0", 3), ("max < 100us", 3), ("max < 1s", 4)],
)
def test_gate_exits_with_the_code_of_the_known_results(run: Path, limit: str, code: int) -> None:
    answer = call("gate", run, "--deadline", "100us", "--limit", f"cyclic/* {limit}")
    assert answer[1] == code, answer[0]
    assert "of 803 µs" not in answer[0]


def test_the_report_shows_misses_of_the_requested_deadline(run: Path, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    file = tmp_path / "a.html"
    call("report", run, "--output", file, "--tables", tables, "--deadline", "100us")
    text = (tables / "tables.md").read_text()
    assert "| 51 of 2,000, 2.55 % [1.9, 3.35] | 100 µs (command line) |" in text


def test_a_time_against_instructions_is_a_usage_error(tmp_path: Path) -> None:
    board = write_run(tmp_path, manifest(HIFIVE1), [cyclic()])
    for command in (("show",), ("gate", "--limit", "cyclic/* misses = 0")):
        with pytest.raises(UsageError, match="100 µs cannot be compared with them"):
            call(command[0], board, *command[1:], "--deadline", "100us")
