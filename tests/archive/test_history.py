# SPDX-License-Identifier: Apache-2.0
"""How figures moved over runs: steps, commits, reasons, and the baseline of a gate."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.archive.adding import add
from kadenz.archive.baseline import baseline_of
from kadenz.archive.history import histories
from kadenz.archive.place import Place, open_archive
from kadenz.cli import cli
from kadenz.report.site import key_of, write_site
from kadenz.store import read_run
from tests.synthetic import LINUX, STM32F4, Point, manifest, write_run

START = datetime(2026, 1, 1, tzinfo=UTC)


def filled(
    place: Place,
    folder: Path,
    values: list[float],
    target: dict[str, str],
    noise: float,
    compiler_from: int = 10**6,
) -> None:
    """One run a day; run i has the level values[i] and the commit c<i>."""
    rng = np.random.default_rng(5)
    for number, centre in enumerate(values):
        document = manifest(target, id=f"{target['board']}-{number:03d}")
        document.created = (START + timedelta(days=number)).isoformat()
        if number >= compiler_from and document.build:
            document.build.compiler_version = "13.1.0"
        level = centre * (1.0 + noise * rng.standard_normal())
        samples = np.maximum(rng.normal(level, level * noise, 400), 1).astype(np.uint32)
        points = [Point("itc/queue", {"all": samples}, {"size_bytes": 60}, cold=1)]
        run = read_run(write_run(folder, document, points))
        add(place, run, label="main", commit=f"c{number}")


def test_a_planted_step_of_three_percent_is_found_at_its_commit(tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    values = [20_000.0] * 25 + [20_600.0] * 15
    filled(place, tmp_path / "runs", values, LINUX, noise=0.005, compiler_from=25)
    (series,) = histories(place, ("itc/queue",))
    (step,) = series.steps
    assert step.change == pytest.approx(0.03, abs=0.006)
    earliest, latest = int(step.earliest.commit[1:]), int(step.latest.commit[1:])
    assert earliest < 25 <= latest
    assert latest - earliest <= 3
    assert any("compiler" in reason and "13.1.0" in reason for reason in step.reasons)


def test_every_difference_is_a_step_where_runs_repeat_to_the_byte(tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    filled(place, tmp_path / "runs", [900, 900, 901, 901], STM32F4, noise=0.0)
    (series,) = histories(place)
    assert [(s.earliest.commit, s.latest.commit, s.exact) for s in series.steps] == [
        ("c1", "c2", True)
    ]


def test_quick_and_full_runs_are_two_series_with_names_of_their_own(tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    for number, quick in enumerate((False, True, False)):
        document = manifest(STM32F4, id=f"run-{number}")
        document.campaign.quick = quick
        samples = np.full(50, 900 + number, np.uint32)
        run = write_run(tmp_path / "runs", document, [Point("itc/queue", {"all": samples})])
        add(place, read_run(run))
    full, quick_one = histories(place)
    assert [len(full.points), len(quick_one.points)] == [2, 1]
    assert key_of(full) != key_of(quick_one)
    assert write_site(place, tmp_path / "site", lambda done, total: None) == 2
    assert len(list((tmp_path / "site" / "data" / "series").iterdir())) == 2
    answer = CliRunner().invoke(cli, ["history", "--archive", place.text]).stdout
    headings = [line for line in answer.splitlines() if not line.startswith(" ")]
    assert headings == [
        "freertos/stm32f4@emulated itc/queue",
        "freertos/stm32f4@emulated itc/queue quick",
    ]


def test_the_link_of_a_series_of_full_runs_is_that_of_older_sites(tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    filled(place, tmp_path / "runs", [900], STM32F4, noise=0.0)
    assert [key_of(history) for history in histories(place)] == ["d703157f6489"]


def test_selectors_name_targets_or_benchmarks(tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    filled(place, tmp_path / "runs", [900] * 3, STM32F4, noise=0.0)
    filled(place, tmp_path / "runs", [900] * 2, LINUX, noise=0.01)
    assert len(histories(place, ("posix/*",))) == 1
    assert len(histories(place, ("itc/*",))) == 2
    assert histories(place, ("micro/*",)) == []
    assert histories(place, label="other") == []
    assert "steps are looked for from 6 on" in histories(place, ("posix/*",))[0].note


def test_a_gate_takes_the_newest_runs_of_a_label_as_its_baseline(tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    filled(place, tmp_path / "runs", [20_000] * 12, LINUX, noise=0.005)
    arguments = ["--against", "archive:main", "--archive", place.text]
    arguments += ["--max-worse", "5%", "--json"]

    def gate(centre: int) -> tuple[int, str]:
        rng = np.random.default_rng(centre)
        samples = rng.normal(centre, centre * 0.005, 400).astype(np.uint32)
        points = [Point("itc/queue", {"all": samples}, {"size_bytes": 60}, cold=1)]
        run = write_run(tmp_path / f"new-{centre}", manifest(LINUX, id="new"), points)
        answer = CliRunner().invoke(cli, ["gate", str(run), *arguments], standalone_mode=False)
        return answer.return_value, json.loads(answer.stdout)["outcome"]

    assert gate(20_050) == (0, "pass")
    assert gate(24_000) == (3, "fail")


def test_the_baseline_of_a_gate_begins_after_the_last_step_of_each_point(tmp_path: Path) -> None:
    """The queue became 20 % slower five runs ago; the mutex did not."""
    place = open_archive(str(tmp_path / "archive"), create=True)
    rng = np.random.default_rng(3)

    def run(number: int, queue: float, mutex: float) -> Path:
        document = manifest(LINUX, id=f"run-{number:02d}")
        document.created = (START + timedelta(days=number)).isoformat()
        points = []
        for bench, centre in (("itc/queue", queue), ("itc/mutex", mutex)):
            level = centre * (1 + 0.005 * rng.standard_normal())
            samples = rng.normal(level, 100, 400).astype(np.uint32)
            points.append(Point(bench, {"all": samples}, cold=1))
        return write_run(tmp_path / "runs", document, points)

    for number in range(15):
        add(place, read_run(run(number, 20_000 if number < 10 else 24_000, 20_000)), label="main")
    new = read_run(run(15, 26_400, 20_100))
    baseline = baseline_of(place, "main", new.manifest, 10)
    by_bench = {
        bench: sorted(id for id, records in baseline.runs.items() if number in records)
        for number, bench in enumerate(("itc/queue", "itc/mutex"))
    }
    assert by_bench["itc/mutex"] == [f"run-{number:02d}" for number in range(5, 15)]
    assert by_bench["itc/queue"] == [f"run-{number:02d}" for number in range(10, 15)]
    arguments = ["gate", str(new.path), "--against", "archive:main", "--archive", place.text]
    answer = CliRunner().invoke(cli, [*arguments, "--max-worse", "5%"], standalone_mode=False)
    assert answer.return_value == 3
    assert "itc/queue: the baseline begins with run-10, after a step of" in answer.output


def test_a_label_without_runs_is_no_baseline_yet(tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    filled(place, tmp_path / "runs", [900], STM32F4, noise=0.0)
    arguments = ["gate", str(tmp_path / "runs" / "stm32f4-000"), "--against", "archive:none"]
    answer = CliRunner().invoke(cli, [*arguments, "--archive", place.text], standalone_mode=False)
    assert answer.return_value == 4
    said = " ".join(answer.output.split())
    assert "with the label 'none'" in said and "archive add RUN --label none" in said
