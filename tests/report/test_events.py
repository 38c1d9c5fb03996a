# SPDX-License-Identifier: Apache-2.0
"""Events and the bus of a run: in the page, in the terminal, for machines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.results import RunResult
from kadenz.cli.run_summary import write_tables
from kadenz.cli.show import show
from kadenz.config.manifest import ConditionEntry, EventEntry
from kadenz.report import events, labels
from kadenz.report.page import build
from kadenz.report.render import render
from kadenz.report.summary import run_summary
from kadenz.store import read_run
from tests.synthetic import LINUX, Point, manifest, nanoseconds, write_run

PAUSES = EventEntry(
    kind="skipped cycles: {}",
    reaction="continuing",
    count=39,
    first_cycle=812,
    last_cycle=5120,
    least=["1"],
    greatest=["12"],
)
DRIVE = EventEntry(
    kind="drive of axis {} reports fault {}",
    reaction="power off",
    count=1,
    first_cycle=5121,
    last_cycle=5121,
    least=["3", "30080"],
    greatest=["3", "30080"],
)
RING = {"transport": "simulated ring, behind a pair of virtual interfaces"}
CARD = {"transport": "interface eth1", "layout": "mine.toml", "layout_sha256": "ab"}


def measured(folder: Path, told: list[EventEntry], settings: dict[str, str]) -> RunResult:
    document = manifest(LINUX, settings=settings, id=folder.name)
    document.events = told
    if settings is CARD:
        document.conditions += [ConditionEntry(kind="interface", value="eth1", usual="simulated")]
    values = nanoseconds(5000.0, 300, np.random.default_rng(1))
    return analyse(read_run(write_run(folder, document, [Point("itc/mutex", {"all": values})])))


@pytest.fixture
def runs(tmp_path: Path) -> list[RunResult]:
    """A run with events on a simulated ring, and one without events on a card."""
    return [
        measured(tmp_path / "ring", [PAUSES, DRIVE], RING),
        measured(tmp_path / "card", [], CARD),
    ]


def test_the_page_shows_every_kind_of_event(runs: list[RunResult]) -> None:
    page = build(runs, [], title="t", created="2026-11-21T10:30:00Z", version="0")
    (table,) = (table for table in page.all_tables if table.name == "events")
    rows = [[cell.text for cell in row[1:]] for row in table.rows]
    assert rows == [
        ["skipped cycles: 1 to 12", "continuing", "39", "812", "5,120"],
        ["drive of axis 3 reports fault 30080", "power off", "1", "5,121", "5,121"],
    ]
    assert [card.events for card in page.cards] == ["40 events of 2 kinds", ""]
    text = render(page)
    assert 'href="#events-section"' in text and "drive of axis 3 reports fault 30080" in text


def test_a_page_without_events_has_no_events_section(runs: list[RunResult]) -> None:
    page = build(runs[1:], [], title="t", created="2026-11-21T10:30:00Z", version="0")
    assert "events-section" not in render(page)
    assert events.line(runs[1].manifest) == ""


def test_run_and_show_print_a_line_per_kind(
    runs: list[RunResult], capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables([runs[0].path])
    for said in (capsys.readouterr().out, CliRunner().invoke(show, [str(runs[0].path)]).output):
        text = " ".join(said.split())
        for event in (
            "event skipped cycles: 1 to 12: continuing; 39 times, in cycles 812 to",
            "event drive of axis 3 reports fault 30080: power off; once, in cycle 5121",
        ):
            assert event in text


def test_json_contains_events_and_settings(runs: list[RunResult]) -> None:
    row = run_summary(runs[0])
    assert [event["count"] for event in row["events"]] == [39, 1]
    assert row["settings"] == RING and row["bus"] == "simulated ring"


def test_runs_on_different_buses_have_different_labels(runs: list[RunResult]) -> None:
    assert labels.run_labels(runs) == [
        "posix/linux@host (interface simulated)",
        "posix/linux@host (interface eth1)",
    ]
    assert labels.board(runs[1]) == "This Linux (interface eth1, mine.toml)"
