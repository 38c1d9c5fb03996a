# SPDX-License-Identifier: Apache-2.0
"""Views of the report: one file each.

A module of this folder has a `PLACE`, and `sections`, which gives the sections of a report; none
if it has nothing to show. Page, navigation, CSV, Markdown and SVG follow from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RunResult
from kadenz.analysis.shared import SharedPoint
from kadenz.discovery import modules_of
from kadenz.report.sections import Section
from kadenz.report.tables import Named

# Plots are left out in these steps if the page would grow too large (render.py).
Detail = Literal["full", "no time series", "no histograms", "tables"]
DETAILS: tuple[Detail, ...] = ("full", "no time series", "no histograms", "tables")


@dataclass(frozen=True)
class Report:
    """What is reported. `top` are the points that open the page."""

    runs: Named
    published: Sequence[PublishedFigure] = ()
    detail: Detail = "full"
    top: Sequence[SharedPoint] = ()

    def shows(self, least: Detail) -> bool:
        """Whether its level of detail is `least`, or more."""
        return DETAILS.index(self.detail) <= DETAILS.index(least)

    @property
    def results(self) -> list[RunResult]:
        """The runs without their labels."""
        return [run for _, run in self.runs]


def sections_of(report: Report) -> tuple[Section, ...]:
    """The sections of every view, in the order of their places."""
    views = sorted(modules_of(__name__), key=lambda view: view.PLACE)
    return tuple(section for view in views for section in view.sections(report))
