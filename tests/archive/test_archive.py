# SPDX-License-Identifier: Apache-2.0
"""An archive keeps runs whole: added once, read with SQL, restored to the byte."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.archive import place as places
from kadenz.archive import seal
from kadenz.archive.adding import add
from kadenz.archive.checking import check, mend
from kadenz.archive.place import Place, open_archive
from kadenz.archive.query import connect, run_sql
from kadenz.archive.restore import restore
from kadenz.cli import cli
from kadenz.config.manifest import SCHEMA_VERSION
from kadenz.errors import EXIT_FAILED, StoreError, UsageError
from kadenz.store import Run, read_run
from tests.synthetic import LINUX, STM32F4, Point, Samples, linux_points, manifest, write_run


def example_run(folder: Path, id: str, centre: int = 900, target: dict[str, str] = STM32F4) -> Run:
    rng = np.random.default_rng(7)
    lanes: dict[str, Any] = {
        "core0": rng.integers(centre, centre + 40, 500).astype(np.uint32),
        "core0:cycle": np.arange(500, dtype=np.uint32),
        "core1": rng.normal(3.0, 1.0, 300).astype(np.float64),
    }
    points = [
        Point("itc/queue", lanes, {"size_bytes": 60}, cold=3, missed=2),
        Point("itc/pipe", {"all": np.empty(0, np.uint32)}, status="n/a", reason="no pipes here"),
    ]
    return read_run(write_run(folder, manifest(target, id=id), points))


@pytest.fixture
def archive(tmp_path: Path) -> Place:
    return open_archive(str(tmp_path / "archive"), create=True)


def rows(place: Place, sql: str) -> list[Any]:
    return list(run_sql(place, connect(place), sql).fetchall())


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_run_comes_back_byte_for_byte(archive: Place, tmp_path: Path) -> None:
    run = example_run(tmp_path / "runs", "one")
    (run.path / "console.txt").write_text("hello\n")
    assert add(archive, run, label="main").samples == 1300
    back = restore(archive, "one", tmp_path / "back")
    assert contents(back) == contents(run.path)


def test_adding_twice_doubles_nothing(archive: Place, tmp_path: Path) -> None:
    run = example_run(tmp_path / "runs", "one")
    assert [add(archive, run).new, add(archive, run).new] == [True, False]
    assert rows(archive, "SELECT count(*), sum(samples) FROM runs") == [(1, 497 + 297)]
    assert rows(archive, "SELECT count(*) FROM samples") == [(500 + 500 + 300 - 500,)]


def test_figures_equal_those_of_the_samples(archive: Place, tmp_path: Path) -> None:
    run = example_run(tmp_path / "runs", "one")
    add(archive, run)
    warm = np.sort(run.samples(run.manifest.records[0], 0)[3:])
    expected = (float(warm[0]), float(warm[int(np.ceil(0.5 * warm.size)) - 1]), float(warm[-1]))
    where = "WHERE bench = 'itc/queue' AND lane = 'core0'"
    assert rows(archive, f"SELECT min, median, max FROM records {where}") == [expected]
    assert rows(archive, f"SELECT min, median, max FROM percentiles {where}") == [expected]
    quantiles = "min(value), quantile_disc(value, 0.5), max(value)"
    assert rows(archive, f"SELECT {quantiles} FROM samples {where} AND NOT cold") == [expected]


def test_percentiles_of_several_runs_are_those_of_all_their_samples(
    archive: Place, tmp_path: Path
) -> None:
    for number in range(3):
        add(archive, example_run(tmp_path / "runs", f"run{number}", 900 + 15 * number))
    pooled = rows(
        archive,
        "SELECT quantile_disc(value, [0.5, 0.9, 0.99]) FROM samples "
        "WHERE lane = 'core0' AND NOT cold",
    )
    kept = rows(archive, "SELECT [median, p90, p99] FROM percentiles WHERE lane = 'core0'")
    assert kept == pooled


def test_what_a_kernel_lacks_is_kept_with_its_reason(archive: Place, tmp_path: Path) -> None:
    add(archive, example_run(tmp_path / "runs", "one"))
    records = rows(archive, "SELECT status, reason, n FROM records WHERE bench = 'itc/pipe'")
    assert records == [("n/a", "no pipes here", 0)]


def test_units_and_classes_travel_with_figures(archive: Place, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    add(archive, read_run(write_run(tmp_path, manifest(LINUX, id="l"), linux_points(rng, 200))))
    assert rows(archive, "SELECT DISTINCT unit, class FROM percentiles") == [("µs", "hosted")]


def test_another_run_under_the_same_id_is_refused(archive: Place, tmp_path: Path) -> None:
    add(archive, example_run(tmp_path / "a", "one"))
    with pytest.raises(StoreError, match="another run with the id one"):
        add(archive, example_run(tmp_path / "b", "one", 950))
    assert rows(archive, "SELECT count(*) FROM runs") == [(1,)]


def test_a_writer_of_another_run_with_the_same_id_overwrites_nothing(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both looked before either had written: the second is refused before it writes samples."""
    first = example_run(tmp_path / "a", "one")
    add(archive, first)
    with monkeypatch.context() as patch:
        patch.setattr(Place, "exists", lambda place, relative: False)
        with pytest.raises(StoreError, match="another run with the id one") as refused:
            add(archive, example_run(tmp_path / "b", "one", 950))
    assert "--as" in refused.value.remedy
    assert contents(restore(archive, "one", tmp_path / "back")) == contents(first.path)


