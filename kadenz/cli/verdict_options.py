# SPDX-License-Identifier: Apache-2.0
"""Options of the commands that compare two sides of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kadenz.cli.figures import Percent, Statistic


def statistics_option(text: str) -> Callable[[Any], Any]:
    """`--statistic`, with `text` as its help."""
    return click.option(
        "--statistic",
        "statistics",
        type=Statistic(),
        metavar="NAME",
        multiple=True,
        default=("median", "p99"),
        show_default=True,
        help=text,
    )


def max_worse_option(text: str) -> Callable[[Any], Any]:
    """`--max-worse`, with `text` as its help."""
    return click.option(
        "--max-worse",
        type=Percent(),
        metavar="PERCENT",
        default="5%",
        show_default=True,
        help=text,
    )


between_runs_option = click.option(
    "--between-runs",
    type=Percent(),
    metavar="PERCENT",
    default="0%",
    show_default=True,
    help="Known spread (sd) between runs; without it, one run per side of this machine or a board "
    "stays undecided.",
)
