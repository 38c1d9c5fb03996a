# SPDX-License-Identifier: Apache-2.0
"""Names in an archive: the object says which run it is; columns and files may say anything."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kadenz.archive import seal, texts
from kadenz.archive.adding import add
from kadenz.archive.checking import Findings, check
from kadenz.archive.objects import is_object
from kadenz.archive.place import Place, open_archive
from kadenz.archive.restore import restore
from kadenz.archive.statistics import NAMES
from kadenz.config.manifest import SCHEMA_VERSION
from kadenz.errors import EXIT_FAILED, EXIT_PASS, StoreError
from tests.archive.test_archive import contents, example_run, rows
from tests.hostile.test_archives import answer

EVIL = "../../../evil"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Two runs, `one` and `two`; the working folder is deep enough for `../../..`."""
    work = tmp_path / "a" / "b" / "c"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    place = open_archive("archive", create=True)
    for number, id in enumerate(("one", "two")):
        add(place, example_run(tmp_path / "runs", id, 900 + 20 * number))
    return place


def checked(place: Place) -> Findings:
    return check(place, lambda done, total: None)


def object_of(place: Place, pattern: str) -> Path:
    (name,) = place.objects(pattern)
    return Path(place.root) / name


def set_column(file: Path, name: str, value: Any) -> None:
    """A sealed object with one value in a whole column."""
    table = pq.read_table(file, partitioning=None)
    column = pa.array([value] * table.num_rows, pa.string())
    at = table.column_names.index(name)
    store(file, table.set_column(at, name, column))


