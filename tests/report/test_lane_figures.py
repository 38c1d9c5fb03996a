# SPDX-License-Identifier: Apache-2.0
"""A statistic of one number is one row: the report's tables, CSV, Markdown and JSON have it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import lanes
from kadenz.analysis.lane_figures import FIGURES, LaneFigure
from kadenz.cli import cli
from kadenz.report import summary, tables
from kadenz.stats.errors import Undefined
from tests.synthetic import LINUX, STM32F4, Point, manifest, write_run

IQR = LaneFigure("iqr", lambda _, data: data.quantile(0.75) - data.quantile(0.25), column="IQR")


def undefined(*_: object) -> float:
    raise Undefined("iqr", "needs more samples")


def planted(monkeypatch: pytest.MonkeyPatch, figure: LaneFigure) -> None:
    """As if the row stood in the file: all three read the same tuple."""
    for module in (lanes, summary, tables):
        assert vars(module)["FIGURES"] is FIGURES
        monkeypatch.setattr(module, "FIGURES", (*FIGURES, figure))


def measured(folder: Path, target: dict[str, str]) -> tuple[str, dict[str, object]]:
    """The report's page and files in `folder`, and the record's row of JSON."""
    lane = np.arange(1000, 1100, dtype=np.uint32)
    run = str(write_run(folder / "run", manifest(target), [Point("my/uart", {"all": lane})]))
    page, files = str(folder / "page.html"), str(folder / "tables")
    result = CliRunner().invoke(cli, ["report", run, "-o", page, "--tables", files])
    assert result.exit_code == 0, result.output
    shown = CliRunner().invoke(cli, ["show", "--json", run]).stdout
    return Path(page).read_text(), json.loads(shown)["runs"][0]["records"][0]


@pytest.mark.parametrize(("target", "figure"), [(STM32F4, 50.0), (LINUX, 0.05)])
def test_a_statistic_is_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: dict[str, str], figure: float
) -> None:
    planted(monkeypatch, IQR)
    page, row = measured(tmp_path, target)
    assert '<th scope="col" class="n">IQR</th>' in page
    assert row["iqr"] == pytest.approx(figure)
    head, line = (tmp_path / "tables/results-my-uart.csv").read_text().splitlines()[:2]
    assert "IQR" in head and str(row["iqr"]) in line
    assert "| IQR |" in (tmp_path / "tables/tables.md").read_text()


def test_an_undefined_one_is_a_gap_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, LaneFigure("iqr", undefined, column="IQR"))
    page, row = measured(tmp_path, STM32F4)
    assert row["iqr"] is None
    assert row["gaps"] == {**dict(row["gaps"]), "iqr": "needs more samples"}  # type: ignore[call-overload]
    assert ">IQR<" not in page  # a column without a figure is not shown
