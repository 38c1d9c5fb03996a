# SPDX-License-Identifier: Apache-2.0
"""The cost of memory is drawn over the wait states, from runs that differ in nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.results import RunResult
from kadenz.report.svg.growth import Growth, growth
from kadenz.report.svg.panel import Caption
from kadenz.report.views import memory
from kadenz.store import read_run
from tests.synthetic import (
    HIFIVE1,
    Point,
    manifest,
    under,
    write_run,
)

SWITCH, QUEUE, CLOCK = "micro/task-switch-sampled", "itc/queue", "clock/read-cost"


def run(folder: Path, rom: int, ram: int = 0, **medians: int) -> RunResult:
    """A run with these wait states; `medians` by benchmark."""
    names = {"switch": SWITCH, "queue": QUEUE, "clock": CLOCK}
    points = [
        Point(names[name], {"all": np.full(20, median, dtype="<u4")})
        for name, median in medians.items()
    ]
    document = manifest(HIFIVE1)
    document.conditions += under(rom_wait=str(rom), ram_wait=str(ram))
    return analyse(read_run(write_run(folder / f"{rom}-{ram}", document, points)))


def named(*runs: RunResult) -> list[tuple[str, RunResult]]:
    return [(f"run {place}", run) for place, run in enumerate(runs)]


def test_each_point_has_a_line_with_its_first_and_last_figure(tmp_path: Path) -> None:
    runs = [
        run(tmp_path, 10, switch=900, queue=1200, clock=7),
        run(tmp_path, 0, switch=300, queue=1000, clock=3),
        run(tmp_path, 1, switch=330, queue=1010, clock=3),
    ]
    (plot,) = memory.plots(named(*runs))
    assert plot.heading == "freertos/hifive1-revb@emulated"
    assert "micro/task-switch-sampled 300 → 900" in plot.svg
    assert "itc/queue 1,000 → 1,200" in plot.svg
    assert "clock/read-cost" not in plot.svg
    assert "1: 330 instructions, 1.10 times" in plot.svg
    assert "wait states of rom" in plot.svg and "wait states of ram 0" in plot.svg


def test_runs_that_differ_in_two_memories_are_not_one_line(tmp_path: Path) -> None:
    assert memory.plots(named(run(tmp_path, 0, 0, switch=3), run(tmp_path, 1, 1, switch=4))) == []
    square = [run(tmp_path, rom, ram, switch=3 + rom) for rom in (2, 3) for ram in (4, 5)]
    plots = memory.plots(named(*square))
    others = [re.findall(r"; wait states of (\w+ \d)", plot.svg)[0] for plot in plots]
    assert sorted(others) == ["ram 4", "ram 5", "rom 2", "rom 3"]
    assert len({plot.name for plot in plots}) == 4


def test_a_point_that_one_run_lacks_has_no_line(tmp_path: Path) -> None:
    runs = named(run(tmp_path, 0, switch=3, queue=5), run(tmp_path, 1, switch=4))
    (plot,) = memory.plots(runs)
    assert "itc/queue" not in plot.svg and SWITCH in plot.svg


def test_without_a_sweep_there_is_no_picture(tmp_path: Path) -> None:
    assert memory.plots(named(run(tmp_path, 1, switch=3))) == []


def test_a_first_figure_of_zero_has_no_growth() -> None:
    with pytest.raises(ValueError, match="above zero"):
        growth([Growth("a", [(0, 0.0), (1, 2.0)])], Caption("h", "s", "cycles", "n"), axis="x")
