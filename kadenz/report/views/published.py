# SPDX-License-Identifier: Apache-2.0
"""Published figures next to ours: the studies' tables, and their figures redrawn."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.report import studies
from kadenz.report.sections import Block, Section, Text, plotted
from kadenz.report.views import Report

PLACE = 40


def sections(report: Report) -> Iterator[Section]:
    """One, if a study has a table that the runs have measurements for."""
    tables = studies.tables(report.published, report.runs)
    drawn: list[Block] = []
    if report.shows("no time series"):
        for title, plots in studies.figures(report.runs):
            drawn += [Text(f"{title}, drawn with the runs of this page", tag="h4"), *plotted(plots)]
    if tables or drawn:
        yield Section("published", "Compared with published figures", (*tables, *drawn))
