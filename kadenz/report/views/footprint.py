# SPDX-License-Identifier: Apache-2.0
"""The memory of every image, by part and by object."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.report import footprint
from kadenz.report.sections import Section
from kadenz.report.views import Report

PLACE = 80


def sections(report: Report) -> Iterator[Section]:
    """One, if a run has an image."""
    tables = tuple(footprint.tables(footprint.of_runs(report.runs)))
    if tables:
        yield Section("footprint-section", "Footprint", tables)
