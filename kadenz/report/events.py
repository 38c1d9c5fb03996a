# SPDX-License-Identifier: Apache-2.0
"""Events of single cycles and the target's reactions, by kind."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.results import RunResult
from kadenz.config.manifest import Manifest
from kadenz.report.table import Table, whole, words


def line(manifest: Manifest) -> str:
    """ "41 events of 3 kinds"; "" if the target reported none."""
    kinds, count = len(manifest.events), sum(event.count for event in manifest.events)
    if not count:
        return ""
    return f"{count:,} event{'s' if count > 1 else ''} of {kinds} kind{'s' if kinds > 1 else ''}"


def event_table(runs: Sequence[tuple[str, RunResult]]) -> Table | None:
    """Every kind of event of every run, by label; None if no target reported any."""
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
        columns=("Run", "Event", "Reaction", "Count", "First cycle", "Last cycle"),
        rows=tuple(rows),
        numeric=frozenset({3, 4, 5}),
        notes=(
            "As the target reported them. Events with the same words and the same reaction are one "
            "kind; numbers that vary within a kind are shown as a range.",
            "Cycles are counted from the target's start and include starting and stopping. "
            "The run's console.txt lists every single event.",
        ),
    )
