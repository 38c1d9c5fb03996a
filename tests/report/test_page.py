# SPDX-License-Identifier: Apache-2.0
"""The page has correct figures, is one small file without network access, and shows its gaps."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse, published
from kadenz.report import page as pages
from kadenz.report import write_figures, write_page, write_tables
from kadenz.report.render import MAX_BYTES, render
from kadenz.report.table import Cell, Table, markdown, to_csv
from kadenz.report.views import Detail
from kadenz.store import read_run
from kadenz.visible_text import spreadsheet_cell
from tests.synthetic import (
    HIFIVE1,
    LINUX,
    STM32F4,
    Point,
    board_points,
    linux_points,
    manifest,
    nanoseconds,
    write_run,
)

VOID = {"meta", "link", "br", "img", "hr", "input", "wbr"}


class Html(HTMLParser):
    """Checks nesting, and collects tables by id, words and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self._table = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            self.attributes.append((tag, key, value or ""))
            if key == "id":
                self.ids.append(value or "")
            if key == "href":
                self.links.append(value or "")
        if tag == "table":
            self._table = dict(attrs).get("id") or "card"
            self.tables.setdefault(self._table, [])
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self.tables[self._table][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, key, value or "") for key, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        if "td" in self.open or "th" in self.open:
            self.tables[self._table][-1][-1] += data


def results(folder: Path, *, n: int = 300) -> list[RunResult]:
    rng = np.random.default_rng(11)
    broken = [
        Point(
            "irq/to-task",
            {"all": np.full(60, 12_345, np.uint32)},
            status="invalid",
            reason="the task ran before the handler",
        )
    ]
    other = {"tick_rate_hz": "1000", "optimisation": "-O3"}
    return [
        analyse(read_run(path))
        for path in (
            write_run(folder, manifest(HIFIVE1), board_points(rng, n) + broken),
            write_run(folder, manifest(STM32F4, settings=other), board_points(rng, n, 0.8)),
            write_run(folder, manifest(LINUX), linux_points(rng, n)),
        )
    ]


