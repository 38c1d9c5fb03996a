# SPDX-License-Identifier: Apache-2.0
"""kadenz runs: lists runs with their names, conditions and states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.output import write_json
from kadenz.errors import KadenzError, StoreError, UsageError

if TYPE_CHECKING:
    from kadenz.store.names import RunFolder


@click.command()
@click.argument("folders", metavar="[FOLDER...]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
@click.option("--mend", is_flag=True, help="First complete your runs whose lab was killed.")
def runs(folders: tuple[Path, ...], as_json: bool, mend: bool) -> None:
    """List the runs in FOLDERs, the latest at the end. Default: where `kadenz run` puts them.

    A name, an id, or `latest` for the runs of the latest call, stand for run folders in `show`,
    `report`, `compare`, `gate` and `export`.

    \b
    kadenz runs
    kadenz runs --mend
    kadenz show latest
    """
    from kadenz.config.lab_file import output_folder
    from kadenz.store.names import runs_below

    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder", remedy="Name a folder of run folders")
    places = folders or (output_folder(),)
    if mend:
        mend_below(places)
    known_runs = [run for folder in places for run in runs_below(folder)]
    if as_json:
        write_json([_row(run) for run in known_runs])
    else:
        _write(known_runs)


def mend_below(folders: Sequence[Path]) -> None:
    """Completes what killed labs left in folders, as far as it is the caller's. StoreError for the
    first run that cannot be completed, once the others are."""
    from kadenz.store.names import INTERRUPTED, runs_below

    failures = []
    for run in (run for folder in folders for run in runs_below(folder)):
        if run.state == INTERRUPTED:
            try:
                click.echo(f"completed: {mended(run.path)}", err=True)
            except KadenzError as error:
                failures.append(error)
    for failure in failures:
        raise failure


def mended(folder: Path) -> Path:
    """An interrupted run under its final name. StoreError if that is impossible."""
    from kadenz.store import read_run
    from kadenz.store.salvage import complete

    read_run(folder)  # its defects, with their places
    try:
        return complete(folder)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be completed: {error.strerror}",
            remedy="Run `kadenz runs --mend` as its owner, with room on the disk. What is on the "
            "disk can be read as it is",
        ) from None


def _row(run: RunFolder) -> dict[str, Any]:
    head = run.head
    return {
        "name": run.name,
        "id": head.id,
        "folder": str(run.path),
        "target": head.target.name,
        "campaign": head.campaign.name,
        "quick": head.campaign.quick,
        "instrument": head.target.instrument,
        "conditions": {condition.kind: condition.value for condition in head.under},
        "round": head.round,
        "created": head.created,
        "duration_s": head.duration_s,
        "state": run.state,
    }


def _write(runs: list[RunFolder]) -> None:
    """A line for each run: its name, its target, and as much of the rest as fits."""
    from kadenz.cli.console import console
    from kadenz.cli.tables import write_rows
    from kadenz.store.names import INTERRUPTED
    from kadenz.store.reader import MEND

    if not runs:
        click.echo("no runs here; `kadenz run` makes them", err=True)
        return
    rows = [(run.name, run.head.target.name, _rest(run)) for run in runs]
    write_rows(console(), rows, whole=False, indent=0)
    if any(run.state == INTERRUPTED for run in runs):
        click.echo(f"{INTERRUPTED}: its lab was killed; {MEND}", err=True)


def _rest(run: RunFolder) -> str:
    """The state of a run that is not complete, what it measured, conditions and date."""
    from kadenz.store.names import COMPLETE

    head = run.head
    parts = [] if run.state == COMPLETE else [run.state]
    parts += [head.campaign.name + (", quick" if head.campaign.quick else "")]
    parts += [entry.label for entry in head.under]
    parts += [] if head.target.instrument == "counter" else [head.target.instrument]
    parts += [f"round {head.round}"] if head.round else []
    return "; ".join([*parts, head.created[:16].replace("T", " ")])
