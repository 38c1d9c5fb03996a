# SPDX-License-Identifier: Apache-2.0
"""The baseline of `kadenz gate`: run folders, or the newest runs of a label in an archive."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.archive_option import find_archive
from kadenz.errors import NothingThere, UsageError

if TYPE_CHECKING:
    from kadenz.store import Run

PREFIX = "archive:"
_FILES = ("-o", "--output", "--name", "--report")
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


@dataclass
class Baseline:
    """The runs of --against, and the names that stand for nothing yet, with what to do."""

    runs: list[Run] = field(default_factory=list)
    lacking: list[tuple[str, str]] = field(default_factory=list)


def baseline_runs(names: Sequence[str], archive: str, compared: Sequence[Run]) -> Baseline:
    """The runs of --against. Those of an archive are restored to a temporary folder.

    The spread between them decides with which certainty a new run differs. UsageError if one is
    also among `compared`: it would hide a change of the others.
    """
    from kadenz.cli.folders import find_runs

    baseline = Baseline()
    for name in names:
        try:
            if name.startswith(PREFIX):
                baseline.runs += _labelled(name.removeprefix(PREFIX), archive, compared)
            else:
                baseline.runs += find_runs([Path(name)])
        except NothingThere as error:
            baseline.lacking.append((name, f"{error.message}. {_to_make(name, archive, compared)}"))
    _refuse_both_sides(baseline.runs, compared)
    return baseline


def _to_make(name: str, archive: str, compared: Sequence[Run]) -> str:
    """How the branch that others are held against makes its baseline."""
    calls = [run.manifest.call.arguments for run in compared if run.manifest.call is not None]
    if name.startswith(PREFIX):
        arguments = ["archive", "add", "RUN", "--label", name.removeprefix(PREFIX)]
        arguments += ["--archive", archive] if archive else []
        return f"The branch to compare with makes it: measure there, then kadenz {join(arguments)}"
    lines = [join(["kadenz", "run", *_without_files(call), "--output", name]) for call in calls]
    measure = "; ".join(dict.fromkeys(lines)) or f"measure the same there into {name}"
    return (
        f"The branch to compare with makes it: {measure}. Keep that folder for later jobs, as "
        "docs/how-to/gate-in-ci.md shows"
    )


def _without_files(arguments: Sequence[str]) -> list[str]:
    """The arguments of a call without the options that say where its files go."""
    kept, rest = [], iter(arguments)
    for argument in rest:
        if argument in _FILES:
            next(rest, None)  # its value
        elif argument.partition("=")[0] not in _FILES:
            kept.append(argument)
    return kept


def _refuse_both_sides(baseline: Sequence[Run], compared: Sequence[Run]) -> None:
    both = {run.path.resolve() for run in baseline} & {run.path.resolve() for run in compared}
    for run in compared:
        if run.path.resolve() in both:
            raise UsageError(
                f"{run.path} is on both sides, as RUN and as its own baseline",
                remedy="Name the new runs before --against, and only older ones after it",
            )


def _labelled(label: str, archive: str, compared: Sequence[Run]) -> list[Run]:
    from kadenz.analysis.change import percent
    from kadenz.archive.baseline import baseline_of
    from kadenz.archive.restore import restore
    from kadenz.store import read_run

    place = find_archive(archive)
    wanted: dict[str, set[int]] = {}
    for run in compared:
        baseline = baseline_of(place, label, run.manifest, NEWEST)
        for id, records in baseline.runs.items():
            wanted.setdefault(id, set()).update(records)
        for series, step in baseline.steps:
            click.echo(
                f"{series.target} {series.bench}: the baseline begins with {step.latest.run}, "
                f"after a step of {percent(step.change)}",
                err=True,
            )
    if not wanted:
        targets = ", ".join(dict.fromkeys(run.manifest.target.name for run in compared))
        raise NothingThere(
            f"{place.text}: no complete run of {targets} with the label {label!r}",
            remedy=f"kadenz archive add RUN --label {label}",
        )
    scratch = tempfile.TemporaryDirectory()
    atexit.register(scratch.cleanup)  # samples are mapped from it until the end
    runs = [read_run(restore(place, id, Path(scratch.name))) for id in wanted]
    for run in runs:
        record_ids = wanted[run.manifest.id]
        run.manifest.records = [
            record for record in run.manifest.records if record.id in record_ids
        ]
    return runs
