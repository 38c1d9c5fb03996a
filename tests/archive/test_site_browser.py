# SPDX-License-Identifier: Apache-2.0
"""The site in a real browser, from disk: search, side by side, links, steps, foreign text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kadenz.archive.adding import add
from kadenz.archive.history import histories
from kadenz.archive.place import Place, open_archive
from kadenz.report.site import key_of, write_site
from kadenz.store import read_run
from tests import browser
from tests.synthetic import HIFIVE1, STM32F4, Point, manifest, write_run

FOREIGN = "<img src=x onerror='document.title=1'>"


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Browser]:
    if not browser.program():
        pytest.skip("needs chromium (scripts/debian-packages-tests.txt)")
    with browser.browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("site")
    place = open_archive(str(folder / "archive"), create=True)
    for target in (STM32F4, HIFIVE1):
        for number, centre in enumerate((900, 900, 927)):
            document = manifest(target, id=f"{target['board']}-{number}")
            document.created = f"2026-0{number + 1}-01T00:00:00Z"
            samples = np.full(50, centre, np.uint32)
            points = [Point(bench, {"all": samples}) for bench in ("itc/queue", "micro/yield")]
            run = write_run(folder / "runs", document, points)
            add(place, read_run(run), commit=f"c{number}", label=FOREIGN)
    return place


@pytest.fixture(scope="module")
def index(archive: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "site"
    write_site(archive, folder, lambda done, total: None)
    return folder / "index.html"


def test_search_shows_the_series_with_all_words(page: browser.Browser, index: Path) -> None:
    page.open(index)
    page.until("document.querySelectorAll('tbody tr').length === 4")
    page.value(
        "(() => { const field = document.querySelector('input[type=search]');"
        " field.value = 'STM32 yield'; field.oninput(); })()"
    )
    assert page.value("document.querySelectorAll('tbody tr').length") == 1
    assert "1 of 4 series" in page.value("document.body.innerText")
    assert "+3.00 %" in page.value("document.querySelector('tbody').innerText")


def test_two_chosen_series_are_laid_side_by_side(page: browser.Browser, index: Path) -> None:
    page.open(index)
    page.until("document.querySelectorAll('tbody tr').length === 4")
    page.value(
        "[...document.querySelectorAll('tr')].filter((row) => row.innerText.includes('queue'))"
        ".forEach((row) => row.querySelector('input').click())"
    )
    page.value("document.getElementById('side').click()")
    page.until("document.querySelectorAll('.plot canvas').length === 1")
    assert page.value("location.hash").startswith("#/side/")
    assert page.value("document.querySelectorAll('#main > table tbody tr').length") == 2
    text = page.value("document.getElementById('main').innerText")
    assert all(target["name"] in text for target in (STM32F4, HIFIVE1))


def test_links_open_what_they_name_also_in_a_site_written_again(
    page: browser.Browser, index: Path, archive: Place
) -> None:
    key = key_of(histories(archive)[0])
    for _ in range(2):
        page.open(index, f"#/series/{key}")
        page.until("document.querySelectorAll('.plot canvas').length === 1")
        step = page.value("document.querySelector('ul.steps').innerText")
        assert "+3.00 %: 900 → 927 instruction" in step
        assert "after hifive1-revb-1 (c1), by hifive1-revb-2 (c2), exact" in step
        page.value("document.querySelector('ul.steps a').click()")
        page.until("document.body.innerText.includes('kadenz archive get hifive1-revb-1')")
        write_site(archive, index.parent, lambda done, total: None)
    page.open(index, "#/series/000000000000")
    page.until("document.body.innerText.includes('is not part of this site')")


def test_a_foreign_text_stays_text(page: browser.Browser, index: Path) -> None:
    page.open(index, "#/run/stm32f4-0")
    page.until("document.body.innerText.includes('Figures')")
    assert FOREIGN in page.value("document.body.innerText")
    assert page.value("document.querySelectorAll('img').length") == 0
