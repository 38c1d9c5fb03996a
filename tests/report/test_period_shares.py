# SPDX-License-Identifier: Apache-2.0
"""Cycles of a clock whose rate is known are also shown as shares of the shortest period."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.config.manifest import Nature
from kadenz.report.render import render
from kadenz.store import Run, read_run
from tests.report.test_page import Html
from tests.report.test_standings import FEW, page_of
from tests.synthetic import EMULATED_CLOCK, LINUX, STM32F4, Point, manifest, write_run

WAKE_UP: Nature = "periodic"
NOT_MEASURED = Point(
    "cyclic/wakeup-latency",
    {"all": FEW},
    {"period_us": 1000},
    status="n/a",
    reason="needs clock readings",
    nature=WAKE_UP,
)


def modelled(
    folder: Path, rates: Sequence[int], wake_up: Point = NOT_MEASURED, *, first: int = 0
) -> list[Run]:
    """A run of each kernel under a timing model, at the chip's rate in Hz; 1,680 cycles each."""
    runs = []
    for number, hz in enumerate(rates, first):
        clock = msgspec.structs.replace(
            EMULATED_CLOCK, clock_class="cycle-model", unit="cycle", hz=hz
        )
        target = {**STM32F4, "name": f"kernel{number}/stm32f4@emulated", "kernel": f"k{number}"}
        points = [Point("micro/a", {"all": np.full(50, 1680, np.uint32)}), wake_up]
        document = manifest(target, clock=clock, id=f"run-{number}")
        runs.append(read_run(write_run(folder, document, points)))
    return runs


def shares(runs: Sequence[Run]) -> list[str]:
    (line,) = [line for line in page_of(runs).standings[0].lines if line.bench == "micro/a"]
    return [field.of_period for field in line.fields]


def test_cycles_have_their_share_of_the_shortest_period_at_the_chips_clock(tmp_path: Path) -> None:
    """Also if that work itself was not measured; each system at its own rate."""
    runs = modelled(tmp_path, [168_000_000, 84_000_000])
    assert shares(runs) == ["1 %", "2 %"]
    page = page_of(runs)
    assert "shares of a period of 1 ms at 168 MHz and 84 MHz" in page.standings[0].decides
    rows = {row[0]: row for row in Html(render(page)).tables["systems"][1:]}
    assert [text.split() for text in rows["micro/a"][1:]] == [
        ["1,680", "1", "%"],
        ["1,680", "2", "%"],
    ]
    called = CliRunner().invoke(cli, ["show", *(str(run.path) for run in runs)])
    assert "1,680 1 %" in called.stdout and "1,680 2 %" in called.stdout
    called = CliRunner().invoke(cli, ["show", "--json", *(str(run.path) for run in runs)])
    (group,) = json.loads(called.stdout)["standings"]
    assert group["period_us"] == 1000
    cells = group["rows"][0]["figures"]
    assert [cell["share_of_period"] for cell in cells] == pytest.approx([0.01, 0.02])


def test_the_shortest_of_several_periods_decides(tmp_path: Path) -> None:
    short = replace(NOT_MEASURED, params={"period_us": 250})
    runs = [
        *modelled(tmp_path / "1", [168_000_000]),
        *modelled(tmp_path / "2", [168_000_000], short, first=1),
    ]
    assert shares(runs) == ["4 %", "4 %"]


@pytest.mark.parametrize(
    ("rates", "wake_up"),
    [
        ([0, 0], NOT_MEASURED),
        ([168_000_000, 0], NOT_MEASURED),
        # Its period is that of an exchange, not of periodic work.
        ([168_000_000] * 2, Point("itc/queue", {"all": FEW}, {"period_us": 10_000}, nature="span")),
    ],
)
def test_without_a_rate_or_a_period_there_are_none(
    tmp_path: Path, rates: list[int], wake_up: Point
) -> None:
    runs = modelled(tmp_path, rates, wake_up)
    assert shares(runs) == ["", ""]
    assert "period of" not in page_of(runs).standings[0].decides


def test_times_and_instructions_have_none(tmp_path: Path) -> None:
    for place, target in (("linux", LINUX), ("board", STM32F4)):
        runs = []
        for number in range(2):
            named = {**target, "name": f"k{number}/{target['board']}@x", "kernel": target["kernel"]}
            points = [Point("micro/a", {"all": np.full(50, 1680, np.uint32)}), NOT_MEASURED]
            document = manifest(named, id=f"run-{number}")
            runs.append(read_run(write_run(tmp_path / place, document, points)))
        assert shares(runs) == ["", ""]
