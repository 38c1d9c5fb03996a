# SPDX-License-Identifier: Apache-2.0
"""Every arrival of one sample: exact extremes, and nothing inferred from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.analysis import RecordResult, analyse
from kadenz.analysis.comparing import SideBySide, compare_sides
from kadenz.analysis.gating import gate
from kadenz.analysis.structures import has_population, unjudged
from kadenz.analysis.structures.population import Population, Span, function_at
from kadenz.report.labels import labelled
from kadenz.report.worst import table_of_arrivals
from kadenz.store import Run, read_run
from tests.synthetic import STM32F4, Point, manifest, under, write_run

FUNCTIONS = {"0x1000": "first", "0x2000": "second"}


def run_of(path: Path, phase: list[int], *, missed: int = 0, longer: int = 0) -> Run:
    """A run whose worst arrivals take `longer` cycles more."""
    n = len(phase)
    handler, task = np.arange(120, 120 + n), np.arange(500 + n, 500, -1)
    handler[-1] += longer
    task[0] += longer
    values: dict[str, NDArray[Any]] = {"all": np.full(4, n), "handler": handler, "task": task}
    for lane in ("handler", "task"):
        beside = {"phase": phase, "pc": [0x1000] * (n - 1) + [0x2004]}
        beside |= {"masked": [0, 1] * (n // 2) + [0] * (n % 2), "locked": [0] * n}
        values |= {f"{lane}:{kind}": np.array(of) for kind, of in beside.items()}
    point = Point("critical/call", {name: v.astype(np.uint32) for name, v in values.items()})
    run = read_run(write_run(path, manifest(STM32F4), [point]))
    (entry,) = run.manifest.records
    entry.functions = FUNCTIONS
    for tried in entry.series[1:]:
        tried.missed = missed
    return run


def result_of(path: Path, phase: list[int], *, missed: int = 0) -> RecordResult:
    return analyse(run_of(path, phase, missed=missed)).records[0]


def test_extremes_are_exact_and_have_their_place(tmp_path: Path) -> None:
    record = result_of(tmp_path, list(range(1, 101)))
    exact = record.structure(Population)
    assert exact is not None
    assert (exact.tried, exact.step, exact.asleep, exact.lost, exact.untried) == (100, 1, 0, 0, 0)
    handler, task = exact.handler, exact.task
    assert (handler.min, handler.median, handler.max) == (120, 169.5, 219)
    assert (handler.phase, handler.function) == (100, "second")
    assert (task.min, task.max, task.phase, task.function) == (501, 600, 1, "first")
    assert exact.coverage == "every one of 100 arrival cycles tried"


def test_a_curve_keeps_the_most_of_each_cell_and_where_it_was(tmp_path: Path) -> None:
    exact = result_of(tmp_path / "few", list(range(1, 5))).structure(Population)
    assert exact is not None
    assert exact.curve.phase.tolist() == [1, 2, 3, 4]
    assert exact.curve.masked == (Span(2, 2, "interrupts off"), Span(4, 4, "interrupts off"))
    assert exact.curve.locked == ()
    assert exact.curve.functions == (Span(1, 3, "first"), Span(4, 4, "second"))
    exact = result_of(tmp_path / "many", list(range(1, 20_002))).structure(Population)
    assert exact is not None
    handler, task = exact.curve.lanes["handler"], exact.curve.lanes["task"]
    assert exact.curve.phase.size == handler.size == task.size <= 2000
    assert (handler.max(), task.max()) == (exact.handler.max, exact.task.max)


def test_no_figure_of_a_population_has_an_interval(tmp_path: Path) -> None:
    record = result_of(tmp_path, list(range(1, 20_001)))
    for lane in record.lanes[1:]:
        assert lane.summary is not None and lane.percentiles
        assert all((p.low, p.high, p.known) == (None, None, True) for p in lane.percentiles)
        inferred = (lane.mean, lane.maximum, lane.tail, lane.outliers, lane.effective)
        assert not any(inferred)
    assert not unjudged(record.entry) and has_population(record.entry)


@pytest.mark.parametrize(
    ("phase", "missed", "coverage"),
    [
        ([1, 2, 3, 9, 10], 0, "5 of 10 arrival cycles tried, in 5 the core slept"),
        ([1, 2, 5], 2, "3 of 5 arrival cycles tried, 2 came to no end"),
        ([1, 11, 21], 0, "3 arrival cycles tried, one in 10"),
    ],
)
def test_what_was_not_tried_is_said(
    phase: list[int], missed: int, coverage: str, tmp_path: Path
) -> None:
    exact = result_of(tmp_path, phase, missed=missed).structure(Population)
    assert exact is not None and exact.coverage == coverage


def test_a_row_for_each_service_in_the_table(tmp_path: Path) -> None:
    result_of(tmp_path, [1, 2, 3, 4])
    (folder,) = [file.parent for file in tmp_path.rglob("run.json")]
    table = table_of_arrivals(labelled([analyse(read_run(folder))]))
    assert table is not None
    (row,) = table.rows
    assert [cell.text for cell in row[2:7]] == ["4", "120", "121.5", "123", "4"]
    assert any("no confidence interval" in note for note in table.notes)


def test_rows_of_one_target_say_what_they_differ_in(tmp_path: Path) -> None:
    runs = []
    for place, waits in enumerate(("0", "4")):
        result_of(tmp_path / waits, [1, 2, 3])
        (folder,) = [file.parent for file in (tmp_path / waits).rglob("run.json")]
        run = read_run(folder)
        run.manifest.id += str(place)
        run.manifest.conditions = under(rom_wait=waits)
        runs.append(analyse(run))
    table = table_of_arrivals(labelled(runs))
    assert table is not None
    assert ["rom_wait 0" in row[1].text for row in table.rows] == [True, False]
    assert ["rom_wait 4" in row[1].text for row in table.rows] == [False, True]


def test_records_without_arrivals_have_none(tmp_path: Path) -> None:
    point = Point("critical/call", {"handler": np.arange(4, dtype=np.uint32)})
    run = read_run(write_run(tmp_path, manifest(STM32F4), [point]))
    (entry,) = run.manifest.records
    assert Population.of(run, entry) is None
    assert table_of_arrivals(labelled([analyse(run)])) is None


def test_an_address_lies_in_the_function_that_begins_before_it() -> None:
    assert function_at(FUNCTIONS, 0x1000) == function_at(FUNCTIONS, 0x1FFC) == "first"
    assert function_at(FUNCTIONS, 0x2004) == "second"
    assert function_at(FUNCTIONS, 0xFFC) == function_at({}, 0x1000) == ""
    assert function_at({"entry": "of another's file", "0x10": "real"}, 0x12) == "real"


def sides(path: Path, longer: int, missed: int = 0) -> tuple[Run, Run]:
    phase = list(range(1, 101))
    return (
        run_of(path / "before", phase),
        run_of(path / "after", phase, longer=longer, missed=missed),
    )


def outcomes(result: SideBySide) -> dict[tuple[str, str], tuple[str, bool]]:
    return {(p.lane, p.statistic): (p.outcome, p.exact) for p in result.points}


@pytest.mark.parametrize(("longer", "outcome"), [(5, "equivalent"), (80, "worse"), (-40, "worse")])
def test_maxima_are_compared_exactly(longer: int, outcome: str, tmp_path: Path) -> None:
    before, after = sides(tmp_path, abs(longer))
    if longer < 0:
        before, after, outcome = after, before, "better"
    result = compare_sides([before], [after])
    judged = outcomes(result)
    assert {lane for lane, _ in judged} == {"handler", "task"}
    assert not [d for c in result.configurations for d in c.differences if d.group == "record"]
    assert judged["handler", "max"] == (outcome, True)
    assert judged["handler", "median"] == ("equivalent", True)
    assert {name for lane, name in judged if lane == "task"} == {"median", "p99", "max"}
    checks = {(c.lane, c.statistic): c.outcome for c in gate([after], [before]).checks}
    assert checks["handler", "max"] == ("fail" if outcome == "worse" else "pass")


def test_maxima_of_which_some_are_missing_are_not_judged(tmp_path: Path) -> None:
    before, after = sides(tmp_path, 80, missed=3)
    result = compare_sides([before], [after])
    assert {point.outcome for point in result.points} == {"context"}
    assert all("came to no end" in point.reason for point in result.points)
