# SPDX-License-Identifier: Apache-2.0
"""Killed writers of an archive, and checks beside writers: no run is lost, no rest stays."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kadenz.archive import adding, checking, rows
from kadenz.archive.adding import add
from kadenz.archive.checking import Findings, mend
from kadenz.archive.place import Place, open_archive
from kadenz.archive.restore import restore
from kadenz.cli import cli
from kadenz.errors import EXIT_FAILED, EXIT_PASS, StoreError
from kadenz.store import Run, read_run
from kadenz.store.manifest_file import write_manifest
from tests.archive.test_archive import contents, example_run
from tests.store.crashes import ends_at

TWO_DAYS_S = 2 * 86_400


@pytest.fixture
def archive(tmp_path: Path) -> Place:
    return open_archive(str(tmp_path / "archive"), create=True)


def check(place: Place) -> Findings:
    return checking.check(place, lambda done, total: None)


def files(place: Place) -> list[Path]:
    """Every file of an archive, also hidden ones."""
    return [file for file in Path(place.root).rglob("*") if file.is_file()]


def two_days_later(place: Place) -> None:
    """Makes every file two days older."""
    for file in files(place):
        os.utime(file, (time.time() - TWO_DAYS_S,) * 2)


def killed_after_the_texts(place: Place, run: Run) -> None:
    """Adds a run by a process that is killed when its texts are there, and not its samples."""
    for number in itertools.count(1):
        assert ends_at(number, lambda: add(place, run))
        for fragment in place.fragments():
            place.remove(fragment)
        if place.objects("files/*/*.zip"):
            return


def during_the_adding(monkeypatch: pytest.MonkeyPatch, what: Any) -> None:
    """Calls `what` once while a run is added, before its row is there."""
    real, todo = rows.lane_rows, [what]

    def called(*arguments: Any, **named: Any) -> Any:
        if todo:
            todo.pop()()
        return real(*arguments, **named)

    monkeypatch.setattr(adding, "lane_rows", called)


def test_a_check_beside_a_writer_removes_nothing_of_its_run(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = example_run(tmp_path / "runs", "one")

    def checked() -> None:
        findings = check(archive)
        assert (findings.orphans, len(findings.recent)) == ([], 2)
        assert mend(archive, findings) == 0

    during_the_adding(monkeypatch, checked)
    assert add(archive, run).new
    assert contents(restore(archive, "one", tmp_path / "back")) == contents(run.path)


def test_a_run_that_is_added_between_check_and_mend_keeps_its_objects(
    archive: Place, tmp_path: Path
) -> None:
    """Both kinds of findings are looked at again: orphans, and parts of a damaged run."""
    run = example_run(tmp_path / "runs", "one")
    killed_after_the_texts(archive, run)
    two_days_later(archive)
    orphaned = check(archive)
    assert len(orphaned.orphans) == 1
    add(archive, run)
    two_days_later(archive)
    assert mend(archive, orphaned) == 0
    assert mend(archive, Findings(damaged={"one": "it was"})) == 0
    assert contents(restore(archive, "one", tmp_path / "back")) == contents(run.path)


def test_a_run_that_is_added_again_during_a_mend_keeps_its_objects(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = example_run(tmp_path / "runs", "one")
    add(archive, run)
    (object_,) = archive.objects("runs/*/*.parquet")
    (Path(archive.root) / object_).write_bytes(b"PAR1 and nothing else")
    findings = check(archive)
    assert list(findings.damaged) == ["one"]
    real = Place.remove

    def removed(place: Place, relative: str) -> None:
        real(place, relative)
        if relative == object_:
            assert add(place, run).new

    monkeypatch.setattr(Place, "remove", removed)
    assert mend(archive, findings) == 1
    assert contents(restore(archive, "one", tmp_path / "back")) == contents(run.path)


@pytest.mark.parametrize("pattern", ["files/*/*.zip", "samples/*/*/*/*.parquet"])
def test_a_writer_whose_objects_were_removed_writes_them_again(
    pattern: str, archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, or by a check of an older version."""
    run = example_run(tmp_path / "runs", "one")

    def remove() -> None:
        for relative in archive.objects(pattern):
            archive.remove(relative)

    during_the_adding(monkeypatch, remove)
    assert add(archive, run).new
    assert contents(restore(archive, "one", tmp_path / "back")) == contents(run.path)


