# SPDX-License-Identifier: Apache-2.0
"""Names of runs on the command line, and what `--dry-run` says before a measurement."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.errors import UsageError
from tests.forked import kadenz

TARGET = ("--target", "freertos/stm32f4@emulated", "--quick")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, standalone_mode=False)


def test_runs_are_named_listed_and_taken_by_name(here: Path) -> None:
    for name in ("before", "after"):
        answer = kadenz("run", "clock/read-cost", *TARGET, "--name", name)
        assert answer.returncode == 0, answer.stderr
    rows = json.loads(kadenz("runs", "--json").stdout)
    assert [(row["name"], row["state"]) for row in rows] == [
        ("before", "complete"),
        ("after", "complete"),
    ]
    assert "freertos/stm32f4@emulated" in kadenz("runs").stdout
    shown = json.loads(kadenz("show", "latest", "--json").stdout)
    assert [run["path"] for run in shown["runs"]] == [rows[1]["folder"]]
    assert kadenz("compare", "before", "after").returncode in (0, 4)
    assert kadenz("export", "before", "--summary").stdout.startswith("run,target,")
    assert kadenz("gate", "latest", "--against", "before").returncode in (0, 4)
    assert kadenz("report", "before", "latest").returncode == 0
    for name, says in (("before", "has this name"), ("latest", "not `latest`"), ("a/b", "letters")):
        refused = asked("run", "clock/read-cost", *TARGET, "--name", name)
        assert isinstance(refused.exception, UsageError) and says in refused.exception.message
    nobody = asked("show", "nobody")
    assert isinstance(nobody.exception, UsageError) and "kadenz runs" in nobody.exception.remedy
    assert len(list((here / "runs").iterdir())) == 2


def test_a_name_of_several_runs_exports_all_of_them(here: Path) -> None:
    kadenz("run", "clock/read-cost", *TARGET, "--kernel-source", "pinned", "--name", "two")
    first = next((here / "runs").iterdir())
    shutil.copytree(first, first.with_name("copy"))
    document = json.loads(kadenz("export", "two", "--summary", "--format", "json").stdout)
    assert len(document["runs"]) == 2


def test_an_empty_folder_says_so(here: Path) -> None:
    answer = kadenz("runs")
    assert answer.returncode == 0 and "no runs here" in answer.stderr
    refused = asked("runs", "nowhere")
    assert isinstance(refused.exception, UsageError) and refused.exception.exit_code == 2


def test_a_dry_run_measures_nothing_and_learns_from_earlier_runs(here: Path) -> None:
    command = ["run", "clock/read-cost", "itc/queue", *TARGET, "--dry-run"]

    def expected() -> dict[str, float | None]:
        answer = kadenz(*command, "--json")
        assert answer.returncode == 0, answer.stderr
        (run,) = json.loads(answer.stdout)
        return {point["bench"]: point["seconds"] for point in run["points"]}

    assert expected()["itc/queue"] is None
    assert "unknown" in kadenz(*command).stdout and not (here / "runs").exists()
    assert kadenz("run", "itc/queue", "--fresh", *TARGET).returncode == 0
    known = expected()
    assert known["itc/queue"] is not None and known["itc/queue"] >= 0
    assert known["clock/read-cost"] is not None
    twice = kadenz(*command, "--set", "samples=100", "--rounds", "2", "--json")
    (run,) = json.loads(twice.stdout)  # an emulated target repeats itself: one round
    longer = {point["bench"]: point["seconds"] for point in run["points"]}
    assert longer["itc/queue"] == pytest.approx(2 * known["itc/queue"])
    assert len(list((here / "runs").iterdir())) == 1


def test_a_period_of_this_linux_needs_no_earlier_run(here: Path) -> None:
    arguments = [
        "run",
        "cyclic/wakeup-latency",
        "--target",
        "posix/linux@host",
        "--dry-run",
        "--json",
    ]
    answer = kadenz(*arguments, "--set", "samples=2000", "--set", "period_us=1000")
    (run,) = json.loads(answer.stdout)
    (seconds,) = [p["seconds"] for p in run["points"] if p["bench"] == "cyclic/wakeup-latency"]
    assert seconds == pytest.approx(2.0)
