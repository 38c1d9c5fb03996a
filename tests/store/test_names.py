# SPDX-License-Identifier: Apache-2.0
"""Runs are found by name, by id and as the latest, and each state has its own word."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from kadenz.config.manifest import Status
from kadenz.store.layout import MANIFEST, RUNNING
from kadenz.store.names import named, runs_below
from kadenz.store.running import Running
from tests.synthetic import STM32F4, Point, manifest, write_run


def write(parent: Path, name: str, hour: int, status: Status = "ok") -> Path:
    document = manifest(STM32F4)
    document.name, document.created = name, f"2026-11-23T{hour:02}:00:00+00:00"
    point = Point("itc/queue", {"all": np.array([1, 2], "<u4")}, {"size_bytes": 4}, status)
    return write_run(parent, document, [point])


def test_latest_is_every_run_of_the_latest_call(tmp_path: Path) -> None:
    old = write(tmp_path, "old", 9)
    first, second = write(tmp_path, "new", 10), write(tmp_path / "20261123-rounds", "new", 11)
    assert named(tmp_path, "latest") == named(tmp_path, "new") == [first, second]
    assert named(tmp_path, "old") == named(tmp_path, old.name)[:1] == [old]
    assert named(tmp_path, "none") == named(tmp_path / "none", "latest") == []


def test_a_record_whose_proof_failed_is_counted_whatever_its_status_says(tmp_path: Path) -> None:
    """As `show` and every other reader judges it."""
    folder = write(tmp_path, "stranger", 9)
    document = json.loads((folder / MANIFEST).read_text())
    document["records"][0]["proof"] = {"checked": 2, "failed": 1, "reason": "another byte"}
    (folder / MANIFEST).write_text(json.dumps(document))
    (run,) = runs_below(tmp_path)
    assert run.state == "1 invalid of 1 records"


def test_a_run_from_before_names_is_called_by_its_id(tmp_path: Path) -> None:
    folder = write(tmp_path, "", 9)
    document = json.loads((folder / MANIFEST).read_text())
    del document["name"]
    for record in document["records"]:
        del record["duration_s"]
    (folder / MANIFEST).write_text(json.dumps(document))
    (run,) = runs_below(tmp_path)
    assert run.name == run.head.id == document["id"]
    assert named(tmp_path, "latest") == [folder]


def test_states(tmp_path: Path) -> None:
    good, bad = write(tmp_path, "a", 9), write(tmp_path, "b", 10, "failed")
    document = json.loads((good / MANIFEST).read_text())
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / MANIFEST).write_text("{")
    for number, name in enumerate(("c", "d.partial", "e.partial")):
        folder = tmp_path / name
        folder.mkdir()
        document |= {"partial": True, "partial_reason": "Ctrl-C", "name": name}
        document["created"] = f"2026-11-23T1{number + 1}:00:00+00:00"
        (folder / MANIFEST).write_text(json.dumps(document))
    lock = Running(tmp_path / "e.partial")
    try:
        states = [run.state for run in runs_below(tmp_path)]
    finally:
        lock.close()
    assert bad.exists() and (tmp_path / "e.partial" / RUNNING).exists()
    assert states == [
        "complete",
        "1 failed of 1 records",
        "partial: Ctrl-C",
        "interrupted",
        "running",
    ]
