# SPDX-License-Identifier: Apache-2.0
"""Operations counted in windows of time: what one of them takes."""

from __future__ import annotations

import numpy as np

from kadenz.analysis.results import CountedResult
from kadenz.config.manifest import RecordEntry
from kadenz.stats.samples import Floats
from kadenz.store import Run

OPERATIONS = "operations"


def counts_operations(entry: RecordEntry) -> bool:
    """Whether samples are windows, each with the number of operations in it."""
    return bool(entry.series) and OPERATIONS in entry.companions(entry.series[0])


def windows_of(run: Run, entry: RecordEntry) -> tuple[Floats, Floats] | None:
    """The lengths of a record's windows in ticks, and the operations in each; both (n,).

    None for a record without operations, and for one that is damaged: a window without an operation
    cannot be in a valid record, because the target proves it.
    """
    if not counts_operations(entry):
        return None
    lane = entry.series[0]
    windows = run.samples(entry, lane).astype(np.float64)
    operations = run.samples(entry, entry.companions(lane)[OPERATIONS]).astype(np.float64)
    whole = windows.size and windows.size == operations.size and operations.all()
    return (windows, operations) if whole else None


def counted_of(run: Run, entry: RecordEntry) -> CountedResult | None:
    """What one operation takes, over all windows; None for records without operations."""
    found = windows_of(run, entry)
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
