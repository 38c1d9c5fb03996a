# SPDX-License-Identifier: Apache-2.0
"""Every figure shows its caveats: the mark of a note, simulated drives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse, published
from kadenz.report import page as pages
from kadenz.report.render import render
from kadenz.report.sections import Block, Plots, Section, Text, leaves
from kadenz.report.studies.yoo2024 import WAY
from kadenz.report.svg.panel import Plot
from kadenz.report.table import Table
from kadenz.store import read_run
from tests.synthetic import HIFIVE1, LINUX, Point, manifest, write_run

NOTE = "they show the timer grid, not the kernel."


def page_of(run: RunResult) -> pages.Page:
    return pages.build(
        [run], published.load(), title="A report", created="2026-11-21T10:30:00Z", version="0.1.0"
    )


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> pages.Page:
    rng = np.random.default_rng(1)
    document = manifest(HIFIVE1)
    document.benchmark_notes["cyclic/wakeup-latency"] = NOTE
    points = [
        Point(bench, {"all": rng.integers(100, 900, 2000).astype(np.uint32)}, {"period_us": 1000})
        for bench in ("cyclic/wakeup-latency", "itc/mutex")
    ]
    return page_of(analyse(read_run(write_run(tmp_path_factory.mktemp("run"), document, points))))


def test_only_figures_with_a_note_are_marked_on_cards(noted: pages.Page) -> None:
    (card,) = noted.cards
    marks = {line.name: line.mark for line in card.headlines}
    assert marks == {"mutex": "", "wake-up latency": " †"}
    assert card.notes == (NOTE.rstrip("."),)
    assert re.search(r"wake-up latency †.*† they show the timer grid", render(noted), re.DOTALL)


def test_every_table_and_plot_of_a_noted_benchmark_is_marked(noted: pages.Page) -> None:
    every = [block for section in noted.sections for block in section.blocks]
    marked, other = (
        list(leaves(block.blocks))
        for name in ("cyclic/wakeup-latency", "itc/mutex")
        for block in every
        if isinstance(block, Section) and block.title == name
    )
    plots = plots_in(marked)
    assert plots and all(plot.heading.split(" (")[0].endswith("†") for plot in plots)
    (table,) = (
        block for block in marked if isinstance(block, Table) and block.name.startswith("results-")
    )
    assert all(row[0].text.endswith("†") for row in table.rows)
    texts = [block.content for block in marked if isinstance(block, Text)]
    assert any(NOTE.rstrip(".") in line for line in texts)
    assert not any("†" in plot.svg for plot in plots_in(other))
    assert not any("†" in str(block) for block in other if isinstance(block, Table | Text))


def plots_in(blocks: list[Block]) -> list[Plot]:
    return [plot for block in blocks if isinstance(block, Plots) for plot in block.plots]


def test_a_figure_with_a_note_does_not_open_the_page_and_is_marked_in_overlays(
    noted: pages.Page, tmp_path: Path
) -> None:
    assert noted.overlays and not any("wakeup" in over.wide.heading for over in noted.overlays)
    rng = np.random.default_rng(3)
    runs = []
    for name in "ab":
        document = manifest(HIFIVE1, id=name)
        document.benchmark_notes["cyclic/wakeup-latency"] = NOTE
        point = Point(
            "cyclic/wakeup-latency", {"all": rng.integers(100, 900, 500).astype(np.uint32)}
        )
        runs.append(analyse(read_run(write_run(tmp_path, document, [point]))))
    page = pages.build(runs, [], title="A report", created="2026-11-21T10:30:00Z", version="0.1.0")
    (over,) = (plot for plot in page.all_plots if plot.name.startswith("exceedance"))
    assert over.description.count("†") == 2 and NOTE.rstrip(".") in over.svg


def motion(folder: Path, transport: str) -> RunResult:
    rng = np.random.default_rng(2)
    document = manifest({**LINUX, "name": "posix/indy7@host", "board": "indy7"})
    document.target.settings |= {"transport": transport, WAY: "500"}
    lanes = {way: 0.1 * rng.standard_normal(1000) for way in ("out", "back")}
    points = [
        Point(bench, dict(lanes), {"joint": joint}, unit=unit)
        for bench, unit in (("motion/position-error", "deg"), ("motion/velocity-error", "deg/s"))
        for joint in range(6)
    ]
    return analyse(read_run(write_run(folder, document, points)))


def test_the_tasks_of_several_boards_are_beside_the_published_ones(tmp_path: Path) -> None:
    tasks = ((95, 1000, 100), (90, 1000, 300), (85, 2000, 320), (70, 100_000, 330))
    runs = []
    for board in ("indy7", "indy7-riscv64"):
        document = manifest({**LINUX, "name": f"posix/{board}@host", "board": board})
        points = [
            Point(
                "motion/response-time",
                {"all": np.full(100, length, np.uint32)},
                {"period_us": period, "priority": priority},
            )
            for priority, period, length in tasks
        ]
        runs.append(analyse(read_run(write_run(tmp_path, document, points))))
    page = pages.build(
        runs, published.load(), title="A report", created="2026-11-21T10:30:00Z", version="0.1.0"
    )
    (table,) = (t for t in page.all_tables if t.name == "yoo2024-response-time")
    rows = list(zip(table.rows, table.row_kinds, strict=True))
    assert [kind for _, kind in rows] == ["published", "published", "ours", "ours"] * 4
    mean = table.columns.index("Mean")
    assert [row[mean].text for row, _ in rows[:2]] == ["112.71", "95.89"]
    assert rows[4][0][0].text == "main, every 1 ms, priority 90"
    ours = [row[mean].raw for row, kind in rows if kind == "ours"]
    assert ours == [pytest.approx(length / 1000) for _, _, length in tasks for _ in runs]


@pytest.mark.parametrize(
    ("transport", "label"),
    [
        ("simulated ring, behind a pair of virtual interfaces", "simulated drives"),
        ("interface eth1", "drives on interface eth1"),
    ],
)
def test_comparisons_with_the_study_name_simulated_drives(
    transport: str, label: str, tmp_path: Path
) -> None:
    page = page_of(motion(tmp_path, transport))
    figure = next(t for t in page.all_tables if t.name == "yoo2024-figure-15")
    kinds = zip(figure.rows, figure.row_kinds, strict=True)
    ours = [row for row, kind in kinds if kind == "ours"]
    assert len(ours) == 6 and all(label in row[1].text for row in ours)
    drawn = [plot for plot in page.all_plots if plot.name.startswith("yoo2024")]
    assert drawn and all(label in plot.heading for plot in drawn)
    (table_6,) = (t for t in page.all_tables if t.name == "yoo2024-velocity-error")
    system = table_6.columns.index("System")
    velocities = [
        row for row, kind in zip(table_6.rows, table_6.row_kinds, strict=True) if kind == "ours"
    ]
    assert len(velocities) == 6 and all(label in row[system].text for row in velocities)
    assert len(table_6.rows) == 6 * (2 + 1)  # two published systems
    for table in (t for t in page.all_tables if t.name.startswith("results-")):
        assert all(label in row[0].text for row in table.rows)
