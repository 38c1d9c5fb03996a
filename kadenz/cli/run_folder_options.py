# SPDX-License-Identifier: Apache-2.0
"""`--output` and `--name` of the commands that write runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def run_folder_options(*, several: bool) -> Callable[[Any], Any]:
    """Both options, of a command that writes one run, or `several`."""
    where = "Where run folders go" if several else "Where the run folder goes"
    name = "Name of the runs of this call" if several else "Name of the run"
    output_option = click.option(
        "-o",
        "--output",
        type=click.Path(file_okay=False, path_type=Path),
        help=f"{where}. Default: the lab's, else runs.",
    )
    name_option = click.option("--name", default="", help=f"{name}. Default: date and time.")
    return lambda command: output_option(name_option(command))
