# SPDX-License-Identifier: Apache-2.0
"""mazzi2021 in the report: microseconds at 80 MHz beside cycles, and the kernels of table 3."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse, published
from kadenz.config.manifest import ClockEntry
from kadenz.config.params import Params
from kadenz.report.studies import tables
from kadenz.report.table import Table
from kadenz.store import read_run
from tests.synthetic import EMULATED_CLOCK, LINUX, STM32F4, Point, manifest, write_run

TIME = "for one iteration, at 80 MHz"
SEMAPHORE, QUEUE = "itc/semaphore-binary-to-higher", "itc/queue-one-way"


def at(hz: int) -> ClockEntry:
    """The clock of a timing model whose chip runs at `hz`; 0: not stated."""
    return msgspec.structs.replace(EMULATED_CLOCK, clock_class="cycle-model", unit="cycle", hz=hz)


def batch(name: str, total: int) -> Point:
    lanes = {
        "batch": np.array([total + 250_000] * 3, np.uint32),
        "empty-loop": np.array([250_000] * 3, np.uint32),
    }
    return Point(name, lanes, {"iterations": 50_000})


def same(bench: str, value: int, params: Params | None = None) -> Point:
    return Point(bench, {"all": np.full(50, value, np.uint32)}, params or {})


def a_run(folder: Path, points: list[Point], clock: ClockEntry = EMULATED_CLOCK) -> RunResult:
    return analyse(read_run(write_run(folder, manifest(STM32F4, clock=clock), points)))


def named(run: RunResult, name: str) -> Table | None:
    matching = [table for table in tables(published.load(), [("here", run)]) if table.name == name]
    return matching[0] if matching else None


def times(table: Table, kind: str) -> list[list[str]]:
    """Kernel, the four metrics and the unit of each row in microseconds."""
    rows = zip(table.rows, table.row_kinds, strict=True)
    return [
        [row[2].text, *(cell.text for cell in row[4:9])]
        for row, of in rows
        if of == kind and row[3].text == TIME
    ]


def test_published_cycles_have_microseconds_at_80_mhz(tmp_path: Path) -> None:
    """Figures 10 to 13: two as the text prints them, two by equation 2 from table 4."""
    table = named(a_run(tmp_path, [batch("micro/task-switch", 6_200_000)]), "mazzi2021-table-4")
    assert table is not None
    assert times(table, "published") == [
        ["FreeRTOS 10.2.0", "1.745", "4.534", "3.6093", "19.2067", "µs"],
        ["Keil RTX5", "3.527", "4.652", "16.4899", "4.5129", "µs"],
    ]


@pytest.mark.parametrize(
    ("clock", "ours"),
    [
        (at(80_000_000), [["FreeRTOS V11.2.0", "1.550", "–", "–", "–", "µs"]]),
        (at(168_000_000), []),
        (at(0), []),
        (EMULATED_CLOCK, []),
    ],
)
def test_only_cycles_at_80_mhz_become_microseconds(
    clock: ClockEntry, ours: list[list[str]], tmp_path: Path
) -> None:
    run = a_run(tmp_path, [batch("micro/task-switch", 6_200_000)], clock)
    table = named(run, "mazzi2021-table-4")
    assert table is not None and times(table, "ours") == ours


def test_the_six_kernels_of_table_3_stand_above_our_switches(tmp_path: Path) -> None:
    """A switch to a more urgent task, of the smallest message, on one core."""
    points = [
        same(SEMAPHORE, 400, {"rank_a": 7, "rank_b": 8}),
        same(QUEUE, 900, {"rank_a": 7, "rank_b": 8, "size_bytes": 60}),
        same(QUEUE, 700, {"rank_a": 7, "rank_b": 8, "size_bytes": 4}),
        same(QUEUE, 100, {"rank_a": 8, "rank_b": 7, "size_bytes": 4}),
        same("itc/event-flags-one-way", 100, {"rank_a": 7, "rank_b": 8, "core_b": 1}),
    ]
    table = named(a_run(tmp_path, points), "mazzi2021-table-3")
    assert table is not None
    assert table.row_kinds == ("published",) * 12 + ("ours",)
    first = dict(zip(table.columns, (cell.text for cell in table.rows[0]), strict=True))
    assert (first["Kernel"], first["To higher, semaphore"]) == ("FreeRTOS 9.0.0", "24.86")
    last = dict(zip(table.columns, (cell.text for cell in table.rows[-1]), strict=True))
    assert {name: text for name, text in last.items() if name.startswith("To")} == {
        "To higher, event": "–",
        "To higher, semaphore": "400",
        "To higher, mailbox": "700",
        "To lower, event": "–",
        "To lower, semaphore": "–",
        "To lower, mailbox": "–",
    }
    assert (last["Unit"], last["Clock class"]) == ("instructions", "instruction")


def test_without_a_switch_to_a_higher_task_there_is_no_table_3(tmp_path: Path) -> None:
    downwards = same(QUEUE, 100, {"rank_a": 8, "rank_b": 7, "size_bytes": 4})
    assert named(a_run(tmp_path, [downwards]), "mazzi2021-table-3") is None
    linux = manifest(LINUX)
    upwards = same(QUEUE, 100, {"rank_a": 90, "rank_b": 95, "size_bytes": 4})
    run = analyse(read_run(write_run(tmp_path, linux, [upwards])))
    assert named(run, "mazzi2021-table-3") is None
