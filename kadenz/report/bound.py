# SPDX-License-Identifier: Apache-2.0
"""The interval of a worst case: the largest arrival that was tried, and a bound above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kadenz.analysis.structures.population import HANDLER, TASK
from kadenz.analysis.units import Unit
from kadenz.report.digits import ABSENT
from kadenz.report.table import Cell, Table, figure, text_cell, whole

_HEADS = (
    "Service | Run | >Arrivals | Handler in | >tried | >bound | >ratio "
    "| Task in | >tried | >bound | >ratio"
)
_PREMISES = (
    "A bound is for one interrupt, and a tick where it is named; for the kernel's functions that "
    "the service executed, and this image; whatever the kernel holds, as far as its loops stay "
    "within"
)


@dataclass(frozen=True)
class Interval:
    """Ticks of the clock from the request: the largest arrival of all that were tried, and a bound;
    None: there is none, and why. The state in which it was the largest; where the section behind
    the bound begins, and the cycles of its parts.
    """

    tried: float
    bound: int | None
    state: str = ABSENT
    why: str = ""
    section: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """The bound, divided by the largest arrival."""
        return None if self.bound is None else self.bound / self.tried


@dataclass(frozen=True)
class Row:
    """A service of a run, in all states that were tried; both intervals."""

    label: str
    service: str
    unit: Unit
    arrivals: int
    handler: Interval
    task: Interval
    tick: bool  # a tick of the kernel is part of the service
    partial: tuple[str, ...] = ()  # states of which not every arrival was tried, with how many

    @property
    def lanes(self) -> tuple[tuple[str, Interval], ...]:
        """Both intervals, each with its lane."""
        return (HANDLER, self.handler), (TASK, self.task)

    @property
    def exceeded(self) -> bool:
        """Whether a tried arrival took longer than its bound."""
        return any(
            ratio is not None and ratio < 1 for _, end in self.lanes for ratio in [end.ratio]
        )


def table_of_bounds(rows: Sequence[Row], quantities: Sequence[str]) -> Table:
    """A row for each service. `quantities`: what bounds the loops, as sentences."""
    refused = [
        f"{row.service}: no bound of the {lane}: {end.why}"
        for row in rows
        for lane, end in row.lanes
        if end.why
    ]
    ticks = [row.service for row in rows if row.tick]
    within = f"{_PREMISES}: {'; '.join(dict.fromkeys(quantities))}"
    return Table.headed(
        _HEADS,
        name="bounds",
        title=f"The largest arrival that was tried, and a bound above it, in {rows[0].unit.label}",
        rows=[_cells(row) for row in rows],
        notes=(
            *_medians(rows),
            *([f"With a tick of the kernel: {', '.join(ticks)}"] if ticks else []),
            *dict.fromkeys(refused),
            *(text for row in rows for text in row.partial),
            within,
        ),
    )


def _cells(row: Row) -> tuple[Cell, ...]:
    ends = [
        cell
        for _, end in row.lanes
        for cell in (
            text_cell(end.state),
            figure(end.tried, row.unit),
            figure(end.bound, row.unit),
            _ratio(end),
        )
    ]
    return text_cell(row.service), text_cell(row.label), whole(row.arrivals), *ends


def _ratio(end: Interval) -> Cell:
    return text_cell("") if end.ratio is None else Cell(f"{end.ratio:.2f}", end.ratio)


def _medians(rows: Sequence[Row]) -> list[str]:
    """A line with the median ratio of each lane, over several services."""
    said = []
    for place, lane in enumerate((HANDLER, TASK)):
        ratios = [row.lanes[place][1].ratio for row in rows]
        known = [ratio for ratio in ratios if ratio is not None]
        if len(known) > 1:
            said.append(f"{lane} {np.median(known):.2f} ({len(known)} services)")
    return [f"Tightness, the median ratio: {', '.join(said)}"] if said else []


def as_data(row: Row) -> dict[str, Any]:
    """One service for other programs."""
    ends = {
        lane: {
            "state": None if end.state == ABSENT else end.state,
            "tried": row.unit.figure(end.tried),
            "bound": None if end.bound is None else row.unit.figure(end.bound),
            "why_not": end.why or None,
            "section": end.section or None,
            "parts": dict(end.parts),
        }
        for lane, end in row.lanes
    }
    point = {"run": row.label, "benchmark": row.service, "unit": row.unit.label}
    counts = {"arrivals": row.arrivals, "partial": list(row.partial)}
    return {**point, **counts, "tick": row.tick, **ends}
