# SPDX-License-Identifier: Apache-2.0
"""kadenz archive: keeps runs for years, and answers questions about them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.archive_option import archive_option, find_archive
from kadenz.cli.console import progress_bars
from kadenz.cli.folders import conclude
from kadenz.cli.output import write_json
from kadenz.errors import EXIT_FAILED, EXIT_PASS, StoreError, UsageError
from kadenz.visible_text import spreadsheet_cell

if TYPE_CHECKING:
    from kadenz.archive.checking import Findings
    from kadenz.archive.place import Place


@click.group()
def archive() -> None:
    """Keep runs for years in one folder or object store, and query them with SQL."""


@archive.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@archive_option
@click.option(
    "--label", default="", help="Any label, e.g. a branch: `kadenz gate --against archive:LABEL`."
)
@click.option("--commit", default="", help="Version of the project under test.")
@click.option(
    "--as", "id", metavar="ID", default="", help="Another id for one RUN, if a run has its id."
)
def add(runs: tuple[Path, ...], archive: str, label: str, commit: str, id: str) -> int:
    """Add RUNs: folders, folders of runs, or names. The archive is created if there is none.

    A run that is in the archive already is left unchanged. Several machines may add at once.

    \b
    kadenz archive add latest --label main
    kadenz archive add runs --archive s3://lab/archive
    """
    from kadenz.archive.adding import add as put
    from kadenz.archive.adding import renamed
    from kadenz.archive.dates import dated_back, newest_of_each_system
    from kadenz.cli.folders import NamedRuns

    named = NamedRuns(runs)
    if id and len(named.runs) > 1:
        raise UsageError(f"--as {id}: for one run", remedy="Add each run by a call of its own")
    place = find_archive(archive, create=True)
    newest = newest_of_each_system(place)
    with progress_bars(transient=True) as bar:
        task = bar.add_task("adding", total=len(named.runs))

        def add_run(run: Any) -> Any:
            with TemporaryDirectory() as scratch:
                archived_run = renamed(run, id, Path(scratch)) if id else run
                done = put(place, archived_run, label=label, commit=commit)
            bar.advance(task)
            return done

        done = named.each(add_run)
    new = [added for added in done if added.new]
    for added in new:
        if note := added.note or dated_back(added.run, newest):
            click.echo(f"{added.run}: {note}", err=True)
    samples = sum(added.samples for added in new)
    click.echo(
        f"{place.text}: {len(new)} runs added with {samples:,} samples, "
        f"{len(done) - len(new)} were there already"
    )
    return named.conclude()


@archive.command()
@click.argument("sql", metavar="SQL")
@archive_option
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv"]),
    help="Instead of a table for the terminal.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
def query(sql: str, archive: str, kind: str | None, as_json: bool) -> None:
    """Answer a question in SQL. Tables: runs, records, samples, distribution, percentiles.

    \b
    kadenz archive query \\
        'SELECT target, bench, month, median, p99, max, unit FROM percentiles'
    kadenz archive query 'DESCRIBE records'
    """
    from kadenz.archive.query import connect, run_sql

    place = find_archive(archive)
    answer = run_sql(place, connect(place), sql)
    if not answer.columns:
        return
    if as_json:
        write_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    elif kind == "csv":
        import csv
        import sys

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(map(spreadsheet_cell, answer.columns))
        writer.writerows(map(spreadsheet_cell, row) for row in answer.rows)
    else:
        _table(answer.columns, answer.fetchall())


@archive.command()
@click.argument("run", metavar="RUN")
@archive_option
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the run folder. Default: where `kadenz run` puts runs.",
)
def get(run: str, archive: str, output: Path | None) -> None:
    """Write RUN, named by its id, as a run folder again: every byte as it was measured."""
    from kadenz.archive.restore import restore
    from kadenz.config.lab_file import output_folder

    click.echo(restore(find_archive(archive), run, output or output_folder()))


@archive.command()
@archive_option
@click.option("--mend", is_flag=True, help="Remove damaged runs and objects without a run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def check(archive: str, mend: bool, as_json: bool) -> int:
    """Read every byte, and name damaged runs and objects that belong to no run."""
    from kadenz.archive.checking import check as look
    from kadenz.archive.checking import mend as remove

    place = find_archive(archive)
    with progress_bars(transient=True) as bar:
        task = bar.add_task("checking", total=None)
        findings = look(place, lambda done, total: bar.update(task, completed=done, total=total))
    if as_json:
        write_json(findings)
    else:
        _write_check(place, findings)
    if findings.newer:
        click.echo(
            f"not checked, written by a newer kadenz: {', '.join(findings.newer)}; update kadenz",
            err=True,
        )
    if findings.recent:
        click.echo(
            f"{len(findings.recent)} more are younger than a day: a run may be being added",
            err=True,
        )
    if findings.unsealed:
        click.echo(
            f"{len(findings.unsealed)} runs have figures without a digest; `kadenz archive export "
            "PLACE` copies them with one",
            err=True,
        )
    left = EXIT_FAILED if findings.newer or findings.foreign else EXIT_PASS
    if not (findings.damaged or findings.orphans):
        return left
    if mend:
        click.echo(f"removed {remove(place, findings)} objects; add the runs again", err=as_json)
        return left
    click.echo(
        "`kadenz archive check --mend` removes damaged runs and objects without one", err=True
    )
    return EXIT_FAILED


@archive.command()
@click.argument("target", metavar="PLACE")
@archive_option
@click.option(
    "--public",
    is_flag=True,
    help="Leave out paths, addresses, serial numbers, calls and text files.",
)
@click.option(
    "--hide", metavar="REGEX", multiple=True, help="Leave these texts out, too; may be repeated."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be left out.")
def export(target: str, archive: str, public: bool, hide: tuple[str, ...], dry_run: bool) -> int:
    """Copy the archive to another PLACE, with --public for people outside.

    \b
    kadenz archive export --public --dry-run shared
    kadenz archive export --public shared
    """
    from kadenz.archive.place import open_archive
    from kadenz.archive.public import copy, hidden

    place = find_archive(archive)
    if hide and not public:
        raise UsageError("--hide without --public", remedy="Add --public")
    left_out: list[StoreError] = []
    if public:
        private_texts = hidden(place, hide)
        left_out = private_texts.left_out
        for what, values in private_texts.gone.items():
            click.echo(f"left out: {what}: {', '.join(values)}")
        for name in private_texts.stays:
            click.echo(f"--hide matches `{name}`, which stays: runs are found by it", err=True)
    if dry_run:
        return conclude(left_out)
    if target == place.text:
        raise UsageError(f"{target}: the archive itself", remedy="Name another place")
    there = open_archive(target, create=True)
    with progress_bars(transient=True) as bar:
        task = bar.add_task("copying", total=None)
        done = copy(
            place,
            there,
            public=public,
            hide=hide,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    click.echo(f"{there.text}: {done.runs} runs")
    return conclude(done.left_out)


def _write_check(place: Place, findings: Findings) -> None:
    for run, reason in findings.damaged.items():
        click.echo(f"damaged: {run}: {reason}")
    for orphan in findings.orphans:
        click.echo(f"no run: {orphan}")
    for name, what in findings.foreign.items():
        click.echo(f"no object: {name}: {what}; move it out of the archive")
    click.echo(
        f"{place.text}: {findings.runs} runs intact, {len(findings.damaged)} damaged, "
        f"{len(findings.orphans)} objects without a run"
    )


def _table(columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    from rich.table import Table

    from kadenz.cli.console import console

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        figures = all(isinstance(row[number], int | float | None) for row in rows)
        table.add_column(column, overflow="fold", justify="right" if figures else "left")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console().print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
