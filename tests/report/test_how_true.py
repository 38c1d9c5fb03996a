# SPDX-License-Identifier: Apache-2.0
"""The same point in several clock classes stands in one row, and no class is mixed silently."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.published import PublishedFigure, System
from kadenz.analysis.results import RunResult
from kadenz.config.manifest import ClockClass
from kadenz.report.table import Table
from kadenz.report.views import how_true
from kadenz.store import read_run
from tests.synthetic import (
    EMULATED_CLOCK,
    HIFIVE1,
    LINUX,
    STM32F4,
    Point,
    Samples,
    manifest,
    write_run,
)

SWITCH, CLOCK = "micro/task-switch-sampled", "clock/read-cost"
CYCLES = System("a board", ("stm32f4",), "hardware", "a chip")


def constant(value: int) -> Samples:
    return np.full(20, value, dtype="<u4")


def run(
    folder: Path,
    kind: ClockClass,
    value: int,
    *,
    target: dict[str, str] = STM32F4,
    model: tuple[int, int] | None = None,
    hz: int = 0,
    bench: str = SWITCH,
) -> RunResult:
    """A run of one point whose samples are all `value`."""
    clock = msgspec.structs.replace(EMULATED_CLOCK, clock_class=kind, unit="cycle", hz=hz)
    lanes = {"all": constant(value)}
    if model is not None:
        lanes |= {"all:low": constant(model[0]), "all:high": constant(model[1])}
    name = f"{target['board']}-{kind}-{value}"
    return analyse(
        read_run(
            write_run(folder / name, manifest(target, clock=clock, id=name), [Point(bench, lanes)])
        )
    )


def published(value: float, unit: str) -> PublishedFigure:
    return PublishedFigure(
        "mazzi2021", "Table 4", CYCLES, "FreeRTOS 10.2.0", SWITCH, {}, "mean", value, unit, ""
    )


def named(*runs: RunResult) -> list[tuple[str, RunResult]]:
    return [(f"run {place}", result) for place, result in enumerate(runs)]


def rows(table: Table | None) -> dict[str, dict[str, str]]:
    """Texts of each row by statistic, then by column."""
    assert table is not None
    texts = [
        {name: cell.text for name, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]
    by_statistic = {row["Statistic"]: row for row in texts}
    assert len(by_statistic) == len(texts)
    return by_statistic


def test_each_class_has_its_column_and_its_ratio_to_the_most_exact(tmp_path: Path) -> None:
    table = how_true.class_table(
        [],
        named(
            run(tmp_path, "cycle-exact", 200),
            run(tmp_path, "instruction", 150),
            run(tmp_path, "cycle-model", 210, model=(190, 230)),
        ),
    )
    row = rows(table)["median"]
    assert row["instruction"] == "150 instructions"
    assert row["cycle-model"] == "210 cycles" and row["Model's interval"] == "190 to 230"
    assert row["cycle-exact"] == "200 cycles" and row["Most exact"] == "cycle-exact"
    assert row["instruction / most exact"] == "0.750"
    assert row["cycle-model / most exact"] == "1.050"
    assert row["cycle-exact / most exact"] == "–"


def test_the_picture_has_the_ratios_of_the_table(tmp_path: Path) -> None:
    runs = named(
        run(tmp_path, "cycle-exact", 200),
        run(tmp_path, "instruction", 150),
        run(tmp_path, "cycle-model", 210, model=(190, 230)),
    )
    (plot,) = how_true.plots([], runs)
    assert "class cycle-exact (1)" in plot.svg
    for ratio in ("instruction 0.750", "cycle-model 1.050 (0.950 to 1.150)"):
        assert ratio in plot.description
    assert plot.svg.count("<circle") == 2


def test_a_published_figure_is_drawn_in_cycles_only(tmp_path: Path) -> None:
    runs = named(run(tmp_path, "cycle-exact", 200), run(tmp_path, "instruction", 150))
    figures = [
        dataclasses.replace(published(180.0, unit), statistic="median") for unit in ("cycles", "µs")
    ]
    (plot,) = how_true.plots(figures, runs)
    assert "published 0.900" in plot.description and plot.description.count("published") == 1


def test_one_class_or_two_boards_have_nothing_side_by_side(tmp_path: Path) -> None:
    here = run(tmp_path, "instruction", 150)
    assert how_true.class_table([], named(here)) is None
    assert how_true.class_table([], named(here, run(tmp_path, "instruction", 151))) is None
    there = run(tmp_path, "cycle-exact", 200, target=HIFIVE1)
    assert how_true.class_table([], named(here, there)) is None
    linux = run(tmp_path, "hosted", 900, target=LINUX)
    assert how_true.class_table([], named(here, linux)) is None


def test_a_second_run_of_a_class_is_named_and_not_mixed_in(tmp_path: Path) -> None:
    table = how_true.class_table(
        [],
        named(
            run(tmp_path, "instruction", 150),
            run(tmp_path, "instruction", 999),
            run(tmp_path, "cycle-exact", 200),
        ),
    )
    assert rows(table)["median"]["instruction"] == "150 instructions"
    assert table is not None and [note for note in table.notes if "run 1" in note]


def test_a_time_is_shown_without_a_ratio(tmp_path: Path) -> None:
    table = how_true.class_table(
        [],
        named(
            run(tmp_path, "instruction", 150),
            run(tmp_path, "cycle-model", 210),
            run(tmp_path, "hardware", 300, hz=100_000_000),
        ),
    )
    row = rows(table)["median"]
    assert row["hardware"] == "3 µs" and row["Most exact"] == "cycle-model"
    assert row["instruction / most exact"] == "0.714"


@pytest.mark.parametrize(("unit", "ratio"), [("cycles", "1.05"), ("µs", "–")])
def test_the_published_figure_is_at_the_right_of_its_statistic(
    tmp_path: Path, unit: str, ratio: str
) -> None:
    runs = named(run(tmp_path, "instruction", 150), run(tmp_path, "cycle-model", 210))
    cells = rows(how_true.class_table([published(200.0, unit)], runs))
    assert cells["mean"]["Published"] == f"200 {unit}"
    assert cells["mean"]["Published class"] == "hardware"
    assert cells["mean"]["Most exact / published"] == ratio
    assert cells["median"]["Published"] == "–"


def test_benchmarks_of_the_clock_are_left_out(tmp_path: Path) -> None:
    kinds: tuple[ClockClass, ...] = ("instruction", "cycle-exact")
    runs = [run(tmp_path, kind, 9, bench=CLOCK) for kind in kinds]
    assert how_true.class_table([], named(*runs)) is None
