# SPDX-License-Identifier: Apache-2.0
"""The static site: complete, replaced whole, and without foreign text as HTML."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.archive.adding import add
from kadenz.archive.history import histories
from kadenz.archive.place import Place, open_archive
from kadenz.cli import cli
from kadenz.errors import StoreError, UsageError
from kadenz.report import site as sites
from kadenz.report.site import key_of, write_site
from kadenz.store import read_run
from tests.store.crashes import ends_at
from tests.synthetic import STM32F4, Point, manifest, write_run


@pytest.fixture
def archive(tmp_path: Path) -> Place:
    place = open_archive(str(tmp_path / "archive"), create=True)
    for number, centre in enumerate((900, 900, 927)):
        document = manifest(STM32F4, id=f"run-{number}")
        document.created = f"2026-0{number + 1}-01T00:00:00Z"
        samples = np.full(50, centre, np.uint32)
        run = write_run(tmp_path / "runs", document, [Point("itc/queue", {"all": samples})])
        add(place, read_run(run), commit=f"c{number}", label="</script><b>")
    return place


def written(file: Path) -> tuple[str, object]:
    """The name and value of a data file's call."""
    call = re.fullmatch(r"kadenz\((\"[^\"]+\"),(.*)\)\n", file.read_text(), re.DOTALL)
    assert call
    return json.loads(call[1]), json.loads(call[2])


def silent(done: int, total: int) -> None:
    pass


def test_every_series_and_run_has_its_file(archive: Place, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert write_site(archive, site, silent) == 1
    (series,) = histories(archive)
    name, index = written(site / "data" / "index.js")
    assert name == "index"
    assert isinstance(index, list)
    assert index[0]["key"] == key_of(series)
    assert index[0]["step"] == pytest.approx(0.03)
    name, document = written(site / "data" / "series" / f"{key_of(series)}.js")
    assert isinstance(document, dict)
    assert [point[1] for point in document["points"]] == [900, 900, 927]
    assert (document["steps"][0]["from"], document["steps"][0]["to"]) == ("run-1", "run-2")
    assert sorted(file.name for file in (site / "data" / "runs").iterdir()) == [
        f"run-{number}.js" for number in range(3)
    ]
    assert "uPlot" in (site / "plot.js").read_text()


def test_the_command_names_archive_and_folder(archive: Place, tmp_path: Path) -> None:
    there = tmp_path / "there"
    answer = CliRunner().invoke(cli, ["site", archive.text, "-o", str(there)])
    assert answer.output.splitlines()[-1] == f"{there / 'index.html'}: 1 series"
    assert (there / "index.html").exists()


def test_links_stay_when_the_site_is_written_again(archive: Place, tmp_path: Path) -> None:
    names = []
    for _ in range(2):
        write_site(archive, tmp_path / "site", silent)
        names.append(sorted(p.name for p in (tmp_path / "site" / "data").rglob("*.js")))
    assert names[0] == names[1]


def test_a_folder_of_something_else_is_not_touched(archive: Place, tmp_path: Path) -> None:
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="neither empty nor a site"):
        write_site(archive, other, silent)
    assert [file.name for file in other.iterdir()] == ["thesis.tex"]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_kill_at_any_call_loses_no_site(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site is there, or the next call puts it back, even if that call then fails."""
    site = tmp_path / "sites" / "site"
    write_site(archive, site, silent)
    whole = contents(site)
    missing = 0

    def failing(place: Place) -> None:
        raise StoreError("the archive does not answer")

    for number in itertools.count(1):
        killed = ends_at(number, lambda: write_site(archive, site, silent))
        missing += not site.exists()
        with monkeypatch.context() as patch, pytest.raises(StoreError, match="does not answer"):
            patch.setattr(sites, "histories", failing)
            write_site(archive, site, silent)
        assert contents(site) == whole
        assert [folder.name for folder in site.parent.iterdir()] == ["site"]
        if not killed:
            break
    assert missing == 1  # between the two renames


def test_a_site_that_cannot_be_replaced_stays(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "sites" / "site"
    write_site(archive, site, silent)
    whole = contents(site)
    real = Path.rename

    def rename(path: Path, target: Path) -> Path:
        if path.name.endswith("new"):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        with pytest.raises(StoreError, match="busy"):
            write_site(archive, site, silent)
    assert contents(site) == whole
    assert [folder.name for folder in site.parent.iterdir()] == ["site"]


def test_a_link_to_a_site_stays_a_link(archive: Place, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "site").symlink_to("real")
    for _ in range(2):
        write_site(archive, tmp_path / "site", silent)
        assert (tmp_path / "site").is_symlink()
        assert (tmp_path / "real" / "index.html").exists()
