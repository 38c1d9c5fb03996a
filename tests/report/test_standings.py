# SPDX-License-Identifier: Apache-2.0
"""A report of several systems opens with one table: who is quickest at what, what is unknown."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.answers import answer
from kadenz.analysis.comparing import THRESHOLD
from kadenz.analysis.standings import Group
from kadenz.cli import cli
from kadenz.config.manifest import Status
from kadenz.config.params import Params
from kadenz.report import page as pages
from kadenz.report.render import render
from kadenz.report.standings import standings
from kadenz.report.svg.symbols import symbol
from kadenz.store import Run, read_run
from tests import browser
from tests.report.test_page import Html
from tests.synthetic import HIFIVE1, LINUX, STM32F4, Point, manifest, under, write_run

Medians = Mapping[str, int | tuple[int, ...] | str]  # by benchmark; a word is the reason for none
FEW = np.empty(0, np.uint32)


def points_of(medians: Medians) -> list[Point]:
    """A tuple has the medians of messages of 4, 8, … bytes."""
    points = []
    for bench, value in medians.items():
        if isinstance(value, str):
            status: Status = "n/a" if value.startswith("no ") else "failed"
            points.append(Point(bench, {"all": FEW}, status=status, reason=value))
            continue
        for place, median in enumerate(value if isinstance(value, tuple) else (value,), 1):
            params: Params = {"size_bytes": 4 * place} if isinstance(value, tuple) else {"rank": 7}
            points.append(Point(bench, {"all": np.full(50, median, np.uint32)}, params))
    return points


def kernels(folder: Path, *medians: Medians, names: Sequence[str] = ()) -> list[Run]:
    """A run of each kernel on one emulated board; `names` are theirs."""
    runs = []
    for number, of in enumerate(medians):
        name = names[number] if names else f"kernel{number}"
        target = {**STM32F4, "name": f"{name}/stm32f4@emulated", "kernel": f"kernel{number}"}
        document = manifest(target, id=f"run-{number:02}")
        runs.append(read_run(write_run(folder, document, points_of(of))))
    return runs


def groups_of(runs: Sequence[Run]) -> tuple[Group, ...]:
    return answer(runs, [analyse(run) for run in runs]).groups


def page_of(runs: Sequence[Run]) -> pages.Page:
    results = [analyse(run) for run in runs]
    return pages.build(
        results,
        [],
        title="A report",
        created="2026-11-21T10:30:00Z",
        version="0.1.0",
        standings=standings(answer(runs, results), results),
    )


def kinds(page: pages.Page, group: int = 0) -> dict[str, list[str]]:
    """The class of each cell, by benchmark."""
    lines = page.standings[group].lines
    return {line.bench: [field.kind for field in line.fields] for line in lines}


def test_the_quickest_is_bold_and_what_differs_by_less_than_the_threshold_is_grey(
    tmp_path: Path,
) -> None:
    runs = kernels(
        tmp_path,
        {"micro/a": 100, "micro/b": 90, "micro/c": 1000, "clock/read-cost": 1},
        {"micro/a": 110, "micro/b": 80, "micro/c": 1049, "clock/read-cost": 2},
        {"micro/a": 120, "micro/b": 85, "micro/c": 1100},
    )
    assert THRESHOLD == 0.05
    page = page_of(runs)
    assert kinds(page) == {
        "micro/a": ["best", "", ""],
        "micro/b": ["", "best", ""],
        "micro/c": ["near", "near", ""],
    }
    assert page.standings[0].answer == (
        "A (kernel0/stm32f4@emulated) is quickest at 1 of 3 benchmarks: micro/a. "
        "B (kernel1/stm32f4@emulated) is quickest at 1 of 3 benchmarks: micro/b. "
        "No single one at 1 of 3 benchmarks: micro/c."
    )
    rows = {row[0]: row for row in Html(render(page)).tables["systems"][1:]}
    assert [text.strip() for text in rows["micro/c"][1:]] == ["1,000", "1,049", "1,100"]
    assert "path length, not time" in page.standings[0].decides


def test_a_benchmark_counts_once_whatever_its_points_and_only_with_one_order_at_all(
    tmp_path: Path,
) -> None:
    runs = kernels(
        tmp_path,
        {"itc/queue": (100, 200, 300), "itc/stream-buffer": (100, 300), "micro/a": 9},
        {"itc/queue": (200, 300, 400), "itc/stream-buffer": (200, 200), "micro/a": 8},
        {"itc/queue": (200, 300, 400), "itc/stream-buffer": (200, 200), "micro/a": 7},
    )
    (group,) = groups_of(runs)
    assert group.wins() == [(0, ("itc/queue",)), (2, ("micro/a",))]
    rows = {row.bench: row for row in group.rows}
    assert rows["itc/stream-buffer"].divided and rows["itc/stream-buffer"].best is None
    points = {line.bench: line.point for line in page_of(runs).standings[0].lines}
    assert points == {
        "itc/queue": "4 bytes; 3 points agree",
        "itc/stream-buffer": "4 bytes; the order depends on the point (2)",
        "micro/a": "",
    }


def test_a_missing_figure_has_its_sentence_on_hover_and_below_the_table(tmp_path: Path) -> None:
    runs = kernels(
        tmp_path,
        {"itc/mutex": 5, "itc/pipe": "no pipes here", "micro/a": 3},
        {"itc/mutex": "no thread blocks on it", "itc/pipe": "no pipes here", "micro/a": 4},
        {"itc/mutex": "the proof failed", "micro/a": 5},
    )
    page = page_of(runs)
    text = render(page)
    cells = re.findall(r'<td class="n (na|bad)"[^>]* title="([^"]*)">([^<]*)<', text)
    assert cells == [
        ("na", "no thread blocks on it", "n/a"),
        ("bad", "the proof failed", "failed"),
    ]
    assert page.standings[0].lacks == (
        "A and B at itc/pipe: n/a, no pipes here.",
        "B at itc/mutex: n/a, no thread blocks on it.",
        "C at itc/mutex: failed, the proof failed.",
    )
    assert "itc/pipe" not in kinds(page)  # a row without any figure is only a sentence
    assert re.search(r"@media print\{.*details::details-content\{content-visibility:visible", text)


def test_rows_of_unlike_work_are_marked_and_explained_once(tmp_path: Path) -> None:
    medians = {"micro/task-switch": 3, "irq/to-handler": 2, "micro/yield": 5}
    runs = kernels(tmp_path, medians, medians, medians)
    for run in runs[1:]:
        run.manifest.target.capabilities = ["tick-due"]  # none by which a thread blocks
    for run in runs:
        for record in run.manifest.records:
            record.begins = "before the interrupt is raised"
            record.ends = "first statement of the handler"
            if record.bench.startswith("micro/"):
                record.ends = "return of the other task"
            if record.bench == "micro/yield" and run is runs[2]:
                record.ends = "return of its own task"
    (group,) = groups_of(runs)
    assert {row.bench: row.unlike for row in group.rows} == {
        "micro/task-switch": True,
        "irq/to-handler": False,
        "micro/yield": True,
    }
    (note,) = page_of(runs).standings[0].footnotes
    assert note == (
        "‡ Not the same work. Threads (A) have a stack and block in a call; tasks of an executor "
        "(B and C) have none and await. micro/yield is timed from before the interrupt is raised "
        "to return of the other task (A and B); from before the interrupt is raised to return of "
        "its own task (C)."
    )
    assert render(page_of(runs)).count("‡ Not the same work") == 1


def test_a_capture_which_names_no_capability_is_not_taken_for_an_executor(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"micro/a": 3}, {"micro/a": 3})
    runs[1].manifest.target.capabilities = []
    assert not groups_of(runs)[0].rows[0].unlike


def test_systems_of_other_units_are_folded_groups_without_a_verdict(tmp_path: Path) -> None:
    runs = kernels(tmp_path / "armv7m", {"micro/a": 3}, {"micro/a": 5})
    for target in (HIFIVE1, LINUX):
        document = manifest(target)
        runs.append(read_run(write_run(tmp_path / "others", document, points_of({"micro/a": 4}))))
    page = page_of(runs)
    assert [group.title for group in page.standings] == [
        "Median, instructions of armv7m",
        "Median, instructions of riscv",
        "Median, µs · hosted",
    ]
    assert [kinds(page, group)["micro/a"] for group in range(3)] == [["best", ""], [""], [""]]
    text = render(page)
    assert text.count('<details class="others">') == 2 and "without a verdict" not in text
    for group in page.standings[1:]:
        assert "nothing here is compared" in group.decides


def loaded(folder: Path, rounds: int, centres: Mapping[str, float]) -> list[Run]:
    """Rounds of this Linux under several loads, each with its typical latency in ns."""
    rng = np.random.default_rng(4)
    runs = []
    for number in range(1, rounds + 1):
        for place, (load, centre) in enumerate(centres.items(), 1):
            document = msgspec.structs.replace(
                manifest(LINUX, id=f"{number}-{place}-{load}"),
                variant=f"load {load}",
                round=number,
                place=place,
                conditions=under(load=load),
            )
            values = (centre * rng.lognormal(0.0, 0.05, 2000)).astype(np.uint32)
            point = Point("itc/mutex", {"all": values})
            runs.append(read_run(write_run(folder, document, [point])))
    return runs


def test_times_are_decided_by_their_intervals_and_not_by_their_order(tmp_path: Path) -> None:
    centres = {"none": 20_000.0, "cpu": 90_000.0, "disk": 60_000.0}
    (group,) = groups_of(loaded(tmp_path / "rounds", 4, centres))
    assert not group.exact and group.wins() == [(0, ("itc/mutex",))]
    once = loaded(tmp_path / "once", 1, centres)
    (alone,) = groups_of(once)
    assert alone.wins() == [] and alone.rows[0].near == frozenset()
    (shown,) = page_of(once).standings
    assert "Order alone decides nothing" in shown.decides
    assert shown.answer == "No single one at 1 of 1 benchmark: itc/mutex."


def test_two_that_beat_the_first_have_no_winner_without_a_comparison_of_both(
    tmp_path: Path,
) -> None:
    centres = {"none": 90_000.0, "cpu": 20_000.0, "disk": 30_000.0}
    (group,) = groups_of(loaded(tmp_path, 4, centres))
    assert group.rows[0].best is None


def test_a_figure_with_a_note_is_marked_and_not_judged(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"micro/a": 3}, {"micro/a": 30}, {"micro/a": 40})
    runs[0].manifest.benchmark_notes["micro/a"] = "it shows the grid of a timer."
    page = page_of(runs)
    assert kinds(page) == {"micro/a": ["", "best", ""]}
    assert page.standings[0].lines[0].fields[0].text == "3 †"
    assert page.standings[0].footnotes == (
        "† Not judged: A at micro/a: it shows the grid of a timer.",
    )


def test_one_system_and_two_sides_of_a_change_have_no_table(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"micro/a": 3})
    assert groups_of(runs) == ()
    edited = manifest({**STM32F4, "name": runs[0].manifest.target.name}, id="edited")
    runs.append(read_run(write_run(tmp_path, edited, points_of({"micro/a": 4}))))
    results = [analyse(run) for run in runs]
    of = answer(runs, results)
    assert of.groups == () and len(of.pairs) == 1
    assert render(page_of(runs)).count('class="standing"') == 0
    assert page_of(runs).cards[0].headlines == page_of(runs[:1]).cards[0].headlines


def test_the_table_of_the_page_is_that_of_the_files(tmp_path: Path) -> None:
    kernels(
        tmp_path / "runs",
        {"itc/queue": (100, 200), "itc/mutex": 7},
        {"itc/queue": (150, 260), "itc/mutex": "no mutex"},
        {"itc/queue": (160, 270), "itc/mutex": 8},
    )
    command = ["report", tmp_path / "runs", "-o", tmp_path / "r.html", "--tables", tmp_path / "t"]
    result = CliRunner().invoke(cli, [str(word) for word in command], standalone_mode=False)
    assert result.exception is None
    with (tmp_path / "t" / "systems.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [f"{letter} kernel{n}/stm32f4@emulated" for n, letter in enumerate("ABC")]
    assert [[row[name] for name in names] for row in rows] == [
        ["100.0", "150.0", "160.0"],
        ["7.0", "n/a: no mutex", "8.0"],
    ]
    assert [(row["Point"], row["Unit"], row["Quickest"]) for row in rows] == [
        ("4 bytes", "instructions", "A"),
        ("", "instructions", "A"),
    ]
    shown = Html((tmp_path / "r.html").read_text()).tables["systems"][1:]
    assert [[text.strip() for text in row[1:]] for row in shown] == [
        ["100", "150", "160"],
        ["7", "n/a", "8"],
    ]


# ---- bad input ---------------------------------------------------------------------------------


def test_reports_of_no_run_say_so(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["report", str(tmp_path)], standalone_mode=False)
    assert result.exception is not None and "no run" in str(result.exception)


@pytest.mark.parametrize("count", [2, 12, 40])
def test_many_systems_stand_in_blocks_with_every_figure_once(tmp_path: Path, count: int) -> None:
    runs = kernels(tmp_path, *({"micro/a": 100 + 10 * n} for n in range(count)))
    page = page_of(runs)
    (group,) = page.standings
    assert [place for block in group.blocks for place in block] == list(range(count))
    assert max(map(len, group.blocks)) - min(map(len, group.blocks)) <= 1
    assert kinds(page)["micro/a"][0] == "best"
    text = render(page)
    for number in range(count):
        assert len(re.findall(rf'title="median {100 + 10 * number},', text)) == 1
    Html(text)


@pytest.mark.parametrize(
    "word", ["n" * 200, "<script>alert(1)</script>", "a\u202eb", "'\"&", "[x](http://y)"]
)
def test_a_name_of_others_stays_text(tmp_path: Path, word: str) -> None:
    sane = "kernel0"
    run, *others = kernels(tmp_path, {"micro/a": 1}, {"micro/a": 2}, {"micro/a": 3})
    run.manifest.target.name = word
    text = render(page_of([run, *others]))
    assert escape(word, quote=False) in text.replace("&#34;", '"').replace("&#39;", "'")
    assert "<script>alert" not in text and sane not in page_of([run, *others]).standings[0].answer
    Html(text)


def test_only_figures_that_are_not_there_make_one_clear_sentence(tmp_path: Path) -> None:
    for place, reason in enumerate(("no pipes here", "the proof failed")):
        runs = kernels(tmp_path / str(place), *({"itc/pipe": reason} for _ in range(3)))
        (group,) = page_of(runs).standings
        assert group.lines == () and group.answer == ""
        assert group.decides.endswith("None of these systems has a figure.")
        assert len(group.lacks) == 1 and reason in group.lacks[0]
        assert '<table class="standing' not in render(page_of(runs))


def test_a_run_that_was_stopped_is_not_what_the_others_are_compared_with(tmp_path: Path) -> None:
    stopped, first, other = kernels(
        tmp_path, {"micro/a": 9}, {"micro/a": 3, "micro/b": 5}, {"micro/a": 4, "micro/b": 7}
    )
    stopped.manifest.partial = True
    (group,) = page_of([stopped, first, other]).standings
    assert [system.letter for system in group.systems] == ["B", "C", "A"]
    assert [line.fields[0].kind for line in group.lines] == ["best", "best"]
    assert group.lines[1].fields[2].tooltip == "the run was stopped before it"
    assert group.picture is not None and group.picture.svg.count("micro/") >= 2


def test_a_figure_of_zero_divides_nothing(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"micro/a": 0}, {"micro/a": 0}, {"micro/a": 1})
    assert kinds(page_of(runs)) == {"micro/a": ["near", "near", ""]}


def test_show_prints_the_table_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    medians: list[Medians] = [{"micro/a": 100 + 9 * n, "itc/pipe": "no pipe"} for n in range(7)]
    runs = kernels(tmp_path, *medians)
    command = ["show", *(str(run.path) for run in runs)]
    printed = CliRunner().invoke(cli, command, standalone_mode=False).stdout
    table = printed[printed.index("Median, instructions of armv7m") :]
    assert "A kernel0/stm32f4@emulated, FreeRTOS V11.2.0" in table
    rows = [line.split()[1:] for line in table.splitlines() if line.startswith("micro/a")]
    assert rows == [["100", "109", "118"], ["127", "136", "145", "154"]]
    answer_ = page_of(runs).standings[0].answer
    assert answer_ in " ".join(table.split()) and "quickest at 1 of 1 benchmark" in answer_
    assert max(map(len, table.splitlines())) <= 80


# ---- the picture, and the page as it is seen ----------------------------------------------------


def test_the_picture_has_a_symbol_for_each_ratio_to_the_first(tmp_path: Path) -> None:
    runs = kernels(
        tmp_path,
        {"micro/a": 100, "micro/b": 50, "itc/mutex": "no mutex"},
        {"micro/a": 200, "micro/b": "no form", "itc/mutex": 7},
        {"micro/a": 50, "micro/b": 100, "itc/mutex": 9},
    )
    picture = page_of(runs).standings[0].picture
    assert picture is not None
    names = [f"{letter} kernel{n}/stm32f4@emulated" for n, letter in enumerate("ABC")]
    assert picture.description == (
        f"Ratios. micro/a: {names[0]} 1.000, {names[1]} 2.000, {names[2]} 0.500; "
        f"micro/b: {names[0]} 1.000, {names[2]} 2.000."  # without A at itc/mutex there is no ratio
    )
    marks = ET.fromstring(picture.svg).findall(".//{*}title/..")[1:]
    assert [mark.tag.partition("}")[2] for mark in marks] == [
        *("circle", "polygon", "polygon"),
        *("circle", "polygon"),
    ]
    x = [float(mark.get("cx") or _middle(mark.get("points") or "")) for mark in marks[:3]]
    assert x[1] - x[0] == pytest.approx(x[0] - x[2], abs=0.2)  # twice and half: a log axis
    assert page_of(runs).all_plots[0] is not None and picture.name == "systems-ratios"


def _middle(points: str) -> float:
    xs = [float(pair.split(",")[0]) for pair in points.split()]
    return (min(xs) + max(xs)) / 2


def test_forty_systems_have_forty_symbols() -> None:
    drawn = {symbol(number, 0.0, 0.0) for number in range(40)}
    assert len(drawn) == 40


def test_without_a_second_figure_there_is_no_picture(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"micro/a": 1}, {"micro/b": 2}, {"micro/a": "no form"})
    assert page_of(runs).standings[0].picture is None


BENCHES = [f"micro/{name}-of-a-long-name" for name in "abcdefghijkl"]
MEASURE = """JSON.stringify([document.documentElement.scrollWidth - innerWidth,
...[...document.querySelectorAll('.standing td, .standing th')].filter(cell =>
    cell.clientWidth && cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.textContent)])"""


@pytest.mark.skipif(not browser.program(), reason="no Chromium")
@pytest.mark.parametrize("count", [2, 3, 12, 40])
def test_nothing_is_cut_at_either_width_and_print_is_four_pages(tmp_path: Path, count: int) -> None:
    medians: list[Medians] = [
        {bench: 1_234_567 + 90_000 * (n + at) for at, bench in enumerate(BENCHES)}
        for n in range(count)
    ]
    runs = kernels(tmp_path, *medians, names=["n" * 200, *(f"kernel{n}" for n in range(1, count))])
    file = tmp_path / "report.html"
    file.write_text(render(page_of(runs)))
    with browser.browser() as page:
        for width in (1280, 390):
            page.open(file)
            page.picture(tmp_path / "page.png", width, 900)
            assert page.value(MEASURE) == "[0]"
        assert page.printed() <= 4
