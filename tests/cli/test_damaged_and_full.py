# SPDX-License-Identifier: Apache-2.0
"""Damaged runs, full disks and closed pipes: an error with a remedy, or no error."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.forked import kadenz
from tests.synthetic import LINUX, linux_points, manifest, write_run

KADENZ = str(Path(sys.executable).with_name("kadenz"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs; tests that damage one work on a copy."""
    folder = tmp_path_factory.mktemp("runs")
    two_runs(folder)
    return folder


def two_runs(folder: Path) -> tuple[Path, Path]:
    return (
        write_run(folder, manifest(LINUX), linux_points(np.random.default_rng(1), 200)),
        write_run(folder, manifest(LINUX), linux_points(np.random.default_rng(2), 200)),
    )


def arguments_of(line: str) -> list[str]:
    """The arguments of a command line of `kadenz`."""
    return shlex.split(line)[1:]


def read_by(reader: str, line: str) -> subprocess.CompletedProcess[str]:
    """`kadenz` with its output in a pipe whose reader soon closes it."""
    with subprocess.Popen(
        shlex.split(reader), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        pipe = process.stdin
        assert pipe is not None
        answer = kadenz(*arguments_of(line), stdout=pipe)
        pipe.close()
    return answer


def flip_a_byte(run: Path) -> Path:
    """Flips one bit of one sample of a described record."""
    file = sorted((run / "samples").glob("*.npy"))[-1]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x10
    file.write_bytes(content)
    return file


def test_a_damaged_run_is_named_and_skipped_and_the_others_are_reported(tmp_path: Path) -> None:
    good, bad = two_runs(tmp_path / "runs")
    file = flip_a_byte(bad)
    page = tmp_path / "page.html"
    answer = kadenz("report", good, bad, "--output", page)
    assert answer.returncode == 1
    assert f"left out: {file}: damaged" in answer.stderr
    assert f"{page}: 1 run" in answer.stdout and page.stat().st_size > 10_000
    shown = kadenz("show", tmp_path / "runs", "--json")
    assert shown.returncode == 1 and str(file) in shown.stderr
    assert len(json.loads(shown.stdout)["runs"]) == 1


def test_only_damaged_runs_are_an_error_without_a_report(tmp_path: Path) -> None:
    for run in two_runs(tmp_path / "runs"):
        flip_a_byte(run)
    answer = kadenz("report", tmp_path / "runs", "--output", tmp_path / "page.html")
    assert answer.returncode == 1 and "damaged" in answer.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("command", ["show", "report", "compare", "gate", "export"])
def test_every_command_reports_a_changed_byte_and_its_file(tmp_path: Path, command: str) -> None:
    good, bad = two_runs(tmp_path / "runs")
    file = flip_a_byte(bad)
    more: dict[str, list[str | Path]] = {
        "report": ["--output", tmp_path / "page.html"],
        "gate": ["--against", good],
        "compare": [good],
    }
    answer = kadenz(command, bad, *more.get(command, []))
    assert answer.returncode == 1
    assert str(file) in answer.stderr and "Traceback" not in answer.stderr


def test_a_manifest_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    run, _ = two_runs(tmp_path)
    (run / "run.json").write_bytes((run / "run.json").read_bytes().replace(b'"id"', b'"\xff"'))
    for command in ("show", "report", "export", "compare", "gate"):
        answer = kadenz(command, run, *([run] if command == "compare" else []))
        assert answer.returncode in (1, 2), command
        assert "Traceback" not in answer.stderr and "error: " in answer.stderr
        if answer.returncode == 1:
            assert "damaged" in answer.stderr and "run.json" in answer.stderr


EVERYTHING = [
    "kadenz --help",
    "kadenz list",
    "kadenz list --json",
    "kadenz doctor --json",
    "kadenz show {run}",
    "kadenz show {run} --json",
    "kadenz show {run} --outliers",
    "kadenz compare {run} {other}",
    "kadenz compare {run} {other} --json",
    "kadenz gate {run} --limit '* max < 1 s' --json",
    "kadenz export {run}",
    "kadenz export {run} --format json",
    "kadenz export {run} --summary",
    "kadenz completion bash",
    "kadenz tune list",
    "kadenz jitter {edges} --period-us 1000 --json",
]


def in_place(line: str, runs: Path, folder: Path) -> str:
    run, other = sorted(runs.iterdir())
    edges = folder / "edges.npy"
    np.save(edges, np.arange(2000) * 1e6 + np.random.default_rng(3).normal(0, 900, 2000))
    return line.format(run=run, other=other, edges=edges)


@pytest.mark.parametrize("line", EVERYTHING)
def test_a_full_disk_behind_standard_output_is_reported(
    line: str, runs: Path, tmp_path: Path
) -> None:
    with Path("/dev/full").open("wb") as full:
        answer = kadenz(*arguments_of(in_place(line, runs, tmp_path)), stdout=full)
    assert answer.returncode == 1
    assert "standard output cannot be written: No space left on device" in answer.stderr
    assert "Traceback" not in answer.stderr and "Exception" not in answer.stderr


@pytest.mark.parametrize("line", EVERYTHING)
def test_a_reader_that_closes_the_pipe_is_not_a_failure(
    line: str, runs: Path, tmp_path: Path
) -> None:
    """The exit code is the usual one: that of `gate` is its verdict."""
    line = in_place(line, runs, tmp_path)
    whole = kadenz(*arguments_of(line))
    left = read_by("head -c 1", line)
    assert left.returncode == whole.returncode
    assert "Traceback" not in left.stderr and "Broken pipe" not in left.stderr
    gone = read_by("true", line)
    assert gone.returncode == whole.returncode and "Broken pipe" not in gone.stderr


def test_closed_streams_are_not_a_failure(runs: Path) -> None:
    line = f"{shlex.quote(KADENZ)} show {sorted(runs.iterdir())[0]} >&- 2>&-"
    assert subprocess.run(["bash", "-c", line], check=False).returncode == 0


OUTPUTS = [
    "kadenz report {run} --output {there}.html",
    "kadenz report {run} --output {there}",
    "kadenz report {run} --output {page} --figures {there}",
    "kadenz report {run} --output {page} --tables {there}",
    "kadenz export {run} --output {there}",
    "kadenz export {run} --format json --output {there}",
    "kadenz export {run} --format parquet --output {there}",
    "kadenz gate {run} --limit '* max < 1 s' --junit {there}",
    "kadenz gate {run} --limit '* max < 1 s' --summary {there}",
    "kadenz compare {run} {run} --html {there}",
]


@pytest.mark.parametrize("place", ["/dev/full", "/proc/there", "a file in the way", "a folder"])
@pytest.mark.parametrize("line", OUTPUTS)
def test_an_unwritable_output_is_reported(
    line: str, place: str, runs: Path, tmp_path: Path
) -> None:
    there = place
    if place == "/dev/full":
        there = str(tmp_path / "full")
        for name in ("full", "full.html"):
            (tmp_path / name).symlink_to("/dev/full")
    elif place == "a file in the way":
        (tmp_path / "file").write_text("")
        there = str(tmp_path / "file" / "below")
    elif place == "a folder":
        for name in ("folder", "folder.html", "folder/report.html"):
            (tmp_path / name).mkdir()
        there = str(tmp_path / "folder")
        if "--figures" in line or "--tables" in line:
            there = "/dev/null"
    run = sorted(runs.iterdir())[0]
    answer = kadenz(*arguments_of(line.format(run=run, there=there, page=tmp_path / "page.html")))
    assert answer.returncode in (1, 2), answer.stdout
    assert "Traceback" not in answer.stderr
    assert "rror: " in answer.stderr


def test_a_folder_without_rights_is_reported(runs: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    run, _ = two_runs(tmp_path / "runs")
    (run / "samples").chmod(0)
    answer = kadenz("show", run)
    assert answer.returncode == 1 and "Permission denied" in answer.stderr
    assert "Traceback" not in answer.stderr
