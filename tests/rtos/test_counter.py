# SPDX-License-Identifier: Apache-2.0
"""A board's declared counter is checked with a loop of known length.

The counter of `mps2-an386` runs at 25 MHz: one count per 40 instructions of 1 ns. With 16 ns per
instruction, on a copy of the board, it counts once per 2.5, which is not a whole number.
"""

from __future__ import annotations

import re
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from kadenz.analysis.units import unit_of
from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.manifest import ClockEntry
from kadenz.config.target_name import TargetName
from kadenz.images.image import build_image
from kadenz.lab.counter import LONG_LOOP, LOOP, CounterCheck, check_counter
from kadenz.store import Run

pytestmark = pytest.mark.counted
TARGET = "freertos/mps2-an386@emulated"
COPY = "freertos/mps2-copy@emulated"
FOLDERS = ("suite", "kernels", "boards", "arch", "instruments")


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab with a board, always at the same path so that its images are compiled once."""
    lab = inventory.root() / "build" / "tests" / "foreign-board"
    shutil.rmtree(lab / "boards", ignore_errors=True)
    shutil.copytree(inventory.board_folder("mps2-an386"), lab / "boards" / "mps2-copy")
    (lab / "kadenz.toml").write_text("")
    monkeypatch.setenv("KADENZ_LAB", str(lab))
    return lab


def command(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


def measured(folder: Path, *options: str) -> Run:
    arguments = ["run", "micro/task-switch-sampled", "itc/queue", "--target", TARGET, *options]
    answer = command(*arguments, "--set", "samples=100", "--output", str(folder))
    assert answer.exception is None and answer.return_value == 0, answer.output
    (run,) = find_runs([folder])
    return run


def test_a_counter_with_another_rate_is_converted_exactly_and_recorded(
    tmp_path: Path,
) -> None:
    """Compared with the scope, which counts each instruction from outside."""
    counter, scope = measured(tmp_path / "a"), measured(tmp_path / "b", "--instrument", "scope")
    clock = counter.manifest.clock
    assert clock.instructions_per_count == 40.0
    assert clock.checked_against == "a loop of 50,000 instructions: 1,250 counts"
    (stamp,) = [w for w in counter.manifest.warnings if w.code == "counter-converted"]
    assert "fpgaio, declared with 25,000,000 Hz" in stamp.message
    assert "one count is 40 instructions" in stamp.message
    for record in counter.manifest.records:
        if record.bench.startswith("clock/"):
            continue
        unit = unit_of(record.unit, clock)
        assert unit.label == "instructions"
        figure = unit.figure(float(np.mean(counter.samples(record, 0))))
        other = float(np.mean(scope.samples(scope.record(record.id), 0)))
        assert abs(figure - other) <= 40, record.bench
    # The queue was reported as "21 instructions"; the position of its 21.4 counts within a count
    # decides between 21 and 22.
    (queue,) = [r for r in scope.manifest.records if r.bench == "itc/queue"]
    exact = int(np.median(scope.samples(queue, 0)))
    assert 840 < exact < 880
    answer = command("show", str(counter.path))
    assert re.search(r"itc/queue .* (840|880) +\[", answer.output), answer.output


def test_counts_unrelated_to_instructions_are_refused_before_the_first_record(
    foreign: Path, tmp_path: Path
) -> None:
    file = foreign / "boards" / "mps2-copy" / "board.toml"
    file.write_text(file.read_text().replace("icount_shift = 0", "icount_shift = 4"))
    answer = command("run", "itc/queue", "--target", COPY, "--output", str(tmp_path))
    told = str(answer.exception)
    assert "counter fpgaio, declared with 25,000,000 Hz" in told, answer.output
    assert "it advanced by 20,000 in a loop of 50,000 instructions, -60.00%" in told
    assert "--instrument scope" in getattr(answer.exception, "remedy", "")
    assert list(tmp_path.iterdir()) == []

    answer = command("conformance", COPY)
    assert answer.return_value == 1, answer.output
    assert "the counter counts instructions" in answer.output


def test_a_counter_narrower_than_its_stamps_is_refused(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spans are modulo the width of a stamp: with 24 bits some would be too long by 2^32."""
    copy = foreign / "kadenz"
    for name in FOLDERS:
        shutil.rmtree(copy / name, ignore_errors=True)
        shutil.copytree(inventory.root() / name, copy / name)
    (copy / "kadenz").mkdir(exist_ok=True)
    shutil.copy2(inventory.root() / "kadenz" / "__init__.py", copy / "kadenz")
    monkeypatch.setenv("KADENZ_ROOT", str(copy))
    file = copy / "arch" / "cortexm" / "counter" / "clock.c"
    file.write_text(file.read_text().replace(".bits = 32", ".bits = 24"))
    answer = command("run", "itc/queue", "--target", COPY, "--output", str(tmp_path))
    assert "the clock wraps at another width than that of its stamps" in str(answer.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("board", ["stm32f4", "hifive1-revb"])
def test_the_counters_of_kadenz_boards_count_one_per_instruction(board: str) -> None:
    name = TargetName("freertos", board, "emulated")
    image = build_image(name, "counter")
    (image.folder / "counter.json").unlink(missing_ok=True)
    for _ in range(2):  # measured, and remembered
        counter = check_counter(name, "counter", image, None, threading.Event())
        assert counter is not None
        assert counter.check.loop == LOOP and counter.instructions_per_count == 1.0
        assert counter.warnings == []


@pytest.mark.parametrize(
    ("loop", "least", "ratio"),
    [
        (LOOP, LONG_LOOP + 73, 1.0),
        (2 * LOOP, 2 * LONG_LOOP, 0.5),
        (LOOP // 40, LONG_LOOP // 40, 40.0),
        (LOOP // 40 + 1, LONG_LOOP // 40 - 1, 40.0),  # position of the loop between two counts
    ],
)
def test_a_whole_number_either_way_is_a_ratio(loop: int, least: int, ratio: float) -> None:
    check = CounterCheck("", loop, least, least + 3)
    assert check.instructions_per_count("instruction", 1) == ratio


@pytest.mark.parametrize(
    ("loop", "least", "most", "why"),
    [
        (0, 0, 0, "it advanced by 0 in a loop"),
        (LOOP + 1, LONG_LOOP, LONG_LOOP, "+0.00%: neither a whole number"),
        (8400, 336_000, 336_000, "neither a whole number"),  # 168 MHz
        (LOOP // 1000, 2000, 2000, "neither a whole number"),  # 1 MHz
        (LOOP, LONG_LOOP - (1 << 16), LONG_LOOP, "wraps before its stamps do"),
        (LOOP, LONG_LOOP, (1 << 32) - 1, "wraps before its stamps do"),
    ],
)
def test_any_other_rate_is_refused_with_its_deviation(
    loop: int, least: int, most: int, why: str
) -> None:
    with pytest.raises(ValueError, match=why.replace("+", r"\+")):
        CounterCheck("", loop, least, most).instructions_per_count("instruction", 1)


def test_a_guests_clock_is_checked_against_its_virtual_nanoseconds() -> None:
    right = CounterCheck("", 2 * LOOP, 2 * LONG_LOOP, 2 * LONG_LOOP + 9000)
    assert right.instructions_per_count("virtual ns", 2) == 0.5
    with pytest.raises(ValueError, match=r"200,000 virtual ns .* expected 100,000: \+100.00%"):
        CounterCheck("", 4 * LOOP, 4 * LONG_LOOP, 4 * LONG_LOOP).instructions_per_count(
            "virtual ns", 2
        )


def test_virtual_ns_are_shown_unconverted() -> None:
    clock = ClockEntry(
        clock_class="instruction",
        name="clock_monotonic",
        hz=0,
        bits=64,
        unit="virtual ns",
        instructions_per_count=0.5,
    )
    assert unit_of("ticks", clock).scale == 1.0
