# SPDX-License-Identifier: Apache-2.0
"""Misses of several lanes are one sentence of `kadenz show`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.forked import kadenz
from tests.synthetic import LINUX, Point, Samples, manifest, write_run


def shown(folder: Path, lanes: int, missed: int, *options: str) -> str:
    rng = np.random.default_rng(1)
    of: dict[str, Samples] = {
        f"core{place}": rng.integers(40_000, 60_000, 300).astype(np.uint32)
        for place in range(lanes)
    }
    for values in of.values():
        values[: 1 if missed else 0] = 2_000_000
    of[f"core{lanes - 1}"][: 2 * bool(missed)] = 2_000_000
    point = Point("cyclic/wakeup-latency", of, {"period_us": 1000}, missed=missed)
    answer = kadenz("show", str(write_run(folder, manifest(LINUX), [point])), *options)
    assert answer.returncode == 0
    return answer.stdout


@pytest.mark.parametrize("lanes", [2, 16])
def test_the_misses_of_several_lanes_are_one_sentence(tmp_path: Path, lanes: int) -> None:
    text = shown(tmp_path, lanes, 7)
    (line,) = [line for line in text.splitlines() if "missed 1,000 µs" in line]
    assert f"all {lanes} lanes: {8 * lanes + 1} of {307 * lanes:,} missed" in line
    assert f"most on core{lanes - 1}: 9" in text


def test_the_misses_of_a_single_lane_are_its_status(tmp_path: Path) -> None:
    text = shown(tmp_path, 1, 7)
    assert text.count("9 of 307 missed 1,000 µs") == 1 and "lanes:" not in text


def test_lanes_that_kept_a_deadline_of_the_user_are_one_sentence(tmp_path: Path) -> None:
    text = shown(tmp_path / "a", 16, 0, "--deadline", "100us")
    assert text.count("0 of 4,800 missed 100 µs") == 1 and "most on" not in text
    assert "missed" not in shown(tmp_path / "b", 16, 0)