def page_of(runs: list[RunResult], detail: Detail = "full") -> pages.Page:
    return pages.build(
        runs,
        published.load(),
        title="A report",
        created="2026-11-21T10:30:00Z",
        version="0.1.0",
        detail=detail,
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pages.Page:
    return page_of(results(tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def html(page: pages.Page) -> Html:
    return Html(render(page))


def column(table: list[list[str]], name: str) -> int:
    return table[0].index(name)


def test_the_page_is_well_nested_and_every_anchor_exists(html: Html) -> None:
    assert len(html.ids) == len(set(html.ids))
    assert {link[1:] for link in html.links} <= set(html.ids)
    assert all(link.startswith("#") for link in html.links)


def test_nothing_comes_from_the_network(page: pages.Page) -> None:
    text = re.sub(r"/\*!.*?\*/", "", render(page), flags=re.DOTALL)  # licences contain URLs
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(srcset|@import|url\()|\bsrc=", text)


def test_medians_on_the_page_are_those_of_the_samples(html: Html) -> None:
    table = html.tables["results-itc-queue"]
    target, point, median = (column(table, name) for name in ("Target", "Point", "Median"))
    medians = {(row[target], row[point]): row[median] for row in table[1:]}
    assert medians[HIFIVE1["name"], "60 bytes"] == "1,026"
    assert medians[HIFIVE1["name"], "600 bytes"] == "2,160"
    assert medians[STM32F4["name"], "600 bytes"] == "1,728"


def test_every_row_of_figures_has_a_unit_and_a_clock_class(html: Html) -> None:
    tables = [t for name, t in html.tables.items() if name.startswith(("results-", "fit-"))]
    assert len(tables) > 10
    for table in tables:
        unit, kind = column(table, "Unit"), column(table, "Clock class")
        pairs = {(row[unit], row[kind]) for row in table[1:]}
        assert pairs <= {("instructions", "instruction"), ("µs", "hosted")}


def test_instructions_never_become_a_time(page: pages.Page) -> None:
    for table in page.all_tables:
        if {"Unit", "Clock class"} <= set(table.columns):
            unit, kind = table.columns.index("Unit"), table.columns.index("Clock class")
            for row in table.rows:
                if row[kind].text == "instruction":
                    assert row[unit].text == "instructions", table.name


def test_an_invalid_record_shows_its_reason_and_no_figure(html: Html, page: pages.Page) -> None:
    assert "the task ran before the handler" in html.text
    assert "12,345" not in render(page)


def test_not_applicable_is_shown_with_its_reason(html: Html) -> None:
    table = html.tables["results-itc-pipe"]
    rows = [row for row in table[1:] if row[0] == HIFIVE1["name"]]
    assert rows[0][column(table, "Median")] == "n/a"
    assert "n/a: no pipes here" in html.text


def test_the_studys_table_has_ours_next_to_published(html: Html) -> None:
    table = html.tables["yoo2024-table-3"]
    rows = [row for row in table[1:] if row[0] == "Mutex"]
    assert [row[1] for row in rows] == ["published"] * 3 + ["ours"] * 2
    assert rows[0][2:] == [
        "HiFive1 Rev B",
        "FreeRTOS 10.2.0",
        "4.9",
        "4.73",
        "4.95",
        "0.037",
        "µs",
        "hardware",
    ]
    assert rows[3][column(table, "Min")] == "470"
    assert rows[3][-2:] == ["instructions", "instruction"]


def test_remarkable_published_figures_carry_their_remark(page: pages.Page) -> None:
    table = next(table for table in page.all_tables if table.name == "yoo2024-table-3")
    assert [note for note in table.notes if "334.70" in note and "STM3240G-EVAL" in note]


def test_table_4_has_all_threads_as_one_row(html: Html) -> None:
    table = html.tables["yoo2024-table-4"]
    assert [row[2] for row in table[1:]] == [
        "VisionFive 2",
        "Raspberry Pi 4 B",
        "MIO-5272",
        "This Linux (host)",
    ]
    assert table[-1][-2:] == ["µs", "hosted"]


def test_published_means_have_their_own_plot(html: Html) -> None:
    assert "published mean, FreeRTOS 10.2.0, µs · hardware" in html.text


def test_the_batch_table_shows_batch_iteration_and_single_executions(tmp_path: Path) -> None:
    points = [
        Point(
            "micro/task-switch",
            {
                "batch": np.array([6_450_000] * 3, np.uint32),
                "empty-loop": np.array([250_000] * 3, np.uint32),
            },
            {"iterations": 50_000},
        ),
        Point("micro/task-switch-sampled", {"all": np.full(100, 126, np.uint32)}),
    ]
    run = analyse(read_run(write_run(tmp_path, manifest(STM32F4), points)))
    table = Html(render(page_of([run]))).tables["mazzi2021-table-4"]
    what, ours = column(table, "Figure"), column(table, "Task switching")
    rows = {row[what]: row[ours] for row in table[1:] if row[0] == "ours"}
    assert rows == {
        "for 50,000 iterations": "6,200,000",
        "for one iteration": "124",
        "sample by sample, median": "126",
    }
    assert [row[ours] for row in table[1:3]] == ["6,980,810", "139.6162"]


def test_differences_between_targets_are_shown(html: Html) -> None:
    rows = {row[0]: row[1:] for row in html.tables["differences"][1:]}
    assert rows["setting: optimisation"] == ["-O2", "-O3", "-O2"]
    assert rows["clock: class"] == ["instruction", "instruction", "hosted"]


def test_the_accounts_balance_on_the_page(html: Html) -> None:
    table = html.tables["accounting"]
    planned, taken, missed = (column(table, name) for name in ("Planned", "Taken", "Missed"))
    rows = [[int(row[i].replace(",", "")) for i in (planned, taken, missed)] for row in table[1:]]
    assert rows and all(p == t + m for p, t, m in rows)
    assert any(m for _, _, m in rows)


def test_warnings_come_before_the_cards(page: pages.Page) -> None:
    text = render(page)
    assert 0 < text.index("read these before the figures") < text.index("At a glance")
    assert "records-invalid" in {notice.code for notice in page.notices}


def test_a_partial_run_is_partial_everywhere(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, manifest(LINUX), linux_points(np.random.default_rng(1), 90)))
    run.manifest.partial, run.manifest.partial_reason = True, "interrupted (Ctrl-C)"
    page = page_of([analyse(run)])
    text = render(page)
    assert page.notices[0].code == "partial-run"
    assert text.count("interrupted (Ctrl-C)") >= 2
    for table in page.all_tables:
        if table.columns[0] == "Target":
            assert all(row[0].text.endswith("(partial)") for row in table.rows), table.name
    assert all("(partial)" in key.label for key in page.legend)
    over = {plot.name for plot in page.all_plots if plot.name.startswith("exceedance")}
    for plot in page.all_plots:
        assert "(partial)" in (plot.description if plot.name in over else plot.heading)


def test_tables_are_accessible_to_screen_readers(html: Html) -> None:
    headers = [(tag, value) for tag, key, value in html.attributes if key == "scope"]
    assert {value for _, value in headers} == {"col", "row"}
    images = [v for tag, key, v in html.attributes if (tag, key) == ("svg", "aria-label")]
    assert len(images) > 20 and all(len(label) > 20 for label in images)
    regions = [v for tag, key, v in html.attributes if tag == "div" and key == "tabindex"]
    assert regions and set(regions) == {"0"}  # wide tables scroll by keyboard


def test_the_same_runs_give_the_same_page(page: pages.Page) -> None:
    assert render(page) == render(page)


def test_a_page_that_grows_too_large_leaves_out_plots_and_says_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    points = [
        Point(f"cyclic/made-up-{i}", {f"core{c}": nanoseconds(9000, 2000, rng) for c in range(4)})
        for i in range(24)
    ]
    runs = [analyse(read_run(write_run(tmp_path, manifest(LINUX), points)))]
    assert len(render(page_of(runs)).encode()) > MAX_BYTES
    output = tmp_path / "out" / "r.html"
    written = write_page(lambda detail: page_of(runs, detail), output)
    assert output.stat().st_size <= MAX_BYTES
    assert written.left_out
    assert "To stay under 1 MB" in output.read_text()


def test_figures_are_written_as_separate_files(page: pages.Page, tmp_path: Path) -> None:
    files = write_figures(page, tmp_path)
    assert len(files) == len(set(files)) == len(page.all_plots) > 20
    for file in files:
        assert ET.parse(file).getroot().tag.endswith("svg")


def test_tables_round_trip_through_csv(page: pages.Page, tmp_path: Path) -> None:
    write_tables(page, tmp_path)
    for table in page.all_tables:
        with (tmp_path / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == list(table.columns)
        for read, row in zip(rows[1:], table.rows, strict=True):
            for text, cell in zip(read, row, strict=True):
                if cell.raw is None:
                    assert text == ""
                elif isinstance(cell.raw, str):
                    assert text == spreadsheet_cell(cell.raw)
                else:
                    assert float(text) == cell.raw


def test_tables_round_trip_through_markdown(page: pages.Page) -> None:
    for table in page.all_tables:
        lines = [line for line in markdown(table).splitlines() if line.startswith("|")]
        read = [
            [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines
        ]
        assert read[0] == list(table.columns)
        assert read[2:] == [[cell.text.strip() for cell in row] for row in table.rows]


def test_a_pipe_in_a_cell_does_not_break_a_table() -> None:
    table = Table("t", "T", ("a|b", "c"), ((Cell("x|y", "x|y"), Cell("1,5", 1.5)),))
    assert markdown(table).splitlines()[-1] == "| x\\|y | 1,5 |"
    assert next(iter(csv.reader(io.StringIO(to_csv(table).splitlines()[1])))) == ["x|y", "1.5"]


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        Table("t", "T", ("a", "b"), ((Cell("x"),),))
