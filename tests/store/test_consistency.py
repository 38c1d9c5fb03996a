# SPDX-License-Identifier: Apache-2.0
"""Nonsense in a run.json is an error with its place, whichever command reads the run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.config.manifest import EventEntry
from kadenz.errors import EXIT_FAILED, StoreError
from kadenz.store import RunWriter, read_run
from tests.store.manifests import manifest, record
from tests.synthetic import LINUX, Point, write_run
from tests.synthetic import manifest as linux_manifest

Change = Callable[[dict[str, Any]], Any]


def put(path: str, value: object) -> Change:
    """Sets what a path such as "records.0.cold" names."""

    def change(document: dict[str, Any]) -> None:
        *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
        inner: Any = document
        for key in parents:
            inner = inner[key]
        inner[last] = value

    return change


def swapped(document: dict[str, Any]) -> None:
    """Two lanes of one record with each other's samples."""
    lane, other = document["records"][0]["lanes"][:2]
    for key in ("file", "sha256"):
        lane[key], other[key] = other[key], lane[key]


LANE = "records.0.lanes.0."
OF_OTHERS = ["samples/00001-itc-queue.all.npy", "samples/00000-itc-queue.core1.npy"]
OUTSIDE = ["../other/samples/00000-itc-queue.core0.npy", "/etc/passwd", "run.json", "samples", "."]
RANGES: dict[str, Change] = {
    f"{path} = {value}": put(path, value)
    for path, value in [
        *((LANE + key, -1) for key in ("planned", "taken", "missed", "overrun", "not_measured")),
        *((LANE + "dtype", value) for value in ("", "<u3", "O", ">u4", "junk")),
        ("records.0.cold", -5),
        ("records.0.id", -1),
        ("records.0.drains", [-1]),
        ("records.0.duration_s", -0.5),
        ("records.0.proof.checked", -1),
        ("clock.instructions_per_count", -2.0),
        ("clock.instructions_per_count", 0.0),
        ("clock.hz", -1),
        ("clock.bits", 0),
        ("clock.backward_steps", -3),
        ("target.cores", 0),
        ("target.tick_hz", -1000),
        ("host.cpus", -1),
        ("duration_s", -1.0),
        ("round", -1),
    ]
}
PROOF = {"checked": 3, "failed": 9, "reason": ""}
CONDITION = {"kind": "load", "value": "disk"}
RATE = {"against": "", "hz": 9.0, "low": 4.0, "high": 6.0, "tolerance_ppm": 0.0}
MODEL = {"name": "", "title": "", "checked": "", "parameters": {"flash": [5, 3]}}
RELATIONS: dict[str, Change] = {
    "two records of one id": lambda document: document["records"][1].update(id=0),
    "two lanes of one name": put(LANE + "name", "core1"),
    "two conditions of one kind": lambda document: document["conditions"].extend(2 * [CONDITION]),
    "samples of each other": swapped,
    "samples without a file": put(LANE + "file", ""),
    "a companion of no lane": put("records.0.lanes.2.companion_of", "core7"),
    "a companion of another lane": put("records.0.lanes.2.companion_of", "core1"),
    "more overrun than taken": put(LANE + "overrun", 501),
    "more failed checks than checks": put("records.0.proof", PROOF),
    "drains not in order": put("records.0.drains", [9, 3]),
    "a resolution not in order": put("clock.resolution.min", 1e9),
    "a rate outside its interval": put("clock.rate", RATE),
    "a model from more to less": put("clock.model", MODEL),
    "an event with fewer numbers": put("events.0.least", []),
    "an event that ends before it begins": put("events.0.first_cycle", 99),
    "a time without a zone": put("created", "2026-11-21T12:00:00"),
    "a time that is none": put("created", "yesterday"),
    "an id that is a path": put("id", "../../elsewhere"),
    "no id": put("id", ""),
    "a planned record that is missing": lambda document: document["records"].pop(),
    "no record at all": put("records", []),
    **{f"a lane in {file}": put(LANE + "file", file) for file in OF_OTHERS + OUTSIDE},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = np.arange(100, 600, dtype=np.uint32)
    lanes: dict[str, Any] = {"core0": values, "core1": values + 1, "core0:cycle": values}
    points = [Point("itc/queue", lanes, {"size_bytes": n}, cold=3) for n in (4, 60, 200)]
    document = linux_manifest(LINUX)
    document.planned = [0, 1, 2]
    document.events = [
        EventEntry(
            kind="counter {}",
            reaction="",
            count=2,
            first_cycle=3,
            last_cycle=7,
            least=["1"],
            greatest=["2"],
        )
    ]
    return write_run(tmp_path, document, points)


def damage(folder: Path, change: Change) -> None:
    document = json.loads((folder / "run.json").read_text())
    change(document)
    (folder / "run.json").write_text(json.dumps(document))


def test_the_run_before_the_change_is_read(folder: Path) -> None:
    assert len(read_run(folder).manifest.records) == 3


@pytest.mark.parametrize("what", RANGES)
def test_a_value_out_of_its_range_is_named(what: str, folder: Path) -> None:
    damage(folder, RANGES[what])
    key = re.sub(r"\.(\d+)", r"[\1]", what.partition(" = ")[0])
    with pytest.raises(StoreError, match=r"run\.json: damaged: .*\$\." + re.escape(key)):
        read_run(folder)


@pytest.mark.parametrize("what", RELATIONS)
def test_a_contradiction_is_named_with_its_place(what: str, folder: Path) -> None:
    damage(folder, RELATIONS[what])
    with pytest.raises(StoreError, match=r"run\.json: damaged: \$\.") as refused:
        read_run(folder)
    assert "Copy the folder again" in refused.value.remedy


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["show", "--outliers"],
        ["compare", "{run}"],
        ["export"],
        ["export", "--summary"],
        ["gate", "--limit", "* max < 1 s"],
        ["archive", "add", "--archive", "{there}"],
        ["report", "-o", "{there}"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("what", ["records.0.cold = -5", "two records of one id"])
def test_every_command_refuses_it_without_a_traceback(
    what: str, arguments: list[str], folder: Path, tmp_path: Path
) -> None:
    damage(folder, (RANGES | RELATIONS)[what])
    places = {"run": str(folder), "there": str(tmp_path / "there")}
    call = [word.format(**places) for word in arguments] + [str(folder)]
    result = CliRunner().invoke(cli, call, standalone_mode=False)
    assert isinstance(result.exception, StoreError), result.output
    assert result.exception.exit_code == EXIT_FAILED
    assert str(folder / "run.json") in result.exception.message


def test_a_partial_run_may_lack_records(folder: Path) -> None:
    damage(folder, lambda document: document["records"].pop())
    damage(folder, put("partial", True))
    assert len(read_run(folder).manifest.records) == 2


def test_a_run_that_states_no_plan_is_read(folder: Path) -> None:
    """Runs from before, and imported captures."""
    damage(folder, lambda document: document["records"].pop())
    damage(folder, lambda document: document.pop("planned"))
    assert len(read_run(folder).manifest.records) == 2


def test_the_writer_calls_a_run_partial_that_lacks_planned_records(tmp_path: Path) -> None:
    document = manifest()
    document.planned = [10, 11]
    with RunWriter(tmp_path, document) as writer:
        writer.open_record(record(10))
        writer.close_record(10)
        folder = writer.finish()
    kept = read_run(folder).manifest
    assert (kept.partial, kept.partial_reason) == (True, "1 of 2 planned records are missing: 11")
