# SPDX-License-Identifier: Apache-2.0
"""The options of every command that runs a program of the user's in a guest: its files and its
standard input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def program_inputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """--file, the argument `files`, and --stdin, the argument `standard_input`."""
    file_option = click.option(
        "--file",
        "files",
        metavar="FILE[=PLACE]",
        multiple=True,
        help="A file that the program reads, and its place in the guest; may be repeated.",
    )
    input_option = click.option(
        "--stdin",
        "standard_input",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The program's standard input in the guest. Default: empty.",
    )
    return file_option(input_option(command))