def store(file: Path, table: Any) -> None:
    out = io.BytesIO()
    with pq.ParquetWriter(out, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({seal.KEY: seal.BLANK})
    file.write_bytes(seal.sealed(out.getvalue()))


def rezip(file: Path, change: Callable[[dict[Any, bytes]], None]) -> None:
    """A sealed zip file with other entries: bytes by name, or by zipfile.ZipInfo."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old:
        entries: dict[Any, bytes] = {member.filename: old.read(member) for member in old.infolist()}
    change(entries)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as box:
        box.comment = f"{seal.KEY}: {seal.BLANK}".encode()
        for name, content in entries.items():
            box.writestr(name, content)
    file.write_bytes(seal.sealed(out.getvalue()))


def set_manifest(file: Path, **values: Any) -> None:
    def change(entries: dict[Any, bytes]) -> None:
        plain = json.loads(entries["run.json"]) | values
        entries["run.json"] = json.dumps(plain).encode()

    rezip(file, change)


def outside(place: Place) -> set[str]:
    """What is beside the folders that the commands of a test write."""
    work = Path(place.root).parent
    outputs = {"archive", "site", "out", "copy"}
    return {
        str(path.relative_to(work.parents[2]))
        for path in work.parents[2].rglob("*")
        if not path.is_relative_to(work.parents[2] / "runs")
        and not (
            path.is_relative_to(work)
            and path.relative_to(work).parts[:1]
            and path.relative_to(work).parts[0] in outputs
        )
    }


def test_a_run_is_called_as_its_object_whatever_its_column_says(archive: Place) -> None:
    before = outside(archive)
    for pattern in ("runs/*/one.parquet", "samples/*/*/*/one.parquet"):
        set_column(object_of(archive, pattern), "run", EVIL)
    assert rows(archive, "SELECT run FROM runs ORDER BY run") == [("one",), ("two",)]
    assert rows(archive, "SELECT DISTINCT run FROM samples ORDER BY run") == [("one",), ("two",)]
    assert answer("site", "archive", "-o", "site")[0] == EXIT_PASS
    data = Path("site/data")
    assert {file.name for file in (data / "runs").iterdir()} == {"one.js", "two.js"}
    assert "evil" not in (data / "runs.js").read_text()
    code, text = answer("archive", "check")
    assert code == EXIT_FAILED
    assert "damaged: one: " in text and "its rows are not those of the run one" in text
    assert answer("archive", "export", "copy")[0] == EXIT_PASS
    assert outside(archive) == before


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"id": EVIL}, "is not the name of a folder"),
        ({"id": ".."}, "is not the name of a folder"),
        ({"id": "x" * 201}, "is not the name of a folder"),
        ({"id": "nul\0"}, "is not the name of a folder"),
        ({"id": "\x1b[2J"}, "is not the name of a folder"),
        ({"id": "two"}, "it holds the run two"),
        ({"created": "2026-10-01T00:00:00Z"}, "it holds the run one of 2026-10"),
        ({"created": "2026/../../x"}, "is not a time"),
        ({"created": "20261101T000000Z"}, "is not a time"),
        ({"created": "0001-01-01T00:00:00+14:00"}, "is not a time"),
    ],
    ids=lambda value: str(value)[:30].encode("unicode_escape").decode(),
)
def test_a_manifest_is_of_the_run_and_the_month_of_its_object(
    values: dict[str, Any], why: str, archive: Place
) -> None:
    before = outside(archive)
    set_manifest(object_of(archive, "files/*/one.zip"), **values)
    with pytest.raises(StoreError) as refused:
        restore(archive, "one", Path("out"))
    assert why in refused.value.message
    assert "files/month=2026-11/one.zip" in refused.value.message
    assert why in checked(archive).damaged["one"]
    assert outside(archive) == before


def test_a_lane_is_in_its_own_file(archive: Place) -> None:
    def change(entries: dict[Any, bytes]) -> None:
        plain = json.loads(entries["run.json"])
        plain["records"][0]["lanes"][0]["file"] = EVIL
        entries["run.json"] = json.dumps(plain).encode()

    rezip(object_of(archive, "files/*/one.zip"), change)
    before = outside(archive)
    with pytest.raises(StoreError, match="the samples of this lane are in samples/"):
        restore(archive, "one", Path("out"))
    assert outside(archive) == before


@pytest.mark.parametrize(
    "name",
    [
        EVIL,
        "/evil",
        "a/../../evil",
        ".hidden",
        "a/.hidden",
        "run.json/x",
        "samples/x.npy",
        "",
        "folder/",
        "\x1b[2J",
        "x" * 201,
    ],
)
def test_a_zip_file_has_plain_names(name: str, archive: Place) -> None:
    before = outside(archive)

    def change(entries: dict[Any, bytes]) -> None:
        entries[zipfile.ZipInfo(name)] = b"evil"

    rezip(object_of(archive, "files/*/one.zip"), change)
    with pytest.raises(StoreError, match=r"one\.zip: damaged"):
        restore(archive, "one", Path("out"))
    assert list(Path("out").iterdir()) == []
    assert outside(archive) == before


@pytest.mark.parametrize("mode", [0o120777, 0o010644, 0o040755])
def test_a_zip_file_has_no_links_pipes_and_folders(mode: int, archive: Place) -> None:
    entry = zipfile.ZipInfo("x")
    entry.external_attr = mode << 16
    rezip(object_of(archive, "files/*/one.zip"), lambda entries: entries.update({entry: b"/etc"}))
    with pytest.raises(StoreError, match="x is not a file of a run"):
        restore(archive, "one", Path("out"))


def test_a_zip_file_has_each_file_once(archive: Place) -> None:
    twice = zipfile.ZipInfo("run.json")
    with pytest.warns(UserWarning, match="Duplicate name"):
        rezip(object_of(archive, "files/*/one.zip"), lambda entries: entries.update({twice: b"{}"}))
    with pytest.raises(StoreError, match="a file twice"):
        restore(archive, "one", Path("out"))


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "name", "month"])
@pytest.mark.parametrize("pattern", ["runs/*/one.parquet", "samples/*/*/*/one.parquet"])
def test_what_is_no_object_is_named_and_left(kind: str, pattern: str, archive: Place) -> None:
    stored = object_of(archive, pattern)
    there = stored.with_name("more.parquet")
    if kind == "pipe":
        os.mkfifo(there)
    elif kind == "link":
        there.symlink_to("/dev/zero")
    elif kind == "folder":
        there.mkdir()
    elif kind == "name":
        there = stored.with_name(".more.parquet")
        there.touch()
    else:
        there = stored.parent.with_name("month=x") / stored.name
        there.parent.mkdir()
        there.touch()
    relative = there.relative_to(archive.root).as_posix()
    code, text = answer("archive", "query", "SELECT * FROM samples")
    assert code == EXIT_FAILED and relative in text
    for arguments in (("archive", "check"), ("archive", "check", "--mend")):
        code, text = answer(*arguments)
        assert code == EXIT_FAILED and f"no object: {relative}" in text
        assert "2 runs intact" in text
    assert os.path.lexists(there)
    there.rmdir() if kind == "folder" else there.unlink()
    assert answer("archive", "check")[0] == EXIT_PASS


def test_no_link_inside_an_archive_is_followed(archive: Place, tmp_path: Path) -> None:
    """Neither to read, nor to write, nor to mend; the archive itself may be behind one."""
    month = object_of(archive, "files/*/one.zip").parent
    elsewhere = tmp_path / "elsewhere"
    month.rename(elsewhere)
    month.symlink_to(elsewhere)
    kept = contents(elsewhere)
    with pytest.raises(StoreError, match="a link, which is not followed"):
        restore(archive, "one", Path("out"))
    with pytest.raises(StoreError, match="behind a link, which is not followed"):
        add(archive, example_run(tmp_path / "more", "three"))
    Path("linked").symlink_to("archive")
    month.unlink()
    elsewhere.rename(month)
    assert restore(open_archive("linked"), "one", Path("out")).is_dir()
    month.rename(elsewhere)
    month.symlink_to(elsewhere)
    answer("archive", "check", "--mend")
    assert contents(elsewhere) == kept


def test_a_link_in_a_run_folder_is_not_archived(archive: Place, tmp_path: Path) -> None:
    run = example_run(tmp_path / "more", "three")
    (tmp_path / "secret").write_text("secret")
    (run.path / "console.txt").symlink_to(tmp_path / "secret")
    for options in ((), ("--as", "four")):
        code, text = answer("archive", "add", str(run.path), *options)
        assert code == EXIT_FAILED
        assert "console.txt: a link, which is not followed" in text
        assert "Move that file out of the folder" in text
    assert archive.objects("*/*/three.*") == archive.objects("*/*/four.*") == []


def test_names_of_objects_are_those_that_kadenz_gives() -> None:
    good = ("runs/month=2026-11/a.b+c[1].parquet", "files/month=2026-11/x.zip")
    assert all(map(is_object, good))
    bad: tuple[str, ...] = (
        "runs/month=2026-11/.x.parquet",
        "runs/month=../x.parquet",
        "runs/x.parquet",
    )
    bad += ("samples/target=a/bench=b c/month=2026-11/x.parquet", "runs/month=2026-11/\x1b.parquet")
    assert not any(map(is_object, bad))


def test_a_run_of_a_newer_kadenz_is_neither_damaged_nor_the_end(archive: Place) -> None:
    file = object_of(archive, "files/*/one.zip")
    set_manifest(file, schema_version=SCHEMA_VERSION + 1, more=[])
    for arguments in (("archive", "check"), ("archive", "check", "--mend")):
        code, text = answer(*arguments)
        assert code == EXIT_FAILED
        assert "1 runs intact, 0 damaged, 0 objects" in text
        assert "not checked, written by a newer kadenz: one; update kadenz" in text
    assert file.exists()
    for options in (("copy",), ("--public", "public")):
        code, text = answer("archive", "export", *options)
        assert code == EXIT_FAILED
        assert "left out: " in text and "one.zip/run.json: written by a newer kadenz" in text
        assert rows(open_archive(options[-1]), "SELECT run FROM runs") == [("two",)]
    code, text = answer("archive", "get", "one", "-o", "out")
    assert (code, "Update kadenz" in text) == (EXIT_FAILED, True)
    assert answer("archive", "get", "two", "-o", "out")[0] == EXIT_PASS


def test_a_bomb_is_not_unpacked(archive: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever size it states; 3 GB take 3 MB."""
    file = object_of(archive, "files/*/one.zip")
    rezip(file, lambda entries: entries.update({"console.txt": bytes(1 << 22)}))
    monkeypatch.setattr(texts, "UNPACKED_BYTES", 1 << 21)
    code, text = answer("archive", "get", "one", "-o", "out")
    assert code == EXIT_FAILED
    assert "one.zip: damaged: its files have more than" in text
    assert list(Path("out").iterdir()) == []
    code, text = answer("archive", "check")
    assert (code, "1 runs intact, 1 damaged" in text) == (EXIT_FAILED, True)


def test_files_of_a_run_are_counted(archive: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "ENTRIES", 10)
    more = {f"{number}.txt": b"" for number in range(10)}
    rezip(object_of(archive, "files/*/one.zip"), lambda entries: entries.update(more))
    with pytest.raises(StoreError, match="11 files; a run has at most 10"):
        restore(archive, "one", Path("out"))


def test_what_no_archive_gives_back_is_not_added(
    archive: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = example_run(tmp_path / "more", "three")
    (run.path / "console.txt").write_bytes(bytes(1 << 16))
    monkeypatch.setattr(texts, "UNPACKED_BYTES", 1 << 15)
    with pytest.raises(StoreError, match="its files have more than"):
        add(archive, run)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    (run.path / "a\nb.txt").write_text("")
    with pytest.raises(StoreError, match="is not the name of a file of a run"):
        add(archive, run)


def test_rows_beyond_those_of_a_run_are_not_read(archive: Place) -> None:
    """A few kilobytes of Parquet may stand for 10^9 rows."""
    file = object_of(archive, "runs/*/one.parquet")
    table = pq.read_table(file, partitioning=None)
    for name in ("values", "counts"):
        at, kind = table.column_names.index(name), table.schema.field(name).type
        table = table.set_column(at, name, pa.nulls(table.num_rows, kind))
    store(file, table.take(pa.array([0] * 300_000)))
    assert file.stat().st_size < 50_000
    for arguments in (
        ("history",),
        ("site", "archive", "-o", "site"),
        ("archive", "export", "copy"),
    ):
        code, text = answer(*arguments)
        assert code == EXIT_FAILED
        assert "runs/month=2026-11/one.parquet" in text and "rows" in text
    assert "300,000 rows; a run has at most 200,000" in checked(archive).damaged["one"]
    samples = object_of(archive, "samples/*/*/*/two.parquet")
    table = pq.read_table(samples, partitioning=None)
    store(samples, table.take(pa.array([0] * 300_000)))
    with pytest.raises(StoreError, match="300,000 samples, run.json says 1,300"):
        restore(archive, "two", Path("out"))


@pytest.mark.parametrize("column", ["p50", "conditions", "created", "quick", "n", "values"])
def test_a_wrong_or_missing_column_names_its_object(column: str, archive: Place) -> None:
    """Found when DuckDB opens the objects, or when it reads them: the error says which it was."""
    good = object_of(archive, "runs/*/one.parquet")
    whole = good.read_bytes()
    table = pq.read_table(good, partitioning=None)
    at, named = table.column_names.index(column), NAMES.get(column, column)
    strings = pa.array(["no number"] * table.num_rows)
    changed = {
        "missing": table.remove_column(at),
        "other": table.set_column(at, column, strings),
        "bytes": table.set_column(at, column, strings.cast(pa.binary())),
    }
    for id in ("one", "two"):
        file = object_of(archive, f"runs/*/{id}.parquet")
        for kind, hostile in changed.items():
            kept = file.read_bytes()
            store(file, hostile)
            code, text = answer("archive", "query", f'SELECT "{named}" FROM stored')
            if kind == "missing" or column != "conditions":
                assert code == EXIT_FAILED, (id, kind, text)
                assert f"{id}.parquet" in text, (id, kind, text)
                assert f"column {column}" in checked(archive).damaged[id]
            file.write_bytes(kept)
    assert good.read_bytes() == whole
