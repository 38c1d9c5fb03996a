# SPDX-License-Identifier: Apache-2.0
"""Every arrival of one sample: exact extremes, and nothing inferred from them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.analysis import RecordResult, analyse
from kadenz.analysis.comparing import SideBySide, compare_sides
from kadenz.analysis.gating import gate
from kadenz.analysis.limits import parse_limit
from kadenz.analysis.structures import has_population, unjudged
from kadenz.analysis.structures.population import Population, Span, function_at
from kadenz.config.manifest import ARRIVALS, RaisedEntry
from kadenz.report.labels import labelled
from kadenz.report.worst import table_of_arrivals
from kadenz.store import Run, read_run
from tests.forked import kadenz
from tests.synthetic import STM32F4, Point, manifest, under, write_run

FUNCTIONS = {"0x1000": "first", "0x2000": "second"}


def run_of(
    path: Path, phase: list[int], *, missed: int = 0, longer: int = 0, second: str = ""
) -> Run:
    """A run whose worst arrivals take `longer` cycles more; with three `second` each."""
    n = len(phase)
    handler, task = np.arange(120, 120 + n), np.arange(500 + n, 500, -1)
    handler[-1] += longer
    task[0] += longer
    values: dict[str, NDArray[Any]] = {"all": np.full(4, n), "handler": handler, "task": task}
    for lane in ("handler", "task"):
        beside = {"phase": phase, "pc": [0x1000] * (n - 1) + [0x2004]}
        beside |= {"masked": [0, 1] * (n // 2) + [0] * (n % 2), "locked": [0] * n}
        if second:
            place = {"handler": 10, "task": 70}[lane]
            beside |= {second: [place + each for each in phase], f"{second}s": [3] * n}
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
    assert exact.coverage == "every one of 100 arrival instructions tried"


@pytest.mark.parametrize(
    ("second", "event", "premise"),
    [
        ("tick", "a tick", "one interrupt and one tick"),
        ("request", "another request", "two requests of one interrupt"),
        ("device", "a request of another device", "each of two devices"),
    ],
)
def test_of_pairs_all_count_and_the_worst_has_its_second(
    second: str, event: str, premise: str, tmp_path: Path
) -> None:
    result = analyse(run_of(tmp_path / "all", list(range(1, 101)), second=second))
    exact = result.records[0].structure(Population)
    assert exact is not None and exact.exhaustive
    assert (exact.pairs, exact.handler.second, exact.task.second) == (300, 110, 71)
    assert exact.coverage == f"every one of 300 pairs of an arrival and {event} tried"
    few = analyse(run_of(tmp_path / "few", list(range(1, 101, 11)), second=second))
    sparse = few.records[0].structure(Population)
    assert sparse is not None
    assert sparse.coverage == f"30 pairs of an arrival and {event} tried, in one instruction of 11"
    row = exact.row(result.records[0].unit)["arrivals"]
    at = [row[lane][f"worst_{second}"] for lane in ("handler", "task")]
    assert (row["pairs"], *at) == (300, 110, 71)
    table = table_of_arrivals(labelled([result]))
    assert table is not None and table.columns.count(f"{second} in") == 2
    assert any(premise in note for note in table.notes)


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
    assert exact.curve.last == 20_001
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
        ([1, 2, 3, 9, 10], 0, "5 of 10 arrival instructions tried, in 5 the core slept"),
        ([1, 2, 5], 2, "3 of 5 arrival instructions tried, 2 came to no end"),
        ([1, 11, 21], 0, "3 arrival instructions tried, one in 10"),
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


def test_few_arrivals_are_judged_by_what_they_have(tmp_path: Path) -> None:
    """Forty have no p99, and a maximum all the same."""
    phase = list(range(1, 41))
    before, after = run_of(tmp_path / "a", phase), run_of(tmp_path / "b", phase)
    judged = outcomes(compare_sides([before], [after]))
    assert set(judged) == {(lane, s) for lane in ("handler", "task") for s in ("median", "max")}
    assert set(judged.values()) == {("equivalent", True)}


@pytest.mark.parametrize(
    ("before", "after", "outcome", "reason"),
    [
        (range(1, 201, 10), range(1, 201, 10), "equivalent", "that were tried: 20 arrival"),
        (range(1, 201, 10), range(1, 21), "not-comparable", "in steps of 1 and of 10"),
        ((1,), (1,), "equivalent", "one arrival instruction tried"),
    ],
)
def test_steps_are_said_and_never_mixed(
    before: Iterable[int], after: Iterable[int], outcome: str, reason: str, tmp_path: Path
) -> None:
    runs = [run_of(tmp_path / n, list(p)) for n, p in (("a", before), ("b", after))]
    for point in compare_sides(runs[:1], runs[1:]).points:
        assert point.outcome == outcome and reason in point.reason


def test_sides_are_populations_or_none_is(tmp_path: Path) -> None:
    before, after = sides(tmp_path, 0)
    (entry,) = before.manifest.records
    entry.lanes = [lane for lane in entry.lanes if lane.name == "all"]
    for pair in ((before, after), (after, before)):
        points = compare_sides([pair[0]], [pair[1]]).points
        assert points and {point.outcome for point in points} <= {"context", "not-comparable"}


def test_runs_of_a_side_that_differ_have_only_a_largest(tmp_path: Path) -> None:
    before, after = sides(tmp_path, 80)
    result = compare_sides([before, after], [before, after], statistics=("mean",))
    judged = outcomes(result)
    assert judged["handler", "max"] == ("equivalent", True)
    assert judged["handler", "mean"] == ("inconclusive", False)


@pytest.mark.parametrize("phase", [[5, 5], [3, 2, 1]])
def test_arrivals_that_no_bench_wrote_have_no_structure(phase: list[int], tmp_path: Path) -> None:
    assert result_of(tmp_path, phase).structure(Population) is None


def test_a_lane_without_what_its_arrivals_met_has_no_structure(tmp_path: Path) -> None:
    for lane in ARRIVALS:
        run = run_of(tmp_path / lane, list(range(1, 101)))
        (entry,) = run.manifest.records
        entry.lanes = [each for each in entry.lanes if each.name != f"{lane}:pc"]
        assert Population.of(run, entry) is None


def test_a_limit_of_a_maximum_says_that_all_were_tried(tmp_path: Path) -> None:
    run = run_of(tmp_path, list(range(1, 101)))
    limits = [parse_limit(f"critical/* max <= {most} instructions") for most in (1000, 100)]
    checks = [c for c in gate([run], [], limits=limits).checks if c.lane != "all"]
    assert {check.outcome for check in checks} == {"pass", "fail"}
    assert not any("independent" in check.reason for check in checks)


def test_a_report_draws_the_worst_where_it_is(tmp_path: Path) -> None:
    """In runs longer than a curve has cells, too."""
    phase = list(range(1, 7001))
    folders = [run_of(tmp_path / name, phase, longer=80).path for name in ("a", "b")]
    page = tmp_path / "page.html"
    answer = kadenz("report", *map(str, folders), "-o", str(page), "--figures", str(tmp_path / "f"))
    assert answer.returncode == 0, answer.stderr
    text = page.read_text()
    assert "The worst moment for an interrupt" in text and "within 0 %" not in text
    drawings = [file.read_text() for file in (tmp_path / "f").glob("*worst*.svg")]
    assert len(drawings) == 2
    for drawing in drawings:
        assert "from instruction 7,000" in drawing and "interrupts off" in drawing


def test_maxima_of_which_some_are_missing_are_not_judged(tmp_path: Path) -> None:
    before, after = sides(tmp_path, 80, missed=3)
    result = compare_sides([before], [after])
    assert {point.outcome for point in result.points} == {"context"}
    assert all("came to no end" in point.reason for point in result.points)


def by_timer(path: Path, phase: list[int], *, step: int, exact: bool) -> Run:
    """A run whose arrivals a timer of the board raised, one of its ticks being two of the clock."""
    run = run_of(path, phase)
    (entry,) = run.manifest.records
    kept = [lane for lane in entry.lanes if lane.name.partition(":")[2] in ("", "phase")]
    entry.lanes, entry.functions = kept, {}
    entry.raised = RaisedEntry(by="tim", resolution=2, step=step, exact=exact)
    return run


def test_a_sweep_by_a_timer_has_extremes_and_says_what_it_may_miss(tmp_path: Path) -> None:
    run = by_timer(tmp_path, [5, 16, 27, 27, 37], step=5, exact=False)
    seen = Population.of(run, run.manifest.records[0])
    assert seen is not None and not seen.exhaustive and not seen.is_exact
    assert (seen.tried, seen.step, seen.asleep, seen.handler.function) == (5, 10, 0, "")
    assert "(`tim`, 10 instructions later each time)" in seen.premise
    assert "a handler may be later by up to 10 instructions" in seen.premise
    assert "a task by more" in seen.premise
    assert not seen.curve.masked and not seen.curve.locked and not seen.curve.functions


def test_arrivals_by_a_timer_are_a_population_only_if_each_phase_was_tried_once(
    tmp_path: Path,
) -> None:
    for exact in (False, True):
        run = by_timer(tmp_path / str(exact), list(range(1, 9)), step=1, exact=exact)
        (entry,) = run.manifest.records
        assert has_population(entry) == exact
        entry.series[1].not_measured = 3
        assert bool(unjudged(entry)) == exact


def test_the_table_of_a_timer_has_no_function_and_speaks_of_no_population(tmp_path: Path) -> None:
    run = by_timer(tmp_path, [2, 4, 6], step=1, exact=False)
    table = table_of_arrivals(labelled([analyse(run)]))
    assert table is not None
    assert [cell.text for cell in table.rows[0]][7] == "–"
    assert not any("population" in note for note in table.notes)
