# SPDX-License-Identifier: Apache-2.0
"""Differences between the configurations of the runs."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.analysis.differences import differences
from kadenz.report.sections import Block, Section, rows_fold
from kadenz.report.table import Table, text_cell
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 90


def sections(report: Report) -> Iterator[Section]:
    """One, if runs differ."""
    disagreeing = difference_table(report.runs, disagreeing=True)
    only_some = difference_table(report.runs, disagreeing=False)
    blocks: list[Block] = [disagreeing.bare] if disagreeing is not None else []
    if only_some is not None:
        blocks.append(rows_fold("Settings that only some have", only_some))
    if blocks:
        title = "Differences between the configurations"
        yield Section("configurations", title, tuple(blocks), short="Configurations")


def difference_table(runs: Named, *, disagreeing: bool) -> Table | None:
    """Rule 7: every configuration value that differs between runs; None if none does.

    Either the values that runs disagree on, or those that only some of them have: two kernels
    share few settings.
    """
    selected = [
        difference
        for difference in differences([run.manifest for _, run in runs])
        if difference.disagrees == disagreeing
    ]
    if not selected:
        return None
    return Table(
        name="differences" if disagreeing else "only-some-have",
        title="Differences between the configurations"
        if disagreeing
        else "Settings that only some configurations have",
        columns=("What", *(label for label, _ in runs)),
        rows=tuple(
            (
                text_cell(f"{difference.group}: {difference.key}"),
                *(text_cell(value, "long") for value in difference.values),
            )
            for difference in selected
        ),
        notes=("Compare figures only if no difference in this table can explain them.",)
        if disagreeing
        else (),
    )
