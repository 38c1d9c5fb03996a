# SPDX-License-Identifier: Apache-2.0
"""Several systems as JSON: the table, and by how much one is ahead of another.

Figures are in the unit that their row names, and null where the terminal has a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kadenz.analysis.answers import Answers
from kadenz.analysis.margins import margins
from kadenz.analysis.results import RunResult
from kadenz.analysis.standings import Cell, Group, Row
from kadenz.report import labels
from kadenz.report.margins import rows as margin_rows
from kadenz.report.standings import in_order


def systems_json(answers: Answers, results: Sequence[RunResult]) -> dict[str, Any]:
    """`standings` and `margins`, both empty for one system; two sides of a change have no
    standings."""
    letters = [variant.letter for variant in answers.variants]
    names = labels.variant_labels(results)
    systems = [
        {
            "letter": variant.letter,
            "name": name,
            "kernel": labels.kernel(results[variant.runs[0]]),
            "runs": [results[place].manifest.id for place in variant.runs],
        }
        for variant, name in zip(answers.variants, names, strict=True)
    ]
    return {
        "standings": [
            _group(group, [systems[member] for member in group.members]) for group in answers.groups
        ],
        "margins": margin_rows(margins(answers), letters),
    }


def _group(group: Group, systems: Sequence[dict[str, Any]]) -> dict[str, Any]:
    letters = [system["letter"] for system in systems]
    return {
        "unit": group.unit.key,
        "clock_class": group.unit.clock_class,
        "counted_of": group.of,
        "decided_by": "order" if group.exact else "intervals",
        "period_us": group.period_us or None,
        "systems": systems,
        "rows": [_row(row, letters) for row in in_order(group).rows],
        "without_figure": [
            {
                "system": letters[lack.member],
                "benches": lack.benches,
                "status": lack.word,
                "reason": lack.reason,
            }
            for lack in group.lacks
        ],
    }


def _row(row: Row, letters: Sequence[str]) -> dict[str, Any]:
    return {
        "bench": row.bench,
        "params": row.params,
        "unit": row.unit.key,
        "points": row.points,
        "quickest": None if row.best is None else letters[row.best],
        "near": [letters[place] for place in sorted(row.near)],
        "order_depends_on_point": row.divided,
        "unlike": row.unlike,
        "spans": [
            {"span": span, "systems": [letters[place] for place in places]}
            for span, places in row.spans
        ],
        "figures": [
            {"system": letter} | _cell(cell)
            for letter, cell in zip(letters, row.cells, strict=True)
        ],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    status = "ok" if cell.figure is not None else cell.word or "absent"
    return {
        "median": cell.figure,
        "p99": cell.p99,
        "max": cell.largest,
        "share_of_period": cell.of_period,
        "status": status,
        "reason": cell.reason,
        "note": cell.note,
    }
