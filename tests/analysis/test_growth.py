# SPDX-License-Identifier: Apache-2.0
"""How a maximum grows with what a kernel holds: the law, its table, and the same as plain rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.analysis import RunResult, analyse
from kadenz.analysis.growth import FEW, Growth, growth, state_sweeps
from kadenz.config.manifest import ConditionEntry
from kadenz.report.labels import labelled
from kadenz.report.worst import sweep_rows, tables_of_states
from tests.analysis.test_population import run_of

VALUES = (0, 1, 2, 4, 8)


@pytest.mark.parametrize(
    ("figures", "law"),
    [
        ([7.0] * 5, Growth("constant", 0.0, 0.0)),
        ([492.0 + 78 * n for n in VALUES], Growth("linear", 78.0, 0.0)),
        ([100.0 - n for n in VALUES], Growth("linear", -1.0, 0.0)),
        ([100.0, 100 + FEW, 100, 100 + FEW, 100], Growth("constant", 0.0, FEW / 2)),
        # The band of least height: 100 + 10 n, with one point 2 above it.
        ([100.0, 110, 122, 140, 180], Growth("linear", 10.0, 1.0)),
        # A parabola: the chord's slope is 8, and its largest distance 16 at n = 4.
        ([float(n * n) for n in VALUES], Growth("neither", 8.0, 8.0)),
        # A step: the least band goes through 0 and 8, and 1.
        ([0.0, 80, 80, 80, 80], Growth("neither", 10.0, 35.0)),
    ],
)
def test_the_law_is_that_of_the_closed_form(figures: list[float], law: Growth) -> None:
    assert growth(dict(zip(VALUES, figures, strict=True))) == law


def test_thirds_are_exact() -> None:
    assert growth({0: 0.0, 3: 1.0, 6: 2.0}).deviation == 0


def test_through_two_values_goes_any_line() -> None:
    assert growth({0: 3.0, 8: 3.0}).law == "constant"
    assert growth({0: 3.0, 8: 19.0}).law == ""
    assert growth({4: 3.0}).law == "constant"


def swept(path: Path, state: str, longer: dict[int, int], waits: str = "0") -> list[RunResult]:
    results = []
    for value, cycles in longer.items():
        run = run_of(path / f"{state}{value}-{waits}", list(range(1, 101)), longer=cycles)
        run.manifest.id += f"{state}{value}{waits}"
        run.manifest.conditions = [
            ConditionEntry(kind="rom_wait", value=waits, usual="0"),
            ConditionEntry(kind=state, value=str(value), usual="0"),
        ]
        results.append(analyse(run))
    return results


def test_a_table_for_each_state_that_was_swept(tmp_path: Path) -> None:
    longer = {0: 0, 1: 20, 2: 40}
    runs = swept(tmp_path, "sleepers", longer) + swept(tmp_path, "sleepers", longer, "4")
    (table,) = tables_of_states(labelled(runs))
    rows = [[cell.text for cell in row] for row in table.rows]
    assert table.columns[2:] == ("Lane", "0", "1", "2", "Worst at", "Growth")
    assert ["rom_wait 0" in row[1] for row in rows] == [True, True, False, False]
    assert not any("sleepers" in row[1] for row in rows)
    law = "linear: +20 instructions each"
    assert rows[0][2:] == ["handler", "219", "239", "259", "2", law]
    assert rows[3][2:] == ["task", "600", "620", "640", "2", law]


def test_a_state_with_a_single_value_is_no_sweep(tmp_path: Path) -> None:
    assert state_sweeps(labelled(swept(tmp_path, "ready", {4: 0}))) == []
    assert list(tables_of_states(labelled(swept(tmp_path / "again", "ready", {4: 0})))) == []


def test_rows_have_what_the_table_has(tmp_path: Path) -> None:
    handler, task = sweep_rows(labelled(swept(tmp_path, "waking", {0: 0, 4: 0, 8: 50})))
    assert (handler["state"], handler["bench"], handler["lane"]) == (
        "waking",
        "critical/call",
        "handler",
    )
    assert handler["max"] == {"0": 219.0, "4": 219.0, "8": 269.0}
    assert (handler["worst"], handler["growth"], handler["deviation"]) == (8, "neither", 12.5)
    assert task["lane"] == "task"
