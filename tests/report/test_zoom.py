# SPDX-License-Identifier: Apache-2.0
"""Zooming is optional: the page contains all of it, needs no network, and is readable without."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.report import page as pages
from kadenz.report import render, zoom
from kadenz.store import read_run
from tests.synthetic import LINUX, linux_points, manifest, write_run

LIBRARY = zoom.Library("9.9.9", "/*!\nThe MIT License\n*/\nvar uPlot = null;", ".uplot{}")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pages.Page:
    points = linux_points(np.random.default_rng(3), 500)
    run = analyse(read_run(write_run(tmp_path_factory.mktemp("run"), manifest(LINUX), points)))
    return pages.build([run], [], title="A report", created="2026-11-21T10:30:00Z", version="0.1.0")


@pytest.fixture(params=[None, LIBRARY], ids=["without", "with"])
def text(request: pytest.FixtureRequest, page: pages.Page, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(render, "library", lambda: request.param)
    return render.render(page)


def test_the_svg_is_there_whether_or_not_the_library_is(text: str) -> None:
    figures = re.findall(r'<figure class="over">(.*?)</figure>', text, re.DOTALL)
    assert figures
    for figure in figures:
        assert figure.count("<svg") == 2 and 'class="plot"' in figure
    # Only the script hides it, with a class that no markup has.
    assert ".over.live .static{display:none}" in text and 'class="over live"' not in text
    assert re.search(r"@media print\{[^@]*\.over\.live \.static\{display:block\}", text)


def test_the_page_forbids_every_request(text: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    parts = dict(part.split(" ", 1) for part in unescape(policy[1]).split("; "))
    assert parts == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "script-src": "'unsafe-inline'",
    }
    assert not re.search(r"<(script|img|link|iframe)[^>]*\b(src|href)=", text)


def test_a_page_contains_the_library_with_its_licence_or_none_of_it(
    page: pages.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "library", lambda: LIBRARY)
    carried = render.render(page)
    assert carried.index("The MIT License") < carried.index("var uPlot")
    monkeypatch.setattr(render, "library", lambda: None)
    assert "uPlot" not in re.sub(r"/\*.*?\*/", "", render.render(page), flags=re.DOTALL)


def test_what_zooming_draws_is_what_the_svg_draws(page: pages.Page) -> None:
    for over in page.overlays:
        data = json.loads(over.data)
        assert data["title"] == over.wide.heading
        for curve in data["curves"]:
            assert len(curve["x"]) == len(curve["y"]) > 1
            assert curve["x"] == sorted(curve["x"])
            assert curve["y"] == sorted(curve["y"], reverse=True)
            assert data["x"][0] < curve["x"][0] <= curve["x"][-1] < data["x"][1]


def test_data_inside_a_script_cannot_end_it(page: pages.Page) -> None:
    for over in page.overlays:
        assert "<" not in over.data


def test_the_library_that_was_set_up_is_the_pinned_one() -> None:
    """`make setup` fetched all of the library, or none of it."""
    root = Path(__file__).resolve().parents[2]
    pinned = re.search(r"^VERSION=(.*)$", (root / "scripts/setup-uplot.sh").read_text(), re.M)
    library = zoom.library()
    assert pinned is not None
    assert library is None or (library.version == pinned[1] and "MIT License" in library.script)
