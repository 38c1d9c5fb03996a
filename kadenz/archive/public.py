# SPDX-License-Identifier: Apache-2.0
"""Copies of an archive: whole, or for people outside."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kadenz.archive.adding import add
from kadenz.archive.place import Place
from kadenz.archive.private import Cleaning, rules_of
from kadenz.archive.query import connect, run_sql
from kadenz.archive.restore import restore
from kadenz.store import Run, read_run


@dataclass(frozen=True)
class Hidden:
    """What a public copy leaves out, and what it cannot leave out."""

    gone: dict[str, list[str]]  # rule -> texts
    stays: list[str]  # names of benchmarks, targets, runs and settings that match a --hide


def copy(
    place: Place,
    there: Place,
    *,
    public: bool,
    hide: tuple[str, ...] = (),
    progress: Callable[[int, int], None],
) -> int:
    """Copies every run to another archive; with `public` without private texts.

    `hide`: regular expressions of texts that are private as well; UsageError for a wrong one.
    Labels and commits travel; with `public` they are texts like any other. Runs that are there
    already stay. `progress` gets the number of runs done and of all. Returns the number of runs.
    """
    cleaning = Cleaning(rules_of(hide)) if public else None
    number, total = 0, len(_words(place))
    for number, (run, label, commit) in enumerate(_runs(place, cleaning), start=1):
        add(there, run, label=label, commit=commit)
        progress(number, total)
    return number


def hidden(place: Place, hide: tuple[str, ...] = ()) -> Hidden:
    """The texts that a public copy leaves out, by rule."""
    cleaning = Cleaning(rules_of(hide))
    for _ in _runs(place, cleaning):
        pass
    gone = {name: sorted(texts) for name, texts in cleaning.gone.items()}
    return Hidden(gone, sorted(cleaning.stays))


def _runs(place: Place, cleaning: Cleaning | None) -> Iterator[tuple[Run, str, str]]:
    """Each run with its label and commit; its folder is there until the next."""
    for id, (label, commit) in _words(place).items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = restore(place, id, Path(scratch))
            if cleaning is None:
                yield read_run(folder), label, commit
            else:
                yield cleaning.run(folder), cleaning.text(label), cleaning.text(commit)


def _words(place: Place) -> dict[str, tuple[str, str]]:
    """Label and commit of each run."""
    rows = run_sql(place, connect(place), "SELECT run, label, commit FROM runs").fetchall()
    return {run: (label, commit) for run, label, commit in rows}
