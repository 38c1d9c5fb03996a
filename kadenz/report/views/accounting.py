# SPDX-License-Identifier: Apache-2.0
"""The accounting of every record: planned, taken, missed, proved."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.report import labels
from kadenz.report.sections import Section, rows_fold
from kadenz.report.table import Cell, Table, text_cell, whole
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 100


def sections(report: Report) -> Iterator[Section]:
    """Always one: the accounting of every record."""
    fold = rows_fold("Planned, taken, missed, proved", accounting_table(report.runs))
    yield Section("books", "Accounting and proof", (fold,), short="Accounting")


def accounting_table(runs: Named) -> Table:
    """Rule 3: planned = taken + missed + not measured, for every record."""
    rows = []
    for label, run in runs:
        for record in run.records:
            entry = record.entry
            kind = {"ok": "", "n/a": "status na"}.get(entry.status, "status bad")
            rows.append(
                (
                    text_cell(label),
                    text_cell(record.bench),
                    text_cell(labels.point(record)),
                    whole(record.planned),
                    whole(record.taken),
                    whole(record.missed, "warn" if record.missed else ""),
                    whole(record.not_measured, "warn" if record.not_measured else ""),
                    whole(record.overrun, "warn" if record.overrun else ""),
                    whole(entry.cold),
                    whole(len(entry.drains)),
                    whole(entry.proof.checked),
                    whole(entry.proof.failed, "warn" if entry.proof.failed else ""),
                    Cell(entry.status, entry.status, kind),
                    text_cell(record.reason),
                )
            )
    return Table.headed(
        "Target | Benchmark | Point | >Planned | >Taken | >Missed | >Not measured | "
        ">Overrun | >Cold per lane | >Drains | >Proofs checked | >Proofs failed | Status | "
        "Reason",
        name="accounting",
        title="Accounting and proof",
        rows=rows,
        notes=(
            "planned = taken + missed + not measured. A missed sample did not happen; one not "
            "measured was never attempted. Overrun samples were taken and are in the figures.",
        ),
    )
