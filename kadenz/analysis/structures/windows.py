# SPDX-License-Identifier: Apache-2.0
"""Operations counted in windows of time: what one of them takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kadenz.analysis.structures import Compared, Show, Structure
from kadenz.analysis.units import Unit
from kadenz.config.manifest import LaneEntry, RecordEntry
from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Floats
from kadenz.store import Run

OPERATIONS = "operations"


@dataclass(frozen=True)
class Windows(Structure):
    """Of all windows together, and the extremes of single ones.

    `ticks` is the length of all windows; the others are ticks per operation.
    """

    windows: int
    operations: int
    ticks: float
    per_operation: float
    low: float
    high: float

    @property
    def per_execution(self) -> float:
        return self.per_operation

    def row(self, unit: Unit) -> dict[str, Any]:
        return {
            "windows": self.windows,
            "operations": self.operations,
            "windows_sum": unit.figure(self.ticks),
            "per_operation": unit.figure(self.per_operation),
            "per_operation_low": unit.figure(self.low),
            "per_operation_high": unit.figure(self.high),
        }

    def sentence(self, show: Show, unit: str) -> str:
        each = show(self.per_operation)
        return f"windows with {self.operations:,} operations: one takes {each} {unit}"

    def status(self, show: Show) -> str:
        return f"{self.operations:,} operations, {show(self.per_operation)} each"

    @classmethod
    def of(cls, run: Run, entry: RecordEntry) -> Windows | None:
        counted = windows_of(run, entry, entry.series[0]) if entry.series else None
        if counted is None:
            return None
        windows, operations = counted
        each = windows / operations
        return cls(
            windows=windows.size,
            operations=int(operations.sum()),
            ticks=float(windows.sum()),
            per_operation=float(windows.sum() / operations.sum()),
            low=float(each.min()),
            high=float(each.max()),
        )

    @classmethod
    def compared(cls, entry: RecordEntry, lane: LaneEntry) -> Compared | None:
        if OPERATIONS not in entry.companions(lane):
            return None

        def read(run: Run, scale: float) -> Floats:
            counted = windows_of(run, entry, lane)
            if counted is None:
                raise Undefined("operations", "its windows have no counts of operations")
            return counted[0] / counted[1] * scale

        return Compared(f"{lane.name} per operation", read)


def windows_of(run: Run, entry: RecordEntry, lane: LaneEntry) -> tuple[Floats, Floats] | None:
    """The lengths of a lane's windows in ticks, and the operations in each; both (n,), warm ones.

    None for a lane without operations, and for one that is damaged: a window without an operation
    cannot be in a valid record, because the target proves it.
    """
    beside = entry.companions(lane).get(OPERATIONS)
    if beside is None:
        return None
    windows = run.samples(entry, lane)[entry.cold :].astype(np.float64)
    operations = run.samples(entry, beside)[entry.cold :].astype(np.float64)
    whole = windows.size and windows.size == operations.size and operations.all()
    return (windows, operations) if whole else None