def test_old_texts_of_a_killed_writer_are_young_again_when_another_completes_the_run(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = example_run(tmp_path / "runs", "one")
    killed_after_the_texts(archive, run)
    two_days_later(archive)
    orphans = []
    during_the_adding(monkeypatch, lambda: orphans.extend(check(archive).orphans))
    assert add(archive, run).new
    assert orphans == []


def test_a_run_that_changed_after_its_adding_was_killed_has_a_remedy(
    archive: Place, tmp_path: Path
) -> None:
    """A partial run was being added; resumed, it has another run.json under the same id."""
    run = example_run(tmp_path / "runs", "one")
    run.manifest.partial, run.manifest.partial_reason = True, "interrupted"
    write_manifest(run.path, run.manifest, sync=False)
    killed_after_the_texts(archive, read_run(run.path))
    run.manifest.partial, run.manifest.partial_reason = False, ""
    write_manifest(run.path, run.manifest, sync=False)
    with pytest.raises(StoreError, match="its adding was ended") as refused:
        add(archive, read_run(run.path))
    assert "check --mend" in refused.value.remedy and "--as" in refused.value.remedy
    two_days_later(archive)
    mend(archive, check(archive))
    assert add(archive, read_run(run.path)).new
    assert contents(restore(archive, "one", tmp_path / "back")) == contents(run.path)


def test_a_kill_at_any_call_leaves_nothing_that_a_check_does_not_find(
    archive: Place, tmp_path: Path
) -> None:
    """The runs go to the same archive: half-written files gather, and none is an object."""
    ids = []
    for number in itertools.count(1):
        id = f"run{number}"
        run = example_run(tmp_path / "runs", id)
        killed = ends_at(number, lambda run=run: add(archive, run))  # type: ignore[misc]
        ids += [id] if archive.objects(f"runs/*/{id}.parquet") else []
        if not killed:
            break
    assert archive.fragments()
    young = check(archive)
    assert (young.runs, young.damaged, young.orphans) == (len(ids), {}, [])
    two_days_later(archive)
    arguments = ["archive", "check", "--archive", archive.text]
    named = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert named.return_value == EXIT_FAILED
    assert all(name in named.output for name in young.recent)
    mended = CliRunner().invoke(cli, [*arguments, "--mend"], standalone_mode=False)
    assert mended.return_value == EXIT_PASS
    left = {file.name for file in files(archive)} - {"archive.json"}
    assert left == {f"{id}.{kind}" for id in ids for kind in ("parquet", "zip")}
    assert check(archive).runs == len(ids)


def test_a_kill_while_an_archive_is_made_leaves_nothing(tmp_path: Path) -> None:
    there = str(tmp_path / "new")
    for number in itertools.count(1):
        if not ends_at(number, lambda: open_archive(there, create=True)):
            break
    place = open_archive(there)
    (tmp_path / "new" / ".DS_Store").touch()  # of somebody else
    assert place.fragments()
    two_days_later(place)
    mend(place, check(place))
    assert {file.name for file in files(place)} == {"archive.json", ".DS_Store"}


def test_a_store_that_does_not_tell_the_age_of_an_object_is_mended_too(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = example_run(tmp_path / "runs", "one")
    killed_after_the_texts(archive, run)

    def silent(path: str) -> None:
        raise NotImplementedError

    monkeypatch.setattr(archive.fs, "modified", silent)
    assert mend(archive, check(archive)) == 1
    assert add(archive, run).new


def test_two_mends_at_once_agree(archive: Place, tmp_path: Path) -> None:
    killed_after_the_texts(archive, example_run(tmp_path / "runs", "one"))
    two_days_later(archive)
    first, second = check(archive), check(archive)
    assert [mend(archive, first), mend(archive, second)] == [1, 0]
    archive.remove(first.orphans[0])
