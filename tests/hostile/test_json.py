# SPDX-License-Identifier: Apache-2.0
"""JSON of others: nesting that is too deep and letters that are none are damage like any other."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kadenz.archive.place import open_archive
from kadenz.errors import KadenzError
from kadenz.images import shared_name
from kadenz.images.footprint import _Origins
from kadenz.images.provenance import Homes
from kadenz.json_text import read_json
from kadenz.lab import catalog
from kadenz.store.names import runs_below
from kadenz.store.reader import read_run
from kadenz.store.running import storage_of
from kadenz.tuning.journal import read_journal
from kadenz.values.entry import DamagedError, Entry

PACKAGE = Path(__file__).resolve().parents[2] / "kadenz"
DEEP = 100_000
BAD = {
    "no letters": b'{"x": "\xff"}',
    "no letters in a key": b'{"\xff": 1}',
    "arrays in each other": b'{"x": ' + b"[" * DEEP,
    "objects in each other": b'{"x":' * DEEP,
    "a list of bad letters": b'[{"directory": "\xc0\x80"}]',
    "a list in lists": b"[" * DEEP,
    "half of a pair": b'{"x": "\\ud800"}',
    "nothing": b"",
}
DECODERS = ("json.load", "json.loads", "msgspec.json.decode")
# By the name of the file: the reader, and its answer to damage.
READERS: dict[str, tuple[Callable[[Path], object], object]] = {
    "run/run.json": (lambda folder: read_run(folder / "run"), "an error"),
    "one/run.json": (runs_below, []),
    ".running": (storage_of, None),
    "catalog.json": (lambda folder: catalog.remembered(folder, None), None),
    "journal.jsonl": (read_journal, "an error"),
    "key": (lambda folder: Entry(folder / "key"), "an error"),
    "compile_commands.json": (shared_name.compile_commands, "an error"),
    "archive.json": (lambda folder: open_archive(str(folder)), "an error"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", READERS)
def test_bad_json_is_damage(name: str, kind: str, tmp_path: Path) -> None:
    read, answer = READERS[name]
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    first = b"kadenz-value-1 " + b"0" * 64 + b"\n" if name == "key" else b""
    file.write_bytes(first + BAD[kind] + b"\n")
    try:
        content = read(tmp_path)
    except (KadenzError, DamagedError) as error:
        assert answer == "an error" and str(file) in str(error)
    else:
        assert content == answer or not BAD[kind]


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("of", [object, dict, list[int], str])
def test_all_that_is_wrong_is_one_exception(kind: str, of: type) -> None:
    with pytest.raises(msgspec.DecodeError):
        read_json(BAD[kind], of)


def test_nothing_else_reads_json() -> None:
    """`json.loads` reads what kadenz and the programs that it started say to each other."""
    asked = {"host/limits.py", "images/crate.py", "farm/power.py"}
    asked |= {"load/running.py", "load/supervisor.py", "watching/live_process.py", "json_text.py"}
    readers = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in DECODERS:
                readers.add(str(file.relative_to(PACKAGE)))
    assert readers == asked


# ---- what a build of somebody lists --------------------------------------------------------------
LISTS = {
    "no folder": '[{"file": "x.c", "output": "x.o"}]',
    "words that are none": '[{"directory": "/x", "file": "x.c", "arguments": [1]}]',
    "a quote that does not end": '[{"directory": "/x", "file": "x.c", "command": "gcc \'-o x"}]',
    "a number": '[{"directory": 5, "file": "x.c", "output": "x.o"}]',
}


@pytest.mark.parametrize("kind", LISTS)
def test_commands_that_are_none_are_named(kind: str, tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text(LISTS[kind])
    origins = _Origins(tmp_path / "x.elf", Homes((), {}))
    with pytest.raises(KadenzError, match=r"compile_commands\.json: "):
        origins._sources  # noqa: B018
