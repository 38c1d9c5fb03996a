# SPDX-License-Identifier: Apache-2.0
"""An interrupt in every cycle of a service: the table, and a curve for each service."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.analysis.results import RecordResult
from kadenz.analysis.structures.population import Population
from kadenz.report import labels
from kadenz.report.sections import Block, Fold, Picture, Section, Text
from kadenz.report.svg.arrivals import arrivals_picture
from kadenz.report.svg.curves import NARROW, WIDTH
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.views import Report
from kadenz.report.worst import service_of, table_of_arrivals, tables_of_states

PLACE = 25
_LEAD = (
    "Cycles from the request of an interrupt to the first statement of its handler, and of the "
    "thread that it wakes, for each cycle of the service in which it may arrive."
)
_OPEN = 4  # pictures that are not behind a line


def sections(report: Report) -> Iterator[Section]:
    """One, if a run tried every arrival."""
    table = table_of_arrivals(report.runs)
    if table is None:
        return
    pictures = [
        Picture(_drawn(label, record, shown, WIDTH), _drawn(label, record, shown, NARROW))
        for label, run in report.runs
        for record in run.records
        if (shown := record.structure(Population)) is not None
    ]
    blocks: tuple[Block, ...] = (Text(_LEAD), table, *tables_of_states(report.runs))
    if report.shows("no histograms"):
        blocks += tuple(pictures[:_OPEN])
        if rest := tuple(pictures[_OPEN:]):
            blocks += (Fold("Further services", f"{len(rest)} pictures", rest),)
    yield Section("worst", "The worst moment for an interrupt", blocks, short="Worst arrival")


def _drawn(label: str, record: RecordResult, shown: Population, width: float) -> Plot:
    service = service_of(record)
    caption = Caption(
        heading=f"{service} on {label}",
        subheading=f"{record.unit.label} over the {shown.moment} of the arrival; {shown.coverage}",
        unit=record.unit.label,
        name=labels.slug("worst", label, service, "" if width == WIDTH else "narrow"),
    )
    return arrivals_picture(shown, record.unit.figure(1.0), caption, width)
