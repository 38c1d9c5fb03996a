# SPDX-License-Identifier: Apache-2.0
"""A view of the report is one file: page, navigation, CSV, Markdown and SVG have it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.report import views, write_figures, write_tables
from kadenz.report.render import render
from kadenz.report.sections import Fold, Section, leaves
from tests.report.test_page import Html, page_of, results

PLANTED = """
from kadenz.report.sections import Fold, Plots, Section, Text
from kadenz.report.svg.panel import Plot
from kadenz.report.table import Table, whole, text_cell

PLACE = 15

def sections(report):
    rows = tuple((text_cell(label), whole(len(run.records))) for label, run in report.runs)
    table = Table("planted", "Records", ("Run", "Records"), rows, frozenset({1}))
    plot = Plot("planted-plot", "A line", "", '<svg class="plot" viewBox="0 0 9 9"></svg>')
    blocks = Text("Counted <here>."), Plots((plot,)), Fold("More", "a table", (table,))
    yield Section("planted-view", "A planted view", blocks, short="Planted")
"""


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "views"
    folder.mkdir()
    (folder / "planted.py").write_text(PLANTED)
    monkeypatch.setattr(views, "__path__", [*views.__path__, str(folder)])
    yield
    sys.modules.pop("kadenz.report.views.planted", None)


@pytest.mark.usefixtures("planted")
def test_a_view_is_one_file(tmp_path: Path) -> None:
    page = page_of(results(tmp_path, n=60))
    text = render(page)
    html = Html(text)
    assert [cell for row in html.tables["planted"][1:] for cell in row][1::2] == ["37", "36", "21"]
    assert "Counted &lt;here&gt;." in text and "<summary>More <small>a table</small>" in text
    assert '<a href="#planted-view">Planted</a>' in text
    names = {file.name for file in write_tables(page, tmp_path / "tables")}
    assert "planted.csv" in names
    assert "## Records" in (tmp_path / "tables/tables.md").read_text()
    assert "planted-plot.svg" in {file.name for file in write_figures(page, tmp_path / "figures")}


@pytest.mark.usefixtures("planted")
def test_places_order_the_page_and_its_navigation(tmp_path: Path) -> None:
    page = page_of(results(tmp_path, n=60))
    nav = render(page).partition("<nav")[2].partition("</nav>")[0]
    assert re.findall(r'href="#([^"]*)"', nav) == [section.anchor for section in page.sections]
    anchors = [section.anchor for section in page.sections]
    assert anchors.index("itc") < anchors.index("planted-view") < anchors.index("clock-section")


def test_a_view_with_nothing_to_show_has_no_section(tmp_path: Path) -> None:
    anchors = {section.anchor for section in page_of(results(tmp_path, n=60)).sections}
    assert {"clock-section", "books", "manifests", "method"} <= anchors
    assert not anchors & {"planted-view", "events-section", "loads-section", "memory"}


def test_every_block_of_a_fold_is_exported() -> None:
    inner = Section("a", "A", (Fold("f", "", (Fold("g", "", ()),)),))
    assert list(leaves([inner])) == []
