# SPDX-License-Identifier: Apache-2.0
"""A site shows runs of strangers: no route loads anything else, and no text becomes a program."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz import owner
from kadenz.archive.adding import add
from kadenz.archive.history import histories
from kadenz.archive.place import Place, open_archive
from kadenz.report.site import key_of, write_site
from kadenz.report.whole import replaced
from tests import browser
from tests.archive.test_archive import example_run

ROUTES = (
    "#/run/..%2F..%2Fevil",
    "#/run/../../evil",
    "#/run/%2e%2e/%2e%2e/evil",
    "#/series/..%2F..%2Fevil",
    "#/side/..%2F..%2Fevil+..%2Frun%2Fone",
    "#/run/%E0%A4%A",
    "#/run/__proto__",
    "#/series/index",
)


@pytest.fixture
def archive(tmp_path: Path) -> Place:
    place = open_archive(str(tmp_path / "archive"), create=True)
    for number, id in enumerate(("one", "two")):
        add(place, example_run(tmp_path / "runs", id, 900 + 20 * number), label="<img src=x>")
    return place


@pytest.fixture
def page() -> Iterator[browser.Browser]:
    if not browser.program():
        pytest.skip("needs chromium (scripts/debian-packages-tests.txt)")
    with browser.browser() as started:
        yield started


def written(place: str, folder: str) -> None:
    write_site(open_archive(place), Path(folder), lambda done, total: None)


def scripts(page: browser.Browser) -> list[str]:
    loaded = page.value("[...document.scripts].map((one) => one.src)")
    return [Path(source).name for source in loaded]


def test_a_hostile_route_loads_nothing(
    archive: Place, tmp_path: Path, page: browser.Browser
) -> None:
    written(archive.text, str(tmp_path / "site"))
    for folder in (tmp_path, tmp_path / "site", tmp_path / "site" / "data"):
        (folder / "evil.js").write_text("window.evil = true")
    for route in ROUTES:
        page.open(tmp_path / "site" / "index.html", route)
        page.until("document.body.innerText.includes('Not here')")
        assert set(scripts(page)) <= {"site.js", "index.js", "runs.js"}, route
        assert page.value("window.evil === undefined")


def test_a_page_runs_its_own_scripts_only_and_draws_its_histories(
    archive: Place, tmp_path: Path, page: browser.Browser
) -> None:
    written(archive.text, str(tmp_path / "site"))
    index = tmp_path / "site" / "index.html"
    listening = (
        "document.addEventListener('securitypolicyviolation',"
        " (event) => (window.refused ||= []).push(event.blockedURI));"
    )
    program = index.with_name("site.js")
    program.write_text(listening + program.read_text())
    page.open(index, f"#/series/{key_of(histories(archive)[0])}")
    page.until("document.querySelectorAll('.plot canvas').length === 1")
    page.value("location.hash = '#/run/one'")
    page.until("document.body.innerText.includes('Figures')")
    assert page.value("window.refused === undefined")
    assert page.value("document.querySelectorAll('img').length") == 0
    page.value(
        "(() => { const one = document.createElement('script');"
        " one.textContent = 'window.evil = 1'; document.head.append(one);"
        " document.body.innerHTML = '<img src=x onerror=\"evil = 2\">'; })()"
    )
    page.until("window.refused && window.refused.length >= 2")
    assert page.value("window.evil === undefined")


def test_two_processes_at_once_write_a_whole_site(archive: Place, tmp_path: Path) -> None:
    folder = tmp_path / "sites" / "site"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_again, args=(archive.text, str(folder))) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [file.name for file in folder.parent.iterdir()] == ["site"]
    assert {file.name for file in (folder / "data" / "runs").iterdir()} == {"one.js", "two.js"}
    assert {file.name for file in folder.iterdir()} >= {
        "index.html",
        "site.js",
        "site.css",
        "plot.js",
    }


def _again(place: str, folder: str) -> None:
    for _ in range(4):
        written(place, folder)


def _killed(folder: Path) -> None:
    with replaced(folder / "file") as fresh:
        fresh.write_text("half")
        (folder / owner.unfinished_name()).mkdir()
        os._exit(9)


def test_what_a_killed_writer_left_is_removed_and_that_of_a_living_one_is_not(
    tmp_path: Path,
) -> None:
    context = multiprocessing.get_context("fork")
    killed = context.Process(target=_killed, args=(tmp_path,))
    killed.start()
    killed.join()
    assert len([*tmp_path.iterdir()]) == 2
    living = tmp_path / owner.unfinished_name()
    living.touch()
    space, pid, begun = owner.mark().split("-")
    elsewhere = tmp_path / f".kadenz-{int(space, 16) ^ 1:08x}-{pid}-{begun}-00000000.new"
    elsewhere.touch()
    (tmp_path / ".kadenz-notes").touch()
    with replaced(tmp_path / "file") as fresh:
        fresh.write_text("whole")
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"file", living.name, elsewhere.name, ".kadenz-notes"}
