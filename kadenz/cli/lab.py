# SPDX-License-Identifier: Apache-2.0
"""kadenz lab: which labs of other users are believed."""

from __future__ import annotations

from pathlib import Path

import click

from kadenz.errors import UsageError


@click.group()
def lab() -> None:
    """Say which labs of other users are believed."""


@lab.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--list", "as_list", is_flag=True, help="List the trusted labs.")
@click.option("--remove", is_flag=True, help="Trust the lab in FOLDER no more.")
def trust(folder: Path | None, as_list: bool, remove: bool) -> None:
    """Believe the lab in FOLDER, although others may write to it.

    Measuring in a lab builds and starts what it names, with your rights.
    """
    from kadenz.config import trust as trusting
    from kadenz.config.lab_file import FILE

    if (folder is None) is not as_list or (as_list and remove):
        raise UsageError("FOLDER or --list?", remedy="kadenz lab trust [--remove] FOLDER | --list")
    if folder is None:
        for trusted_lab in trusting.trusted():
            click.echo(trusted_lab)
        return
    place = folder.resolve()
    if remove:
        trusting.distrust(place)
    elif not (place / FILE).is_file():
        raise UsageError(f"{place}: no lab, it has no {FILE}", remedy="Name the folder of a lab")
    else:
        trusting.trust(place)
