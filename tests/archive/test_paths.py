# SPDX-License-Identifier: Apache-2.0
"""An archive's path is a path: no character of it is read as a pattern, a column or a URL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.archive.place import open_archive
from kadenz.cli import cli
from kadenz.errors import UsageError
from tests.archive.test_archive import contents, example_run, rows

# The archive, and another place that its name would match or stand for.
PATHS = [
    ("lab[1]", "lab1"),
    ("lab[!1]", "lab2"),
    ("lab?", "lab1"),
    ("l*b", "lab"),
    ("**", "lab"),
    ("[", "lab"),
    ("[[]", "["),
    ("a{b,c}", "ab"),
    ("back\\slash", "backslash"),
    ("back\\[1]", "back[1]"),
    ("run=7/month=1999-01", "lab"),  # hive partitions, of which the layout has some itself
    ("target=other", "lab"),
    ("two::parts", "lab"),  # a chain of fsspec
    ("runs/../lab[1]", "lab1"),
    ("s3:lab", "lab"),
    ("file:lab", "lab"),
    ('it\'s 100 % "mine"', "lab"),
    ("two\nlines", "lab"),
]


def answer(*arguments: str | Path) -> str:
    result = CliRunner().invoke(
        cli, [str(argument) for argument in arguments], standalone_mode=False
    )
    if result.exception is not None:
        raise result.exception
    assert not result.return_value, result.output
    return result.stdout


@pytest.mark.parametrize(("name", "other"), PATHS)
def test_every_command_of_an_archive_takes_its_path_as_a_path(
    name: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # names without a folder before them, as users write them
    run = example_run(tmp_path / "runs", "one")
    answer("archive", "add", example_run(tmp_path / "runs", "another").path, "--archive", other)
    answer("archive", "add", run.path, "--archive", name, "--label", "main")
    assert (tmp_path / name / "archive.json").is_file()

    def read(place: str) -> object:
        sql = "SELECT DISTINCT run, strftime(created, '%Y-%m') = month, target, bench FROM records"
        return json.loads(answer("archive", "query", sql, "--json", "--archive", place))

    records = read(name)
    assert {record["run"] for record in records} == {"one"}  # type: ignore[attr-defined]
    assert all(all(record.values()) for record in records)  # type: ignore[attr-defined]
    samples = "SELECT run, target, bench, count(*) FROM samples GROUP BY ALL"
    assert rows(open_archive(name), samples) == [
        ("one", run.manifest.target.name, "itc/queue", 800)
    ]
    columns = "SELECT column_name FROM (DESCRIBE records) ORDER BY ALL"
    assert rows(open_archive(name), columns) == rows(open_archive(other), columns)
    assert "1 runs intact, 0 damaged, 0 objects" in answer("archive", "check", "--archive", name)
    answer("archive", "get", "one", "--archive", name, "-o", "back")
    assert contents(tmp_path / "back" / "one") == contents(run.path)
    assert "itc/queue" in answer("history", "--archive", name, "--label", "main")
    assert "series" in answer("site", name, "-o", "site")
    answer("archive", "export", "copy[1]", "--archive", name)
    assert read("copy[1]") == records
    again = example_run(tmp_path / "runs", "again").path
    assert "pass" in answer("gate", again, "--against", "archive:main", "--archive", name)


def test_a_path_in_an_object_store_is_a_path(tmp_path: Path) -> None:
    for id, name in (("one", "memory://lab[1]/l*b"), ("another", "memory://lab1/lab")):
        answer("archive", "add", example_run(tmp_path / "runs", id).path, "--archive", name)
        assert rows(open_archive(name), "SELECT DISTINCT run FROM samples") == [(id,)]


def test_a_run_is_named_and_not_matched(tmp_path: Path) -> None:
    place = str(tmp_path / "archive")
    for id in ("a1", "a[1]", "a*"):
        answer("archive", "add", example_run(tmp_path / "runs", id).path, "--archive", place)
    for id in ("a[1]", "a*"):
        answer("archive", "get", id, "--archive", place, "-o", tmp_path / "back")
        assert contents(tmp_path / "back" / id) == contents(tmp_path / "runs" / id)
    with pytest.raises(UsageError, match=r"no run \*"):
        answer("archive", "get", "*", "--archive", place, "-o", tmp_path / "back")
