# SPDX-License-Identifier: Apache-2.0
"""The jitter part: on the page, in `show`, and as a command of its own."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis import analyse, published
from kadenz.analysis.units import VIRTUAL_NS
from kadenz.errors import UsageError
from kadenz.report import page as pages
from kadenz.report.render import render
from kadenz.report.studies import cereia2011
from kadenz.store import read_run
from tests.analysis.test_jitter_views import INDY7, edges
from tests.report.test_commands import answer
from tests.report.test_page import Html
from tests.synthetic import (
    EMULATED_CLOCK,
    LINUX,
    Point,
    manifest,
    under,
    write_run,
)

VIRTUAL_CLOCK = msgspec.structs.replace(EMULATED_CLOCK, unit=VIRTUAL_NS)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs without and with the study's load."""
    folder = tmp_path_factory.mktemp("runs")
    folders = []
    for number, load in enumerate(("none", "io")):
        entry = manifest(INDY7, id=f"20261121-10300{number}-posix-indy7-{load}")
        entry.conditions = under(load=load)
        entry.campaign.name = "cereia2011"
        times = edges(number, 12_000)
        point = Point(
            "ethercat/edge-jitter",
            {"rising": times},
            {"period_us": 1000, "n": times.size},
            unit="ns",
        )
        folders.append(write_run(folder, entry, [point]))
    return folders


@pytest.fixture(scope="module")
def page(runs: list[Path]) -> pages.Page:
    return pages.build(
        [analyse(read_run(run)) for run in runs],
        published.load(),
        title="Edges",
        created="2026-11-21T10:30:00Z",
        version="0.1.0",
    )


def test_every_view_and_the_part_removed_are_drawn(page: pages.Page) -> None:
    names = [plot.name for plot in page.all_plots]
    for view in ("jitter-raw", "jitter-compensated", "jitter-drift", "jitter-ethercat", "tail"):
        assert sum(name.startswith(view) for name in names) == 2, view
    assert len(set(names)) == len(names)
    for plot in page.all_plots:
        ET.fromstring(plot.svg)
        assert "nan" not in plot.svg


def test_the_study_s_figures_are_redrawn_with_our_runs(page: pages.Page) -> None:
    drawn = [plot.name for plot in page.all_plots if plot.name.startswith("cereia2011")]
    assert [name.split("-ethercat")[0] for name in drawn] == [
        "cereia2011-figure-2-none",
        "cereia2011-figure-3-none",
        "cereia2011-figure-4-io",
        "cereia2011-figure-5-none",
        "cereia2011-figure-5-io",
    ]


def test_table_1_is_shown_next_to_ours_with_its_gaps(page: pages.Page) -> None:
    html = Html(render(page))
    rows = html.tables["cereia2011-table-1"][1:]
    assert len([row for row in rows if row[0] == "published"]) == 6
    ours = [row for row in rows if row[0] == "ours"]
    measured = [row for row in ours if "not measured" not in row[1]]
    assert [row[3] for row in measured] == ["none", "io"]
    absent = [row[1] for row in ours if row[1].startswith("not measured")]
    assert absent[:2] == ["not measured: no run under PREEMPT_RT here"] * 2
    tuned = "not measured: no run under PREEMPT_RT tuned as cereia2011-case2 here"
    assert absent[2:] == [tuned] * 2
    assert (rows[0][0], rows[0][6], rows[0][8]) == ("published", "5.724", "1,434")


