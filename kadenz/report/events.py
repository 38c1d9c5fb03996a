# SPDX-License-Identifier: Apache-2.0
"""What targets saw in single cycles and did about it, by kind."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.results import RunResult
from kadenz.config.manifest import Manifest
from kadenz.report.table import Table, whole, words


def line(manifest: Manifest) -> str:
    """ "41 events of 3 kinds"; "" where the target told of none."""
    kinds, count = len(manifest.events), sum(event.count for event in manifest.events)
    if not count:
        return ""
    return f"{count:,} event{'s' if count > 1 else ''} of {kinds} kind{'s' if kinds > 1 else ''}"


def table(runs: Sequence[tuple[str, RunResult]]) -> Table | None:
    """Every kind of event of every run by its label; None where no target told of any."""
    rows = [
        (
            words(label),
            words(event.text),
            words(event.reaction),
            whole(event.count),
            whole(event.first_cycle),
            whole(event.last_cycle),
        )
        for label, run in runs
        for event in run.manifest.events
    ]
    if not rows:
        return None
    return Table(
        name="events",
        title="Events",
        columns=("Run", "What it saw", "What it did", "Times", "First cycle", "Last cycle"),
        rows=tuple(rows),
        numeric=frozenset({3, 4, 5}),
        notes=(
            "As the target told them; a kind is the same words and the same reaction. Numbers that "
            "were not always the same are given from the least to the greatest.",
            "Cycles are counted from the target's start: those of starting and stopping are among "
            "them. console.txt of the run has every event by itself.",
        ),
    )
