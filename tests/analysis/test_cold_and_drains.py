# SPDX-License-Identifier: Apache-2.0
"""The report notes cold samples that were not excluded, and the cost of a drain."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from kadenz.analysis import RunResult, analyse
from kadenz.report import tables
from kadenz.store import read_run
from tests.synthetic import HIFIVE1, Point, Samples, manifest, write_run

N = 8000
DRAINS = list(range(1024, N, 1024))


def measured(folder: Path, samples: Samples, *, cold: int = 3) -> RunResult:
    path = write_run(folder, manifest(HIFIVE1), [Point("itc/queue", {"all": samples}, cold=cold)])
    file = path / "run.json"
    document = msgspec.json.decode(file.read_bytes())
    document["records"][0]["drains"] = DRAINS
    file.write_bytes(msgspec.json.encode(document))
    return analyse(read_run(path))


def notes(result: RunResult) -> str:
    return " ".join(tables.results("itc/queue", [("this", result)]).notes)


def plain() -> Samples:
    return (1000 + np.random.default_rng(1).integers(0, 50, N)).astype(np.uint32)


def test_cold_samples_that_were_not_excluded_are_reported(tmp_path: Path) -> None:
    samples = plain()
    samples[:40] += 400
    result = measured(tmp_path, samples)
    assert result.records[0].lanes[0].cold_suggested == 40
    assert "the first 40 samples look cold, but only 3 are excluded" in notes(result)


def test_excluded_cold_samples_need_no_note(tmp_path: Path) -> None:
    samples = plain()
    samples[:40] += 400
    assert "look cold" not in notes(measured(tmp_path, samples, cold=40))


def test_the_cost_of_a_drain_is_reported(tmp_path: Path) -> None:
    samples = plain()
    samples[DRAINS] += 100
    text = notes(measured(tmp_path, samples))
    assert "the 7 samples right after a drain of the target's storage took" in text
    assert "more than the others" in text.replace("instructions ", "")


def test_a_drain_without_effect_and_a_warm_start_need_no_note(tmp_path: Path) -> None:
    text = notes(measured(tmp_path, plain()))
    assert "drain" not in text and "look cold" not in text
