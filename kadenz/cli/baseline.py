# SPDX-License-Identifier: Apache-2.0
"""The baseline of `kadenz gate`: run folders, or the newest runs of a label in an archive."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.archive_option import find_archive
from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.store import Run

PREFIX = "archive:"
# Runs of each point: as many as a comparison takes for the spread between runs.
NEWEST = 10


class Folders(click.Option):
    """An option that takes every word up to the next option: a shell expands `baseline/*`."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Repeats the option for each further word."""
        super().add_to_parser(parser, ctx)
        for name in self.opts:
            option = parser._long_opt[name]
            option.process = _repeated(option.process)


def _repeated(process: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
    def process_all(value: str, state: Any) -> None:
        process(value, state)
        while state.rargs and not state.rargs[0].startswith("-"):
            process(state.rargs.pop(0), state)

    return process_all


def baseline_runs(names: Sequence[str], archive: str, compared: Sequence[Run]) -> list[Run]:
    """The runs of --against. Those of an archive are restored to a temporary folder.

    The spread between them decides with which certainty a new run differs. UsageError if there is
    no such run, or if one is also among `compared`: it would hide a change of the others.
    """
    from kadenz.cli.folders import find_runs

    folders = [Path(name) for name in names if not name.startswith(PREFIX)]
    labels = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    found = find_runs(folders)
    _refuse_both_sides(found, compared)
    for label in labels:
        found += _labelled(label, archive, compared)
    return found


def _refuse_both_sides(baseline: Sequence[Run], compared: Sequence[Run]) -> None:
    both = {run.path.resolve() for run in baseline} & {run.path.resolve() for run in compared}
    for run in compared:
        if run.path.resolve() in both:
            raise UsageError(
                f"{run.path} is on both sides, as RUN and as its own baseline",
                remedy="Name the new runs before --against, and only older ones after it",
            )


def _labelled(label: str, archive: str, compared: Sequence[Run]) -> list[Run]:
    from kadenz.archive.baseline import baseline_of, point_of
    from kadenz.archive.restore import restore
    from kadenz.store import read_run

    place = find_archive(archive)
    wanted: dict[str, set[tuple[str, str]]] = {}
    for run in compared:
        found = baseline_of(place, label, run.manifest, NEWEST)
        for id, points in found.runs.items():
            wanted.setdefault(id, set()).update(points)
        for series, step in found.steps:
            click.echo(
                f"{series.target} {series.bench}: the baseline begins with {step.latest.run}, "
                f"after a step of {step.change:+.1%}",
                err=True,
            )
    if not wanted:
        targets = ", ".join(dict.fromkeys(run.manifest.target.name for run in compared))
        raise UsageError(
            f"{place.text}: no complete run of {targets} with the label {label!r}",
            remedy=f"kadenz archive add RUN --label {label}",
        )
    scratch = tempfile.TemporaryDirectory()
    atexit.register(scratch.cleanup)  # samples are mapped from it until the end
    runs = [read_run(restore(place, id, Path(scratch.name))) for id in wanted]
    for run in runs:
        points = wanted[run.manifest.id]
        run.manifest.records = [one for one in run.manifest.records if point_of(one) in points]
    return runs