def test_a_guest_under_preempt_rt_fills_the_row_of_the_patched_kernel(
    runs: list[Path], tmp_path: Path
) -> None:
    entry = manifest(LINUX, settings={"preempt": "PREEMPT_RT"}, clock=VIRTUAL_CLOCK)
    entry.campaign.name = "cereia2011-guest"
    latencies = np.random.default_rng(3).integers(9_000, 12_000, 5_000).astype(np.uint32)
    point = Point("cyclic/wakeup-latency", {"core0": latencies}, {"period_us": 1000})
    results = [analyse(read_run(run)) for run in (*runs, write_run(tmp_path, entry, [point]))]
    named = [(str(n), run) for n, run in enumerate(results)]
    table = cereia2011.load_table(published.load(), named)
    assert table is not None
    # Virtual ns and µs share no scale: figure 5 shows the two runs in µs.
    drawn = [plot.name.split("-ethercat")[0] for plot in cereia2011.plots(named)]
    assert [name for name in drawn if "figure-5" in name] == [
        "cereia2011-figure-5-none",
        "cereia2011-figure-5-io",
    ]
    rows = [[cell.text for cell in row] for row in table.rows if row[0].text == "ours"]
    (guest,) = [row for row in rows if row[9] == "virtual ns"]
    assert (guest[3], guest[4], guest[10]) == ("none", "5,000", "instruction")
    assert abs(float(guest[6]) - 866.0) < 30.0  # (12000 - 9000) / sqrt(12)
    assert len([row for row in rows if "no run under PREEMPT_RT" in row[1]]) == 3


@pytest.mark.parametrize("load", ["disk", "cpu+timers", "io+cpu"])
def test_a_load_that_the_study_did_not_use_has_no_published_counterpart(
    load: str, runs: list[Path]
) -> None:
    results = [analyse(read_run(run)) for run in runs]
    results[1].manifest.conditions = under(load=load)
    named = [(str(n), run) for n, run in enumerate(results)]
    table = cereia2011.load_table(published.load(), named)
    assert table is not None
    rows = [[cell.text for cell in row] for row in table.rows]
    measured = [n for n, row in enumerate(rows) if row[0] == "ours" and row[4] != "–"]
    assert [rows[n][3] for n in measured] == ["none", load]
    assert measured[-1] == len(rows) - 1  # a separate row, after all cells of the study
    assert rows[measured[-1] - 1][0] == "ours"
    assert any("loads that the study did not use" in note for note in table.notes)
    plots = cereia2011.plots(named)
    slug = load.replace("+", "-")
    assert [plot.name.split("-ethercat")[0] for plot in plots] == [
        "cereia2011-figure-2-none",
        "cereia2011-figure-3-none",
        f"cereia2011-another-load-{slug}",
        "cereia2011-figure-5-none",
        f"cereia2011-one-scale-{slug}",
    ]
    assert not any("figure 4" in plot.svg for plot in plots)


def test_a_period_is_reported_in_the_table_and_on_the_screen(
    page: pages.Page, runs: list[Path]
) -> None:
    rows = Html(render(page)).tables["disturbances-ethercat-edge-jitter"][1:]
    periods = [row for row in rows if row[1] == "periodic"]
    assert [float(row[2]) for row in periods] == [2.0, 2.0]
    shown = answer("show", runs[0])
    assert "periodic    every 2 s" in shown and "clock rate" in shown
    (run,) = json.loads(answer("show", runs[0], "--json"))["runs"]
    assert run["jitter"][0]["jitter"]["n"] == 12_000


# ---- kadenz jitter -----------------------------------------------------------------------------


def test_the_jitter_command_analyses_a_users_series(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", edges(5, 12_000))
    said = answer(
        "jitter", tmp_path / "mine.npy", "--period-us", "1000", "--limit", "200000",
        "--html", tmp_path / "mine.html",
    )  # fmt: skip
    assert "every 2 s" in said and "0 of 12,000 jitter values" in said
    assert "rule of three" in said
    html = (tmp_path / "mine.html").read_text()
    assert html.count("<svg") >= 4 and "http" not in html.replace("http://www.w3.org", "")
    Html(html)
    row = json.loads(answer("jitter", tmp_path / "mine.npy", "--period-us", "1000", "--json"))
    assert row["jitter"]["rate_error_ppm"] == pytest.approx(200.0, abs=0.5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--period-us", "0"), "not a positive"),
        (("--period-us", "1000", "--unit", "us"), "not the period"),
        (("--period-us", "1000", "--window", "50000"), "window of 50000"),
    ],
)
def test_impossible_options_are_usage_errors(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    np.save(tmp_path / "mine.npy", edges(6, 3_000))
    with pytest.raises(UsageError, match=said):
        answer("jitter", tmp_path / "mine.npy", *arguments)
