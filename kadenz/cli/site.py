# SPDX-License-Identifier: Apache-2.0
"""kadenz site: a static site about an archive."""

from __future__ import annotations

from pathlib import Path

import click

from kadenz.cli.archive_option import find_archive


@click.command()
@click.argument("archive", metavar="[ARCHIVE]", default="")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("site"),
    show_default=True,
    help="Folder of the site; a site that is there is replaced.",
)
def site(archive: str, output: Path) -> None:
    """Write a static site of ARCHIVE: systems over time, steps, worst of the month, runs.

    ARCHIVE is a folder or a URL. Default: `archive` of the lab file, else the folder archive.
    Open index.html from disk, or put the folder on any web server. Links to a series or a run stay
    valid when the site is written again.

    \b
    kadenz site -o site
    kadenz site s3://lab/archive -o site
    """
    from kadenz.cli.console import progress_bars
    from kadenz.report.site import write_site

    place = find_archive(archive)
    with progress_bars(transient=True) as bar:
        task = bar.add_task("writing", total=None)
        count = write_site(
            place, output, lambda done, total: bar.update(task, completed=done, total=total)
        )
    click.echo(f"{output / 'index.html'}: {count} series")
