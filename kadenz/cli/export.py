# SPDX-License-Identifier: Apache-2.0
"""kadenz export: samples or figures for other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kadenz.errors import UsageError


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "json", "parquet"]),
    help="Default: from the name of --output; csv on standard output.",
)
@click.option("--summary", is_flag=True, help="Export figures, one row per lane, not samples.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write: .csv, .json or .parquet. Default: standard output.",
)
def export(runs: tuple[Path, ...], kind: str | None, summary: bool, output: Path | None) -> None:
    """Write every sample of RUNs, one row each, with units in the column names.

    \b
    kadenz export runs/A runs/B --output samples.parquet
    kadenz export runs/A --summary > a.csv
    """
    from kadenz.cli.folders import find_runs
    from kadenz.report import export as exporters

    kind = kind or _kind_of(output)
    if kind == "parquet" and output is None:
        raise UsageError("parquet is a binary format", remedy="Name a file: --output FILE.parquet")
    source = find_runs(runs)
    if kind == "parquet":
        assert output is not None
        exporters.to_parquet(source, output, summary=summary)
        return
    write = exporters.to_csv if kind == "csv" else exporters.to_json
    if output is None:
        write(source, sys.stdout, summary=summary)
        return
    with exporters.opened(output) as file:
        write(source, file, summary=summary)


def _kind_of(output: Path | None) -> str:
    """The format by a file's suffix. UsageError if the suffix is unknown."""
    if output is None:
        return "csv"
    kind = output.suffix.lower().removeprefix(".")
    if kind not in ("csv", "json", "parquet"):
        raise UsageError(
            f"--output {output}: the format is unclear from the name",
            remedy="End the name in .csv, .json or .parquet, or pass --format",
        )
    return kind
