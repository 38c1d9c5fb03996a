# SPDX-License-Identifier: Apache-2.0
"""kadenz run --resume: the call of earlier runs again, for what they left."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.config.manifest import CallEntry
    from kadenz.store import Run

# Options that a later call may choose anew: they change no sample.
_FREE = ("resume", "report", "as_json", "wait", "output", "dry_run", "farm", "fresh")
_KEPT = ("farm", "fresh")  # of the earlier call, unless the later one names them


def call_of(arguments: Sequence[str]) -> CallEntry:
    """The entry of this call for the manifest of its runs."""
    from kadenz.config.manifest import CallEntry

    return CallEntry(arguments=list(arguments), folder=str(Path.cwd()), lab=_lab())


def _lab() -> str:
    from kadenz.config.lab_file import find_lab

    lab = find_lab()
    return "" if lab is None else str(lab.folder)


def repeated(command: click.Command, values: Mapping[str, Any]) -> int:
    """Measures what the call of the run in `--resume` left. Returns the exit code.

    `values` are those that click passes by name. UsageError for a run that cannot be resumed, and
    for an option that would change the call.
    """
    from kadenz.cli.measuring import Call, measure_call
    from kadenz.cli.run_options import RunOptions

    _check_options(command)
    asked = RunOptions.of(values)
    runs = _runs(asked.how.resume, asked.results.output)
    entry = runs[0].manifest.call
    if entry is None:
        raise UsageError(
            f"{runs[0].path} does not say how it was called",
            remedy="It was measured by another command than run, by an older kadenz, or imported: "
            "measure it anew",
        )
    if Path(entry.folder) != Path.cwd():
        raise UsageError(
            f"{runs[0].path} was called in {entry.folder}",
            remedy=f"Names in its call are relative to that folder: cd {shlex.quote(entry.folder)}",
        )
    if entry.lab not in ("", _lab()):
        raise UsageError(
            f"{runs[0].path} was called in the lab {entry.lab}",
            remedy=f"Names in its call are that lab's: KADENZ_LAB={shlex.quote(entry.lab)}",
        )
    click.echo(f"resumes {runs[0].path}: kadenz run {shlex.join(entry.arguments)}", err=True)
    before = _params(command, runs[0], entry)
    given = click.get_current_context().get_parameter_source
    chosen = {
        name: values[name]
        for name in _FREE
        if name != "output" and (name not in _KEPT or given(name) is ParameterSource.COMMANDLINE)
    }
    return measure_call(Call(RunOptions.of(before | chosen), entry, runs))


def _params(command: click.Command, run: Run, entry: CallEntry) -> dict[str, Any]:
    """The values of the earlier call. UsageError for one with options that are no more."""
    try:
        return command.make_context("run", list(entry.arguments)).params
    except click.UsageError as error:
        raise UsageError(
            f"{run.path} was called by a kadenz with other options: {error.format_message()}",
            remedy="Measure anew, with the options of this kadenz",
        ) from None


def _check_options(command: click.Command) -> None:
    context = click.get_current_context()
    for param in command.params:
        given = context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        value = context.params[param.name or ""]
        if given and value != () and param.name not in _FREE:
            name = param.opts[-1] if isinstance(param, click.Option) else value[0]
            raise UsageError(
                f"--resume measures what an earlier call left: `{name}` would change it",
                remedy="Leave it out, or measure anew without --resume",
            )


def _runs(named: str, output: Path | None) -> list[Run]:
    """The caller's runs of the call of `named`, those of an interrupted lab completed.

    UsageError for a run of somebody else: its words would be executed.
    """
    from kadenz.config.lab_file import output_folder
    from kadenz.lab.resuming import at_work
    from kadenz.store.names import named as runs_named
    from kadenz.store.names import runs_below
    from kadenz.store.running import is_held

    folder = Path(named)
    note = partial(click.echo, err=True)
    paths = [folder] if folder.is_dir() else runs_named(output or output_folder(), named, note)
    if not paths:
        raise UsageError(f"--resume {named}: no such run", remedy="`kadenz runs` lists them")
    _refuse_foreign(paths[0])
    for path in paths:
        if is_held(path):
            raise at_work(path)
    first = _completed(paths[0])
    siblings = [run for run in runs_below(first.path.parent) if run.name == first.manifest.name]
    for sibling in siblings:
        _refuse_foreign(sibling.path)
        if sibling.running:
            raise at_work(sibling.path)
    return [
        first,
        *(_completed(sibling.path) for sibling in siblings if sibling.path != first.path),
    ]


def _refuse_foreign(run: Path) -> None:
    """UsageError for a run whose call somebody else may have written."""
    from kadenz.owner import foreign, user_name
    from kadenz.store.layout import MANIFEST

    for path in (run, run / MANIFEST):
        owner = foreign(path)
        if owner is not None or path.stat().st_mode & stat.S_IWOTH:
            whose = "everybody may write to it" if owner is None else user_name(owner)
            raise UsageError(
                f"{path} is not only yours ({whose}): --resume executes calls of your own",
                remedy="Measure anew: `kadenz show` prints the run's conditions",
            )


def _completed(folder: Path) -> Run:
    from kadenz.cli.runs import mended
    from kadenz.store import read_run
    from kadenz.store.layout import PARTIAL_SUFFIX

    interrupted = folder.name.endswith(PARTIAL_SUFFIX)
    return read_run(mended(folder) if interrupted else folder)
