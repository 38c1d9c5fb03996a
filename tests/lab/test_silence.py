# SPDX-License-Identifier: Apache-2.0
"""How long a target may be silent: work that takes long is no hang."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from kadenz.config.target_name import TargetName
from kadenz.lab.graph import silence_s
from kadenz.lab.plan import Point
from tests.lab.fake import Scripted
from tests.lab.test_measure import job

WINDOWS = {"window_us": 500_000}
PERIODS = {"period_us": 1_000_000}


@pytest.mark.parametrize(
    ("tier", "params", "more"),
    [
        ("emulated", {}, 0.0),
        ("emulated", WINDOWS, 100.0),  # one window, on an emulator that works all the time
        ("rtl", WINDOWS, 100.0),
        ("host", WINDOWS, 1.0),
        ("host", PERIODS, 60.0),  # all samples are kept until the end
    ],
)
def test_a_point_may_be_silent_for_its_own_length(
    tier: str, params: dict[str, int], more: float, tmp_path: Path
) -> None:
    board = "linux" if tier == "host" else "stm32f4"
    silent = dataclasses.replace(job(tmp_path, [Scripted([])]), name=TargetName("k", board, tier))
    point = Point(10, "thread-metric/basic", 30, params=params)
    assert silence_s(silent, point) == pytest.approx(silent.timeout_s + more)
