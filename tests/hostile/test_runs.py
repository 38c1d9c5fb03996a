# SPDX-License-Identifier: Apache-2.0
"""Reading a run writes nothing, leaves its folder by no link, and waits for nobody."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kadenz.store import read_run
from kadenz.store.layout import lane_file
from tests.forked import kadenz
from tests.synthetic import HIFIVE1, Point, manifest, write_run

BENCH = "itc/queue"
SAMPLES = lane_file(0, BENCH, "all")
READING = (
    ("show", "{run}"),
    ("report", "{run}", "--output", "{out}/page.html"),
    ("compare", "{run}", "{run}"),
    ("gate", "{run}", "--max", "p99=1s"),
    ("export", "{run}", "--output", "{out}/rows.csv"),
    ("archive", "add", "{run}", "--archive", "{out}/archive"),
    ("runs", "{parent}"),
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder, and beside its parent a victim."""
    values = np.full(200, 100, dtype="<u4")
    folder = write_run(
        tmp_path / "runs", manifest(HIFIVE1, id="r"), [Point(BENCH, {"all": values})]
    )
    (tmp_path / "victim").write_text("precious")
    return folder


def as_left_by_a_kill(folder: Path) -> Path:
    """The folder as if its lab had been killed while the record was measured."""
    text = json.loads((folder / "run.json").read_text())
    text["partial"], text["partial_reason"] = True, "the lab was killed while measuring"
    (record,) = text["records"]
    record["status"] = "failed"
    record["reason"] = "the run stopped before this record ended"
    for lane in record["lanes"]:
        lane["sha256"] = ""
    (folder / "run.json").write_text(json.dumps(text))
    return folder.rename(folder.with_name("r.partial"))


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below, with its time of change."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file): (file.lstat().st_mtime_ns, file.read_bytes()) for file in files}


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize("killed", [False, True], ids=["whole", "of a killed lab"])
def test_reading_writes_nothing_into_the_folder(
    arguments: tuple[str, ...], killed: bool, run: Path, tmp_path: Path
) -> None:
    run = as_left_by_a_kill(run) if killed else run
    before = content(run.parent)
    (tmp_path / "out").mkdir()
    names = {"run": str(run), "parent": str(run.parent), "out": str(tmp_path / "out")}
    answer = kadenz(*(word.format(**names) for word in arguments))
    assert "Traceback" not in answer.stderr
    assert content(run.parent) == before


def linked(run: Path, name: str, victim: Path) -> None:
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(victim)


def hard(run: Path, name: str, victim: Path) -> None:
    (run / name).unlink(missing_ok=True)
    os.link(victim, run / name)


def folder_linked(run: Path, name: str, victim: Path) -> None:
    """The folder of samples is a link, and a file in it has the victim's bytes."""
    away = victim.parent / "away"
    shutil.move(run / "samples", away)
    (run / "samples").symlink_to(away)
    (run / name).unlink(missing_ok=True)
    os.link(victim, run / name)


TRAPS: list[tuple[Callable[[Path, str, Path], None], str]] = [
    *[(linked, name) for name in (SAMPLES, "run.json.new", ".running", ".reserve")],
    *[(hard, name) for name in (SAMPLES, "run.json.new", ".reserve")],
    (folder_linked, SAMPLES),
]


@pytest.mark.parametrize(("trap", "name"), TRAPS, ids=lambda part: getattr(part, "__name__", part))
@pytest.mark.parametrize("arguments", [("show", "{}"), ("runs", "--mend", "{}/..")], ids=str)
def test_no_link_in_a_folder_is_written_through(
    trap: Callable[[Path, str, Path], None],
    name: str,
    arguments: tuple[str, ...],
    run: Path,
    tmp_path: Path,
) -> None:
    folder = as_left_by_a_kill(run)
    trap(folder, name, tmp_path / "victim")
    answer = kadenz(*(word.format(folder) for word in arguments))
    assert "Traceback" not in answer.stderr
    assert (tmp_path / "victim").read_text() == "precious"


@pytest.mark.parametrize("name", ["run.json", SAMPLES])
def test_what_a_link_leads_to_is_not_read(name: str, run: Path, tmp_path: Path) -> None:
    shutil.copyfile(run / name, tmp_path / "elsewhere")
    linked(run, name, tmp_path / "elsewhere")
    answer = kadenz("show", str(run))
    assert answer.returncode != 0 and "a link, which is not followed" in answer.stderr


@pytest.mark.parametrize("name", ["run.json", SAMPLES, ".running"])
def test_a_pipe_is_not_waited_for(name: str, run: Path) -> None:
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    answer = kadenz("show", str(run))
    assert answer.returncode == 0 if name == ".running" else "a pipe in the place" in answer.stderr
    assert kadenz("runs", str(run.parent)).returncode == 0


def test_mending_completes_what_a_killed_lab_left(run: Path) -> None:
    folder = as_left_by_a_kill(run)
    listed = kadenz("runs", str(run.parent))
    assert "interrupted" in listed.stdout and "kadenz runs --mend" in listed.stderr
    assert "kadenz runs --mend" in kadenz("show", str(folder)).stdout
    answer = kadenz("runs", "--mend", str(run.parent))
    assert answer.returncode == 0 and f"completed: {run}" in answer.stderr
    mended = read_run(run)
    assert mended.path == run and all(lane.sha256 for lane in mended.manifest.records[0].lanes)
    assert mended.samples(mended.manifest.records[0]).tolist() == [100] * 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_run_of_another_user_is_read_and_not_mended(run: Path) -> None:
    folder = as_left_by_a_kill(run)
    os.chown(folder, 65534, 65534)
    before = content(run.parent)
    assert kadenz("show", str(folder)).returncode == 0
    answer = kadenz("runs", "--mend", str(run.parent))
    assert answer.returncode == 1 and "belongs to another user" in answer.stderr
    assert content(run.parent) == before