def test_a_run_whose_id_is_taken_is_added_under_another(archive: Place, tmp_path: Path) -> None:
    add(archive, example_run(tmp_path / "a", "one"))
    other = example_run(tmp_path / "b", "one", 950)
    arguments = ["archive", "add", "--archive", archive.text, "--as", "one-b", str(other.path)]
    for _ in range(2):
        assert CliRunner().invoke(cli, arguments).exit_code == 0
    assert rows(archive, "SELECT run FROM runs ORDER BY run") == [("one",), ("one-b",)]
    back = contents(restore(archive, "one-b", tmp_path / "back"))
    assert {name for name, kept in back.items() if kept != contents(other.path)[name]} == {
        "run.json"
    }
    assert CliRunner().invoke(cli, [*arguments[:5], "../b", str(other.path)]).exit_code != 0


def _add_all(archive: str, folders: list[Path]) -> None:
    place = open_archive(archive, create=True)
    for folder in folders:
        add(place, read_run(folder))


def test_two_writers_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    runs = [example_run(tmp_path / "runs", f"run{number}").path for number in range(6)]
    context = multiprocessing.get_context("spawn")
    there = str(tmp_path / "archive")
    # Both add all, in opposite orders, so that they meet.
    writers = [
        context.Process(target=_add_all, args=(there, order)) for order in (runs, runs[::-1])
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    place = open_archive(there)
    assert rows(place, "SELECT count(*), count(DISTINCT run) FROM runs") == [(6, 6)]
    findings = check(place, lambda done, total: None)
    assert (findings.runs, findings.damaged, findings.orphans) == (6, {}, [])


@pytest.mark.parametrize("failing", range(4))
def test_a_full_disk_leaves_no_half_run(
    failing: int, archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever object the disk is full: the run is not visible, and adding it again works."""
    add(archive, example_run(tmp_path / "runs", "before"))
    run = example_run(tmp_path / "runs", "one")
    real, calls = places._write_file, 0

    def full(path: Path, content: bytes, *, new: bool) -> bool:
        nonlocal calls
        calls += 1
        if calls > failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, content, new=new)

    with monkeypatch.context() as patch:
        patch.setattr(places, "_write_file", full)
        if failing < 3:  # samples, texts, and the object that makes it visible
            with pytest.raises(StoreError, match="No space left"):
                add(archive, run)
            assert rows(archive, "SELECT run FROM runs") == [("before",)]
            assert rows(archive, "SELECT DISTINCT run FROM samples") == [("before",)]
        else:
            add(archive, run)
    add(archive, run)
    assert rows(archive, "SELECT run FROM runs ORDER BY run") == [("before",), ("one",)]
    assert check(archive, lambda done, total: None).runs == 2


def test_damage_is_named_and_mended(archive: Place, tmp_path: Path) -> None:
    intact, broken = (example_run(tmp_path / "runs", id) for id in ("intact", "broken"))
    for run in (intact, broken):
        add(archive, run)
    (object_,) = archive.objects("samples/*/*/*/broken.parquet")
    file = Path(archive.root) / object_
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(StoreError, match="damaged"):
        restore(archive, "broken", tmp_path / "back")
    assert not list((tmp_path / "back").iterdir())
    findings = check(archive, lambda done, total: None)
    assert findings.runs == 1
    assert "broken.parquet" in findings.damaged["broken"]
    mend(archive, findings)
    add(archive, broken)
    assert check(archive, lambda done, total: None).runs == 2


@pytest.mark.parametrize("pattern", ["runs/*/*.parquet", "samples/*/*/*/*.parquet", "files/*/*"])
def test_no_changed_bit_passes_for_data(pattern: str, archive: Place, tmp_path: Path) -> None:
    """One bit at many places: pages, footer, directory, and the digest itself."""
    add(archive, example_run(tmp_path / "runs", "one"))
    (object_,) = archive.objects(pattern)
    file = Path(archive.root) / object_
    good = file.read_bytes()
    key = good.rfind(seal.KEY.encode())

    def flipped(at: int) -> bytes:
        return good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :]

    # Without its name there is no seal to break; the data is then whole.
    places = {*range(0, len(good), 7), *range(len(good) - 300, len(good))}
    places -= set(range(key, key + len(seal.KEY)))
    assert [at for at in places if seal.intact(flipped(at)) is not False] == []
    file.write_bytes(flipped(len(good) // 2))
    findings = check(archive, lambda done, total: None)
    assert object_ in findings.damaged["one"]


def test_objects_without_a_digest_are_counted(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(seal, "sealed", lambda content: content.replace(b"kadenz_sha", b"unknown-to"))
        add(archive, example_run(tmp_path / "runs", "older"))
    add(archive, example_run(tmp_path / "runs", "one"))
    findings = check(archive, lambda done, total: None)
    assert (findings.runs, findings.unsealed) == (2, ["older"])


def test_a_damaged_object_is_an_error_of_a_query(archive: Place, tmp_path: Path) -> None:
    add(archive, example_run(tmp_path / "runs", "one"))
    (object_,) = archive.objects("runs/*/one.parquet")
    (Path(archive.root) / object_).write_bytes(b"PAR1 and nothing else")
    with pytest.raises(StoreError, match=r"one\.parquet: damaged"):
        rows(archive, "SELECT * FROM runs")


def test_a_newer_archive_and_a_foreign_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "archive.json").write_text('{"kadenz_archive": 2}')
    with pytest.raises(StoreError, match="format 2"):
        open_archive(str(tmp_path / "newer"))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").touch()
    with pytest.raises(UsageError, match="neither empty nor an archive"):
        open_archive(str(tmp_path / "foreign"), create=True)
    with pytest.raises(UsageError, match="no archive here"):
        open_archive(str(tmp_path / "nowhere"))


def test_a_clock_that_was_set_back_is_noted(archive: Place, tmp_path: Path) -> None:
    ahead = manifest(STM32F4, id="ahead")
    ahead.created = "2199-01-01T00:00:00Z"
    run = read_run(write_run(tmp_path, ahead, []))
    assert "was a clock set back?" in add(archive, run).note


def test_a_run_that_is_dated_before_the_newest_of_its_system_is_noted(
    archive: Place, tmp_path: Path
) -> None:
    def added(*ids: str) -> str:
        folders = [str(example_run(tmp_path / "runs", f"{id}-freertos-stm32f4").path) for id in ids]
        arguments = ["archive", "add", "--archive", archive.text, *folders]
        return CliRunner().invoke(cli, arguments).output

    assert "set back" not in added("20261121-103000", "20261121-103001")
    assert "20261120-103000-freertos-stm32f4: dated before 20261121-103001" in added(
        "20261120-103000"
    )
    assert "set back" not in added("20261122-103000")


def test_a_run_of_a_newer_schema_is_named_and_the_others_are_added(
    archive: Place, tmp_path: Path
) -> None:
    newer, good = example_run(tmp_path / "runs", "newer"), example_run(tmp_path / "runs", "one")
    manifest_file = newer.path / "run.json"
    document = json.loads(manifest_file.read_text())
    manifest_file.write_text(json.dumps(document | {"schema_version": SCHEMA_VERSION + 1}))
    arguments = ["archive", "add", "--archive", archive.text, str(newer.path), str(good.path)]
    answer = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert answer.return_value == EXIT_FAILED
    assert "written by a newer kadenz" in answer.output
    assert rows(archive, "SELECT run FROM runs") == [("one",)]


def test_a_query_without_a_row_still_names_its_columns(archive: Place, tmp_path: Path) -> None:
    add(archive, example_run(tmp_path, "there"))
    query = ["archive", "query", "SELECT run, commit FROM runs WHERE run = 'x'"]
    answer = CliRunner().invoke(cli, [*query, "--archive", archive.text])
    assert answer.exit_code == 0 and answer.output.split()[:2] == ["run", "commit"]


def test_a_record_whose_proof_failed_gives_an_archive_no_figure(
    archive: Place, tmp_path: Path
) -> None:
    """Of a run of others, whose status says ok."""
    samples: dict[str, Samples] = {"all": np.full(50, 7, np.uint32)}
    points = [Point("itc/a", samples), Point("itc/b", samples, failed_checks=2)]
    add(archive, read_run(write_run(tmp_path, manifest(STM32F4), points)))
    assert rows(archive, "SELECT bench, status FROM records ORDER BY bench") == [
        ("itc/a", "ok"),
        ("itc/b", "invalid"),
    ]
    assert rows(archive, "SELECT DISTINCT bench FROM percentiles") == [("itc/a",)]
    kept = rows(archive, "SELECT DISTINCT bench, status FROM samples ORDER BY bench")
    assert kept == [("itc/a", "ok"), ("itc/b", "invalid")]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB; only root may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full_leaves_no_half_run(disk: Path, tmp_path: Path) -> None:
    place = open_archive(str(disk / "archive"), create=True)
    add(place, example_run(tmp_path / "runs", "one"))
    with pytest.raises(StoreError, match="No space left"):
        for number in range(4):
            add(place, example_run(tmp_path / "runs", f"more{number}"))
    kept = check(place, lambda done, total: None)
    assert kept.damaged == {}
    assert kept.runs == len(place.objects("runs/*/*.parquet")) >= 1


def test_a_read_only_disk_is_an_error_and_readable(disk: Path, tmp_path: Path) -> None:
    add(open_archive(str(disk / "archive"), create=True), example_run(tmp_path / "runs", "one"))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    place = open_archive(str(disk / "archive"))
    with pytest.raises(StoreError, match="Read-only file system"):
        add(place, example_run(tmp_path / "runs", "two"))
    assert rows(place, "SELECT run FROM runs") == [("one",)]
    assert check(place, lambda done, total: None).runs == 1


def test_an_object_store_is_a_place_like_any_other(tmp_path: Path) -> None:
    """fsspec's own store in memory: no folder, no rename, no lock."""
    place = open_archive("memory://lab/archive", create=True)
    run = example_run(tmp_path / "runs", "one")
    assert [add(place, run).new, add(place, run).new] == [True, False]
    assert rows(place, "SELECT count(*) FROM samples WHERE lane = 'core0'") == [(500,)]
    back = restore(place, "one", tmp_path / "back")
    assert contents(back) == contents(run.path)


def test_wrong_sql_is_the_users_error(archive: Place, tmp_path: Path) -> None:
    add(archive, example_run(tmp_path / "runs", "one"))
    with pytest.raises(UsageError, match="nothing_like_it"):
        rows(archive, "SELECT nothing_like_it FROM runs")


def test_a_store_that_does_not_answer_is_named() -> None:
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class NoEndpoint(Exception):
        """As of the packages of object stores: no OSError."""

    class Gone(MemoryFileSystem):  # type: ignore[misc]
        protocol = "gone"

        def exists(self, path: str, **_: object) -> bool:
            raise NoEndpoint("Could not connect to the endpoint URL")

    fsspec.register_implementation("gone", Gone, clobber=True)
    with pytest.raises(
        StoreError, match="gone://lab/archive: cannot be reached: Could not"
    ) as refused:
        open_archive("gone://lab/archive")
    assert "credentials" in refused.value.remedy
