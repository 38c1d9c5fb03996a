# SPDX-License-Identifier: Apache-2.0
"""Events of single cycles and the target's reactions, by kind."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.report.sections import Section
from kadenz.report.table import Table, text_cell, whole
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 70


def sections(report: Report) -> Iterator[Section]:
    """One, if a run has any."""
    shown = event_table(report.runs)
    if shown is not None:
        title = "Events and reactions of the targets"
        yield Section("events-section", title, (shown.bare,), short="Events")


def event_table(runs: Named) -> Table | None:
    """Every kind of event of every run, by label; None if no target reported any."""
    rows = [
        (
            text_cell(label),
            text_cell(event.text),
            text_cell(event.reaction),
            whole(event.count),
            whole(event.first_cycle),
            whole(event.last_cycle),
        )
        for label, run in runs
        for event in run.manifest.events
    ]
    if not rows:
        return None
    return Table.headed(
        "Run | Event | Reaction | >Count | >First cycle | >Last cycle",
        name="events",
        title="Events",
        rows=rows,
        notes=(
            "As the target reported them. Events with the same words and the same reaction are one "
            "kind; numbers that vary within a kind are shown as a range.",
            "Cycles are counted from the target's start and include starting and stopping. "
            "The run's console.txt lists every single event.",
        ),
    )
