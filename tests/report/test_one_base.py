# SPDX-License-Identifier: Apache-2.0
"""A change has one base wherever it is printed: the baseline, whichever side is ahead."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.archive.adding import add
from kadenz.archive.place import open_archive
from kadenz.cli import cli
from kadenz.store import read_run
from tests.report.test_standings import points_of
from tests.synthetic import STM32F4, manifest, write_run

UP, DOWN = "9.11", "8.35"  # 10,000 and 10,911: the change of the one to the other, and back
SIDES = {UP: (10_000, 10_911), DOWN: (10_911, 10_000)}
# Percentages that are no change: threshold, confidence, superiority.
_OTHERS = {"5", "95", "100", "0"}
Sides = Callable[[str], list[Path]]


def percentages(text: str) -> set[str]:
    """Every percentage of a text, without its sign."""
    return set(re.findall(r"(\d[\d,]*\.?\d*)\s?%", text)) - _OTHERS


def called(*arguments: object, columns: int = 200) -> str:
    result = CliRunner().invoke(
        cli, [str(word) for word in arguments], env={"COLUMNS": str(columns)}
    )
    assert result.exit_code in (0, 3), result.output
    return result.stdout


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    def written(change: str) -> list[Path]:
        start = datetime(2026, 11, 1, tzinfo=UTC)
        folders = []
        for number, median in enumerate(SIDES[change]):
            document = manifest(STM32F4, id=f"run-{number}")
            document.created = (start + timedelta(days=number)).isoformat()
            medians = {"micro/a": median, "micro/b": 2 * median, "micro/c": 3 * median}
            folders.append(write_run(tmp_path / "runs", document, points_of(medians)))
        return folders

    return written


@pytest.mark.parametrize("change", [UP, DOWN])
@pytest.mark.parametrize("columns", [60, 200])
def test_compare(sides: Sides, change: str, columns: int) -> None:
    arguments = [*sides(change), "--statistic", "median"]
    assert percentages(called("compare", *arguments, columns=columns)) == {change}
    for point in json.loads(called("compare", *arguments, "--json"))["points"]:
        assert f"{100.0 * abs(point['change']):.2f}" == change


@pytest.mark.parametrize("change", [UP, DOWN])
def test_gate(sides: Sides, change: str, tmp_path: Path) -> None:
    before, after = sides(change)
    files = {"--summary": tmp_path / "summary.md", "--junit": tmp_path / "gate.xml"}
    arguments = ["gate", after, "--against", before, "--max-worse", "5%"]
    arguments += [word for item in files.items() for word in item]
    failed = {change} if change == UP else set()  # the terminal has the checks that did not pass
    assert percentages(called(*arguments)) == failed
    assert percentages(called(*arguments, "--json")) == {change}
    for file in files.values():
        assert percentages(file.read_text()) == {change}, file


@pytest.mark.parametrize("change", [UP, DOWN])
def test_show_and_the_report(sides: Sides, change: str, tmp_path: Path) -> None:
    """The sentences of at most two points, and those that are counted."""
    folders = sides(change)
    for folder in folders:  # two points: each has its sentence
        document = json.loads((folder / "run.json").read_text())
        document["records"] = document["records"][:2]
        (folder / "run.json").write_text(json.dumps(document))
    word = "higher" if change == UP else "lower"
    assert f"B’s median is {change} % {word}" in called("show", *folders)
    assert percentages(called("show", *folders)) == {change}
    called("report", *folders, "-o", tmp_path / "r.html", "--tables", tmp_path / "tables")
    page = (tmp_path / "r.html").read_text()
    page = page[page.index('<section class="answer"') : page.index('id="method"')]
    page = re.sub(r"<style.*?</style>|<svg.*?</svg>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert percentages(html.unescape(page)) == {change}
    assert percentages((tmp_path / "tables" / "tables.md").read_text()) <= {change}


@pytest.mark.parametrize("change", [UP, DOWN])
def test_history(sides: Sides, change: str, tmp_path: Path) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    for folder in sides(change):
        add(place, read_run(folder), label="main")
    said = called("history", "--archive", place.text)
    assert percentages(said) == {change} and said.count(f"{change} %") == 3
    for series in json.loads(called("history", "--archive", place.text, "--json")):
        (step,) = series["steps"]
        assert f"{100.0 * abs(step['after'] / step['before'] - 1.0):.2f}" == change
