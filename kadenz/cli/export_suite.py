# SPDX-License-Identifier: Apache-2.0
"""kadenz export-suite: the suite as sources for a project of the user's."""

from __future__ import annotations

from pathlib import Path

import click

from kadenz.lab.exported_suite import forms


@click.command("export-suite")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--as",
    "form",
    type=click.Choice(forms()),
    required=True,
    help="The build system of the project.",
)
@click.option("--kernel", default="freertos", show_default=True, help="The kernel of the project.")
@click.option("--board", required=True, help="The board; `kadenz list` shows them.")
@click.option(
    "--kernel-source",
    "tree",
    type=click.Path(path_type=Path),
    help="Source tree of the project's kernel: the port's files depend on its version.",
)
@click.option(
    "--instrument",
    type=click.Choice(["counter", "scope"]),
    default="counter",
    show_default=True,
    help="How the image takes time stamps. `kadenz profile` and `kadenz trace` need `scope`.",
)
def export_suite(
    folder: Path, form: str, kernel: str, board: str, tree: Path | None, instrument: str
) -> None:
    """Write benchmarks, kernel port and board as sources to DIR, for a project with its own build.

    Its image is measured with `kadenz run --image`. DIR must be new or empty.

    \b
    kadenz export-suite firmware/kadenz --as cmake --board stm32f4
    kadenz export-suite firmware/kadenz-scope \\
        --as cmake --board stm32f4 --instrument scope
    """
    from kadenz.lab.exported_suite import export_suite as export

    suite = export(kernel, board, tree, form, folder, instrument)
    click.echo(f"wrote {folder}: {suite.title}, {len(suite.contents)} files")
    click.echo(f"try:   less {folder / 'README.md'}")
