# SPDX-License-Identifier: Apache-2.0
"""An archive for people outside: without paths, serial lines, host names and console texts."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from kadenz.archive.adding import add
from kadenz.archive.place import RUNS, Place
from kadenz.archive.query import connect, run_sql
from kadenz.archive.restore import restore
from kadenz.config.manifest import Manifest
from kadenz.errors import UsageError
from kadenz.store import Run, read_run
from kadenz.store.layout import MANIFEST, SAMPLES
from kadenz.store.manifest_file import write_manifest

LEFT_OUT = "(left out)"
Gone = dict[str, set[str]]  # rule -> texts left out
# What is private in a text of run.json, in the order in which it is looked for. A path is absolute,
# or begins with ~ or .., and has two parts at least: `a/b` and `MB/s` are none.
RULES = {
    "serial line": re.compile(r"/dev/(?:serial/|tty)[^\s,;:'\"]*"),
    "path": re.compile(r"(?:(?<![\w./~-])|(?<=-[IL]))(?:~|\.\.)?/[\w.+-]+(?:/[^\s,;:'\")]*)+"),
    "serial number": re.compile(r"\b(?:probe|serial)[=: ]+[\w:.-]+", re.IGNORECASE),
    "mail address": re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"),
}


def cleaned(place: Place, hide: tuple[str, ...] = ()) -> Iterator[tuple[Run, Gone]]:
    """Each run of the archive, in a folder until the next, and the private texts it no longer has.

    `hide`: regular expressions of texts that are private as well. UsageError for a wrong one.
    """
    rules = RULES | _own(hide)
    for one in place.objects(f"{RUNS}/*/*.parquet"):
        with tempfile.TemporaryDirectory() as scratch:
            yield _clean(restore(place, Path(one).stem, Path(scratch)), rules)


def _own(hide: tuple[str, ...]) -> dict[str, re.Pattern[str]]:
    found = {}
    for text in hide:
        try:
            found[f"--hide {text}"] = re.compile(text)
        except re.error as error:
            raise UsageError(
                f"--hide {text}: {error}", remedy="Write a regular expression of Python"
            ) from None
    return found


def _clean(folder: Path, rules: dict[str, re.Pattern[str]]) -> tuple[Run, Gone]:
    gone: Gone = {}

    def text(value: str) -> str:
        for name, rule in rules.items():
            hits = {hit.group() for hit in rule.finditer(value)}
            if hits:
                gone.setdefault(name, set()).update(hits)
                value = rule.sub(LEFT_OUT, value)
        return value

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        # Names of sample files, of benchmarks and of targets have slashes and @ of their own.
        keep = key in ("file", "bench", "id", "sha256", "dtype", "unit") or (
            key == "name" and isinstance(value, str) and value.count("@") == 1 and "." not in value
        )
        return text(value) if isinstance(value, str) and not keep else value

    for file in sorted(folder.rglob("*"), reverse=True):
        if file.is_file() and file.name != MANIFEST and file.parent.name != SAMPLES:
            gone.setdefault("text file", set()).add(file.name)
            file.unlink()
    plain = msgspec.json.decode((folder / MANIFEST).read_bytes())
    plain = walk(plain)
    plain["campaign"]["file"] = Path(plain["campaign"]["file"]).name
    write_manifest(folder, msgspec.convert(plain, Manifest), sync=False)
    return read_run(folder), gone


def copy(
    place: Place,
    there: Place,
    *,
    public: bool,
    hide: tuple[str, ...] = (),
    progress: Callable[[int, int], None],
) -> int:
    """Copies every run to another archive; with `public` without private texts.

    Labels and commits travel. Runs that are there already stay. `progress` gets the number of runs
    done and of all. Returns the number of runs.
    """
    words = _words(place)
    runs = (run for run, _ in cleaned(place, hide)) if public else _whole(place, list(words))
    for number, run in enumerate(runs):
        label, commit = words[run.manifest.id]
        add(there, run, label=label, commit=commit)
        progress(number + 1, len(words))
    return len(words)


def hidden(place: Place, hide: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """The texts that a public copy leaves out, by rule."""
    found: Gone = {}
    for _, gone in cleaned(place, hide):
        for name, texts in gone.items():
            found.setdefault(name, set()).update(texts)
    return {name: sorted(texts) for name, texts in found.items()}


def _whole(place: Place, ids: list[str]) -> Iterator[Run]:
    for id in ids:
        with tempfile.TemporaryDirectory() as scratch:
            yield read_run(restore(place, id, Path(scratch)))


def _words(place: Place) -> dict[str, tuple[str, str]]:
    """Label and commit of each run."""
    rows = run_sql(place, connect(place), "SELECT run, label, commit FROM runs").fetchall()
    return {run: (label, commit) for run, label, commit in rows}
