# SPDX-License-Identifier: Apache-2.0
"""An archive of a stranger: every defect is an error that names its object, and nothing else.

No command ends otherwise, writes outside its output, or leaves the other runs of the archive.
"""

from __future__ import annotations

import random
import resource
import shutil
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.archive.adding import add
from kadenz.archive.place import open_archive
from kadenz.cli import cli
from kadenz.errors import KadenzError
from tests.archive.test_archive import example_run
from tests.hostile.mutated_archives import mutate

CASES = 40  # of each kind of object, in `make test`
MANY = 1000  # of each, in `make test-all`
KINDS = ("runs", "files", "samples")
COMMANDS = (
    ("archive", "check"),
    ("archive", "get", "one", "-o", "out"),
    ("archive", "get", "two", "-o", "out"),
    ("archive", "export", "copy"),
    ("archive", "export", "--public", "public"),
    ("history",),
    ("site", "archive", "-o", "site"),
    ("archive", "query", "SELECT * FROM runs"),
    ("archive", "query", "SELECT run, sum(value) FROM samples GROUP BY run"),
    ("archive", "query", "SELECT * FROM percentiles", "--json"),
    ("archive", "check", "--mend"),
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of two runs that differ."""
    folder = tmp_path_factory.mktemp("good")
    place = open_archive(str(folder / "archive"), create=True)
    for number, id in enumerate(("one", "two")):
        add(place, example_run(folder / "runs", id, 900 + 20 * number), label="main")
    return folder / "archive"


def answer(*arguments: str) -> tuple[object, str]:
    """Exit code or error of a command, and its output."""
    result = CliRunner().invoke(cli, [*arguments], standalone_mode=False)
    if result.exception is None:
        return result.return_value or 0, result.output
    if isinstance(result.exception, KadenzError):
        return result.exception.exit_code, str(result.exception)
    raise result.exception


def attacked(good: Path, folder: Path, kind: str, seed: int) -> None:
    """Three commands on an archive with one changed object."""
    dice = random.Random(f"{kind} {seed}")
    work = folder / "a" / "b" / "c" / "d"  # that `../../../..` leads to a folder of this test
    work.mkdir(parents=True)
    shutil.copytree(good, work / "archive")
    objects = sorted(file for file in (work / "archive" / kind).rglob("*.*") if file.is_file())
    what = mutate(dice.choice(objects), dice)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(work)
        for command in dice.sample(COMMANDS, 3):
            try:
                answer(*command)
            except BaseException as error:
                error.add_note(f"{kind}, seed {seed}: {what}: {' '.join(command)}")
                raise
    allowed = {"archive", "out", "copy", "public", "site"}
    assert {path.name for path in work.iterdir()} <= allowed, (kind, seed, what)
    outside = {path for path in folder.rglob("*") if not path.is_relative_to(work)}
    assert outside == {work.parents[number] for number in range(3)}, (kind, seed, what)
    assert not (work / "out").exists() or {p.name for p in (work / "out").iterdir()} <= {
        "one",
        "two",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_object_is_an_error_and_nothing_else(
    kind: str, good: Path, tmp_path: Path
) -> None:
    _many(good, tmp_path, kind, range(CASES))


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_changed_objects_are_errors_and_nothing_else(
    kind: str, good: Path, tmp_path: Path
) -> None:
    _many(good, tmp_path, kind, range(CASES, MANY))


def _many(good: Path, folder: Path, kind: str, seeds: range) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy: figures of hostile samples overflow
        for seed in seeds:
            attacked(good, folder / "case", kind, seed)
            shutil.rmtree(folder / "case")
    most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert most_kib < 3 << 20
