# SPDX-License-Identifier: Apache-2.0
"""Copies of an archive: whole, or for people outside."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.archive.adding import add
from kadenz.archive.objects import EVERY_RUN, run_of
from kadenz.archive.place import Place
from kadenz.archive.private import Cleaning, rules_of
from kadenz.archive.restore import restore_into
from kadenz.archive.tables import lane_table, texts_of
from kadenz.errors import StoreError
from kadenz.store import Run, read_run


@dataclass(frozen=True)
class Hidden:
    """What a public copy leaves out, and what it cannot leave out."""

    gone: dict[str, list[str]]  # rule -> texts
    stays: list[str]  # names of benchmarks, targets, runs and settings that match a --hide
    left_out: list[StoreError]  # of damaged runs


@dataclass
class Copied:
    """The result of a copy."""

    runs: int = 0
    left_out: list[StoreError] = field(default_factory=list)  # of runs that were not copied


def copy(
    place: Place,
    there: Place,
    *,
    public: bool,
    hide: tuple[str, ...] = (),
    progress: Callable[[int, int], None],
) -> Copied:
    """Copies every run to another archive; with `public` without private texts.

    `hide`: regular expressions of texts that are private as well; UsageError for a wrong one.
    Labels and commits travel; with `public` they are texts like any other. Runs that are there
    already stay; a damaged one is left out. `progress` gets the number of runs done and of all.
    """
    cleaning = Cleaning(rules_of(hide)) if public else None
    done = Copied()
    objects, _ = place.sorted_out(EVERY_RUN)
    for number, object_name in enumerate(objects, start=1):
        try:
            with _taken(place, object_name, cleaning) as (run, label, commit):
                add(there, run, label=label, commit=commit)
            done.runs += 1
        except StoreError as error:
            done.left_out.append(error)
        progress(number, len(objects))
    return done


def hidden(place: Place, hide: tuple[str, ...] = ()) -> Hidden:
    """The texts that a public copy leaves out, by rule."""
    cleaning = Cleaning(rules_of(hide))
    left_out = []
    for object_name in place.sorted_out(EVERY_RUN)[0]:
        try:
            with _taken(place, object_name, cleaning):
                pass
        except StoreError as error:
            left_out.append(error)
    gone = {name: sorted(texts) for name, texts in cleaning.gone.items()}
    return Hidden(gone, sorted(cleaning.stays), left_out)


@contextmanager
def _taken(
    place: Place, object_name: str, cleaning: Cleaning | None
) -> Iterator[tuple[Run, str, str]]:
    """A run with its label and commit; its folder is there until the end of the block."""
    month, id = run_of(object_name)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / id
        folder.mkdir()
        rows = lane_table(place, object_name, ["label", "commit"])
        label, commit = ([*texts_of(column), ""][0] or "" for column in rows.columns)
        restore_into(place, month, id, folder)
        if cleaning is None:
            yield read_run(folder), label, commit
        else:
            yield cleaning.run(folder), cleaning.text(label), cleaning.text(commit)
