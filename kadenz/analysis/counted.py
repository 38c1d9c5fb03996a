# SPDX-License-Identifier: Apache-2.0
"""Operations counted in windows of time: what one of them takes."""

from __future__ import annotations

import numpy as np

from kadenz.analysis.results import CountedResult
from kadenz.config.manifest import LaneEntry, RecordEntry
from kadenz.stats.samples import Floats
from kadenz.store import Run

OPERATIONS = "operations"


def counts_operations(entry: RecordEntry, lane: LaneEntry) -> bool:
    """Whether the samples of a lane are windows, each with the number of operations in it."""
    return OPERATIONS in entry.companions(lane)


def windows_of(run: Run, entry: RecordEntry, lane: LaneEntry) -> tuple[Floats, Floats] | None:
    """The lengths of a lane's windows in ticks, and the operations in each; both (n,), warm ones.

    None for a lane without operations, and for one that is damaged: a window without an operation
    cannot be in a valid record, because the target proves it.
    """
    if not counts_operations(entry, lane):
        return None
    beside = entry.companions(lane)[OPERATIONS]
    windows = run.samples(entry, lane)[entry.cold :].astype(np.float64)
    operations = run.samples(entry, beside)[entry.cold :].astype(np.float64)
    whole = windows.size and windows.size == operations.size and operations.all()
    return (windows, operations) if whole else None


def counted_of(run: Run, entry: RecordEntry) -> CountedResult | None:
    """What one operation takes, over all windows of the first lane; None without operations."""
    found = windows_of(run, entry, entry.series[0]) if entry.series else None
    if found is None:
        return None
    windows, operations = found
    each = windows / operations
    return CountedResult(
        windows=windows.size,
        operations=int(operations.sum()),
        ticks=float(windows.sum()),
        per_operation=float(windows.sum() / operations.sum()),
        low=float(each.min()),
        high=float(each.max()),
    )
