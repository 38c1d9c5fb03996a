# SPDX-License-Identifier: Apache-2.0
"""`--deadline`, as every command that reads runs has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kadenz.analysis.deadlines import Asked
    from kadenz.store import Run

deadline_option = click.option(
    "--deadline",
    "deadlines",
    metavar="[BENCH=]QUANTITY",
    multiple=True,
    help="By when a cycle has to have ended: 100us for all periodic benchmarks, or "
    "'cyclic/wakeup-latency period_us=1000=100us'; may be repeated. Default: the campaign's, else "
    "the period.",
)


def asked_deadlines(texts: Sequence[str], runs: Sequence[Run]) -> list[Asked]:
    """The deadlines of the command line, checked against `runs`. Raises UsageError."""
    if not texts:
        return []
    from kadenz.analysis.deadlines import check_asked, parse_deadline

    asked = [parse_deadline(text) for text in texts]
    check_asked(asked, runs)
    return asked
