# SPDX-License-Identifier: Apache-2.0
"""A family with a section of its own is one file: page, CSV, terminal, JSON and cards have it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.report import families
from tests.synthetic import STM32F4, Point, manifest, write_run

PLANTED = """
from kadenz.report.families import Family
from kadenz.report.table import Table, whole, text_cell

def bursts(runs):
    rows = [
        (text_cell(label), text_cell(record.bench), whole(record.taken))
        for label, run in runs for record in run.records if record.bench.startswith("uart/")
    ]
    heads = "Target | Benchmark | >Frames"
    return Table.headed(heads, name="bursts", title="Bursts", rows=rows) if rows else None

def row(run):
    return {"frames": sum(one.taken for one in run.records if one.bench.startswith("uart/"))}

FAMILIES = (Family("uart", "Serial lines", 55, bursts, row, {"uart/frame": "frame"}),)
"""


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "families"
    folder.mkdir()
    (folder / "uart.py").write_text(PLANTED)
    monkeypatch.setattr(families, "__path__", [*families.__path__, str(folder)])
    families.declared.cache_clear()
    yield
    families.declared.cache_clear()
    sys.modules.pop("kadenz.report.families.uart", None)


def kadenz(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("planted")
def test_a_family_with_a_section_is_one_file(tmp_path: Path) -> None:
    samples = {"all": np.arange(300, 340, dtype=np.uint32)}
    points = [Point(bench, dict(samples)) for bench in ("uart/frame", "itc/mutex")]
    run = str(write_run(tmp_path / "run", manifest(STM32F4), points))
    kadenz("report", run, "-o", str(tmp_path / "page.html"), "--tables", str(tmp_path / "tables"))
    page = (tmp_path / "page.html").read_text()
    assert '<a href="#uart">Serial lines</a>' in page and '<table id="bursts">' in page
    assert page.index('id="itc"') < page.index('id="uart"') < page.index('id="clock-section"')
    assert (tmp_path / "tables/bursts.csv").read_text().splitlines()[0] == "Target,Benchmark,Frames"
    assert '<th scope="row">frame</th>' in page  # on the card
    assert "Bursts" in kadenz("show", run)
    assert json.loads(kadenz("show", "--json", run))["runs"][0]["uart"] == {"frames": 40}
