# SPDX-License-Identifier: Apache-2.0
"""A comparison closes with lines: by how much one system is ahead, or that nothing decides."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.answers import MOST_PAIRS, answer
from kadenz.analysis.margins import Between, margins
from kadenz.cli import cli
from kadenz.cli.run_summary import write_tables
from kadenz.config.manifest import ClockEntry
from kadenz.report import digits
from kadenz.report.margins import NOT_THE_SAME, lines
from kadenz.store import Run, read_run
from tests.report.test_page import Html
from tests.report.test_standings import kernels, loaded, points_of
from tests.synthetic import EMULATED_CLOCK, HIFIVE1, LINUX, STM32F4, manifest, write_run


def margins_of(runs: Sequence[Run]) -> tuple[Between, ...]:
    return margins(answer(runs, [analyse(run) for run in runs]))


def closing(runs: Sequence[Run]) -> list[str]:
    of = answer(runs, [analyse(run) for run in runs])
    return lines(margins(of), [variant.letter for variant in of.variants])


def called(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(word) for word in arguments], env={"COLUMNS": "200"})
    assert result.exit_code in (0, 3, 4), result.output
    return result.stdout


def test_counted_figures_have_an_exact_factor_and_no_interval(tmp_path: Path) -> None:
    runs = kernels(
        tmp_path,
        {"micro/a": 100, "micro/b": 90, "itc/queue": (856, 1126)},
        {"micro/a": 170, "micro/b": 60, "itc/queue": (1151, 2907)},
        {"micro/a": 104, "micro/b": 91, "itc/queue": (856, 1126)},
    )
    assert closing(runs) == [
        "A takes 1.70 times fewer instructions than B (micro/a, median; the largest of 2 "
        "differences)",
        "B takes 1.50 times fewer instructions than A (micro/b, median)",
        "No benchmark decides between A and C: 3 equal within 5 %.",
    ]
    two = closing(runs[:2])
    assert two == closing(runs)[:2]
    assert (
        "(itc/queue, 4 bytes, median)"
        in closing(kernels(tmp_path / "sizes", {"itc/queue": (10, 20)}, {"itc/queue": (20, 30)}))[0]
    )


def test_times_have_the_ratio_and_the_interval_of_their_comparison(tmp_path: Path) -> None:
    """±, or both ends where they are not equally far; as `kadenz compare` has them."""
    folder = tmp_path / "rounds"
    runs = loaded(folder, 5, {"none": 20_000.0, "disk": 23_000.0})
    (line,) = closing(runs)
    said = re.fullmatch(r"A is ([\d.]+) ± ([\d.]+) times faster than B \(itc/mutex, median\)", line)
    assert said is not None, line
    compared = json.loads(called("compare", folder, "--json"))
    (point,) = (candidate for candidate in compared["points"] if candidate["statistic"] == "median")
    assert float(said[1]) == pytest.approx(1.0 + point["change"], abs=5e-4)
    far = max(point["change_high"] - point["change"], point["change"] - point["change_low"])
    assert float(said[2]) == pytest.approx(far, rel=0.05)
    (largest,) = compared["margins"][0]["largest"]
    assert (largest["ahead"], largest["behind"], largest["unit"]) == ("A", "B", "us")
    assert largest["factor_low"] == 1.0 + point["change_low"]
    assert largest["factor_high"] == 1.0 + point["change_high"]


def test_the_factor_of_the_second_system_is_the_reciprocal(tmp_path: Path) -> None:
    (between,) = margins_of(loaded(tmp_path, 5, {"none": 60_000.0, "disk": 20_000.0}))
    (margin,) = between.margins
    compared = json.loads(called("compare", tmp_path, "--json"))
    (point,) = (candidate for candidate in compared["points"] if candidate["statistic"] == "median")
    assert (margin.ahead, margin.behind) == (1, 0)
    ends = ("change", "change_high", "change_low")
    assert margin.factor == pytest.approx([1.0 / (1.0 + point[end]) for end in ends])


def test_an_undecided_comparison_says_so(tmp_path: Path) -> None:
    once = loaded(tmp_path, 1, {"none": 20_000.0, "disk": 90_000.0})
    assert closing(once) == ["No benchmark decides between A and B: 1 undecided."]


def test_cycles_are_fewer_and_other_units_are_lower(tmp_path: Path) -> None:
    clock: ClockEntry = msgspec.structs.replace(
        EMULATED_CLOCK, clock_class="cycle-exact", unit="cycle"
    )
    runs: dict[str, list[Run]] = {"micro/a": [], "motion/b": []}
    for number, median in enumerate((100, 150)):
        target = {**STM32F4, "name": f"kernel{number}/stm32f4@rtl"}
        for bench, of_bench in runs.items():
            (point,) = points_of({bench: median})
            point.unit = "deg" if bench == "motion/b" else point.unit
            document = manifest(target, clock=clock, id=f"run-{number}")
            of_bench.append(read_run(write_run(tmp_path / bench, document, [point])))
    cycles, degrees = runs.values()
    assert closing(cycles) == ["A takes 1.50 times fewer cycles than B (micro/a, median)"]
    assert closing(degrees) == ["A is 1.50 times lower than B (motion/b, median)"]


def test_a_figure_of_zero_has_no_factor(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"micro/a": 0}, {"micro/a": 5}, {"micro/a": 0})
    assert closing(runs) == [
        "A takes fewer instructions than B (micro/a, median)",
        "No benchmark decides between A and C: 1 equal within 5 %.",
    ]


def test_systems_without_a_common_unit_or_benchmark_are_not_compared(tmp_path: Path) -> None:
    units = [
        read_run(write_run(tmp_path, manifest(target), points_of({"micro/a": 4})))
        for target in (HIFIVE1, STM32F4, LINUX)
    ]
    assert closing(units) == ["No two of these systems share a unit: nothing is compared."]
    apart = kernels(tmp_path / "apart", {"micro/a": 4}, {"micro/b": 4})
    assert closing(apart) == ["A and B have no benchmark that can be compared."]
    absent = kernels(tmp_path / "absent", {"micro/a": 4}, {"micro/a": "no a"}, {"micro/a": "no a"})
    assert closing(absent)[1] == "A and C have no benchmark that can be compared."
    assert closing(kernels(tmp_path / "one", {"micro/a": 4})) == []


def test_a_figure_with_a_note_is_ahead_of_nothing(tmp_path: Path) -> None:
    runs = kernels(tmp_path, {"micro/a": 3}, {"micro/a": 30}, {"micro/a": 40})
    runs[1].manifest.benchmark_notes["micro/a"] = "it shows the grid of a timer."
    assert closing(runs) == [
        "A and B have no benchmark that can be compared.",
        "A takes 13.3 times fewer instructions than C (micro/a, median)",
    ]


def test_many_systems_have_a_line_each_and_the_rest_is_counted(tmp_path: Path) -> None:
    runs = kernels(tmp_path, *({"micro/a": 100 + 10 * n} for n in range(12)))
    said = closing(runs)
    assert len(said) == MOST_PAIRS + 1 and said[-1] == "The table has 5 more systems."


def test_unlike_work_is_marked_between_the_two_that_differ(tmp_path: Path) -> None:
    medians = {"micro/task-switch": 3}, {"micro/task-switch": 4}, {"micro/task-switch": 5}
    runs = kernels(tmp_path, *medians)
    for run in runs:
        run.manifest.records[0].ends = "return of the other task"
    runs[2].manifest.target.capabilities = ["tick-due"]  # none by which a thread blocks
    assert ["‡" in line for line in closing(runs)] == [False, True]
    assert ["‡" in line for line in closing([runs[0], runs[2]])] == [True]
    runs[1].manifest.records[0].ends = "return of its own task"
    assert ["‡" in line for line in closing(runs[:2])] == [True]


def test_compare_explains_the_mark(tmp_path: Path) -> None:
    folders = []
    for number, ends in enumerate(("return of the other", "return of its own")):
        (run,) = kernels(tmp_path / str(number), {"micro/a": 3 + number})
        document = run.manifest
        document.records[0].ends = ends
        (run.path / "run.json").write_bytes(msgspec.json.encode(document))
        folders.append(run.path)
    assert called("compare", *folders).splitlines()[-2:] == [
        "A takes 1.33 times fewer instructions than B (micro/a ‡, median)",
        NOT_THE_SAME,
    ]


def test_without_a_median_the_statistic_that_was_asked_for_decides(tmp_path: Path) -> None:
    loaded(tmp_path, 5, {"none": 20_000.0, "disk": 90_000.0})
    last = called("compare", tmp_path, "--statistic", "p99").splitlines()[-1]
    assert last.startswith("A is ") and last.endswith("times faster than B (itc/mutex, p99)")


def test_the_target_is_named_where_several_are_compared(tmp_path: Path) -> None:
    sides: list[list[object]] = [[], []]
    for number, target in enumerate((HIFIVE1, STM32F4)):
        for side, name in enumerate(("before", "after")):
            points = points_of({"micro/a": 100 * (1 + side * (1 + number))})
            document = manifest(target, id=f"{name}-{number}")
            sides[side].append(write_run(tmp_path / name, document, points))
    last = called("compare", tmp_path / "before", tmp_path / "after").splitlines()[-1]
    assert last == (
        "A takes 3.00 times fewer instructions than B (freertos/stm32f4@emulated (counter), "
        "micro/a, median; the largest of 2 differences)"
    )


def test_run_show_and_the_page_close_with_the_same_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = kernels(tmp_path, {"micro/a": 3, "micro/b": 9}, {"micro/a": 5, "micro/b": 8})
    said = closing(runs)
    assert len(said) == 2
    write_tables([run.path for run in runs])
    assert capsys.readouterr().out.splitlines()[-2:] == said
    assert called("show", tmp_path).splitlines()[-2:] == said
    assert called("compare", *(run.path for run in runs)).splitlines()[-2:] == said
    called("report", tmp_path, "-o", tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    Html(text)
    assert f'<ul class="margins">{"".join(f"<li>{line}</li>" for line in said)}</ul>' in text


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        ((1.1, 1.08, 1.12), "1.100 ± 0.020"),
        ((120.0, 105.0, 137.0), "120 ± 17"),
        ((14.0, 9.0, 21.0), "14.0 [9.00, 21.0]"),
        ((2.0, 1.1, float("inf")), "2.00 [1.10, …]"),
        ((1.7, 1.7, 1.7), "1.70"),
        ((1234.5, 1234.5, 1234.5), "1,230"),
    ],
)
def test_a_factor_shows_its_interval(ratio: tuple[float, float, float], said: str) -> None:
    assert digits.factor(*ratio) == said
