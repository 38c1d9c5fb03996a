# SPDX-License-Identifier: Apache-2.0
"""A new kind of record is one file: tables, the terminal, JSON and comparisons show it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import structures
from kadenz.analysis.structures import Samples
from kadenz.cli import cli
from tests.synthetic import STM32F4, Point, manifest, write_run

PLANTED = '''
from dataclasses import dataclass
from kadenz.analysis.structures import Compared, Structure

@dataclass(frozen=True)
class Burst(Structure):
    """Frames that each sample sends: how long one takes."""
    each: float
    one = property(lambda self: self.each)

    def row(self, unit):
        return {"per_frame": unit.figure(self.each)}

    def sentence(self, show, unit):
        return f"bursts: a frame takes {show(self.each)} {unit}"

    def status(self, show):
        return f"{show(self.each)} a frame"

    @classmethod
    def of(cls, run, entry):
        beside = entry.companions(entry.series[0]).get("frames")
        if beside is None:
            return None
        samples, frames = run.samples(entry, entry.series[0]), run.samples(entry, beside)
        return cls(float(samples.sum() / frames.sum()))

    @classmethod
    def compared(cls, entry, lane):
        if "frames" not in entry.companions(lane):
            return None
        frames = entry.companions(lane)["frames"]
        read = lambda run, scale: run.samples(entry, lane) / run.samples(entry, frames) * scale
        return Compared(f"{lane.name} per frame", read)
'''


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "structures"
    folder.mkdir()
    (folder / "burst.py").write_text(PLANTED)
    monkeypatch.setattr(structures, "__path__", [*structures.__path__, str(folder)])
    structures.kinds.cache_clear()
    yield
    structures.kinds.cache_clear()
    sys.modules.pop("kadenz.analysis.structures.burst", None)


def bursts(parent: Path, name: str, frames: int) -> str:
    lanes: dict[str, Samples] = {
        "all": np.full(20, 6000, np.uint32),
        "all:frames": np.full(20, frames, np.uint32),
    }
    document = manifest(STM32F4, id=name)
    return str(write_run(parent, document, [Point("my/uart", lanes)]))


def kadenz(*arguments: str) -> str:
    return CliRunner().invoke(cli, list(arguments)).stdout


@pytest.mark.usefixtures("planted")
def test_a_kind_of_record_is_one_file(tmp_path: Path) -> None:
    old, new = bursts(tmp_path, "old", 20), bursts(tmp_path, "new", 10)
    assert "300 a frame" in kadenz("show", old)
    (run,) = json.loads(kadenz("show", "--json", old))["runs"]
    assert run["records"][0]["per_frame"] == 300.0
    page = str(tmp_path / "report.html")
    kadenz("report", old, "-o", page)
    assert "bursts: a frame takes 300 instructions" in Path(page).read_text()
    points = json.loads(kadenz("compare", "--json", old, new))["points"]
    median = next(point for point in points if point["statistic"] == "median")
    assert (median["lane"], median["outcome"]) == ("", "worse")


def test_without_it_the_samples_are_compared(tmp_path: Path) -> None:
    old, new = bursts(tmp_path, "old", 20), bursts(tmp_path, "new", 10)
    points = json.loads(kadenz("compare", "--json", old, new))["points"]
    assert {(point["lane"], point["outcome"]) for point in points} == {("", "equivalent")}
