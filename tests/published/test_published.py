# SPDX-License-Identifier: Apache-2.0
"""The published figures: every row is understood, and matches only its own kind."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse, published
from kadenz.config import inventory
from kadenz.errors import ConfigError
from kadenz.store import read_run
from tests.synthetic import (
    HIFIVE1,
    LINUX,
    STM32F4,
    board_points,
    linux_points,
    manifest,
    write_run,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunResult]:
    folder = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(3)
    return {
        "hifive1": analyse(read_run(write_run(folder, manifest(HIFIVE1), board_points(rng, 60)))),
        "stm32f4": analyse(read_run(write_run(folder, manifest(STM32F4), board_points(rng, 60)))),
        "linux": analyse(read_run(write_run(folder, manifest(LINUX), linux_points(rng, 60)))),
    }


def test_every_published_row_is_understood() -> None:
    with (inventory.root() / published.FIGURES).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figures = published.load()
    assert len(figures) == len(rows) > 350
    assert [f.value for f in figures] == [float(row["value"]) for row in rows]
    assert {f.system.clock_class for f in figures} == {"hardware"}


def test_a_row_matches_its_board_kernel_and_point(runs: dict[str, RunResult]) -> None:
    figures = published.load()
    run = runs["hifive1"]
    record = run.find("itc/queue", size_bytes=600)[0]
    matching = published.matches(figures, run, record)
    assert [(f.value, f.unit, f.system.name) for f in matching] == [(12.85, "µs", "HiFive1 Rev B")]


def test_an_unpublished_size_matches_nothing(runs: dict[str, RunResult]) -> None:
    run = runs["hifive1"]
    record = run.find("itc/queue", size_bytes=300)[0]
    assert published.matches(published.load(), run, record) == []


def test_another_kernel_on_the_same_board_does_not_match(runs: dict[str, RunResult]) -> None:
    of_board = [f for f in published.load() if "stm32f4" in f.system.boards]
    rtx = [f for f in of_board if f.kernel == "Keil RTX5"]
    assert rtx and not any(published.family_of(f, runs["stm32f4"]) for f in rtx)
    assert any(published.family_of(f, runs["stm32f4"]) for f in of_board)


def test_a_published_interval_in_microseconds_is_our_period(runs: dict[str, RunResult]) -> None:
    run = runs["linux"]
    record = run.find("cyclic/wakeup-latency")[0]
    matching = published.matches(published.load(), run, record)
    assert {f.system.name for f in matching} == {"VisionFive 2", "Raspberry Pi 4 B", "MIO-5272"}
    assert {f.statistic for f in matching} == {"mean", "min", "max", "sd"}


def test_a_semaphore_on_linux_is_a_counting_semaphore(runs: dict[str, RunResult]) -> None:
    run = runs["linux"]
    record = run.find("itc/semaphore-counting")[0]
    matching = published.matches(published.load(), run, record)
    assert sorted(f.value for f in matching) == [4.92, 10.84, 18.29]


def test_an_unknown_system_is_named_with_its_line(tmp_path: Path) -> None:
    for file in (published.FIGURES, published.SYSTEMS):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text((inventory.root() / file).read_text())
    figures = tmp_path / published.FIGURES
    figures.write_text(figures.read_text() + "x2030,Table 1,Some Board,FreeRTOS,a/b,,mean,1,us,\n")
    line = len(figures.read_text().splitlines())
    with pytest.raises(ConfigError, match=rf"line {line}: 'Some Board'"):
        published.load([tmp_path])
