# SPDX-License-Identifier: Apache-2.0
"""Operations counted in windows of time: what one of them takes."""

from __future__ import annotations

import numpy as np

from kadenz.analysis.results import CountedResult
from kadenz.config.manifest import RecordEntry
from kadenz.store import Run

OPERATIONS = "operations"


def counted_of(run: Run, entry: RecordEntry) -> CountedResult | None:
    """The windows of a record whose samples have the companion `operations`; None for all others.

    A window without an operation cannot be in a valid record: the target proves it.
    """
    lane = entry.series[0] if entry.series else None
    other = entry.companions(lane).get(OPERATIONS) if lane is not None else None
    if lane is None or other is None:
        return None
    windows = run.samples(entry, lane).astype(np.float64)
    operations = run.samples(entry, other).astype(np.float64)
    if windows.size == 0 or windows.size != operations.size or not operations.all():
        return None
    each = windows / operations
    return CountedResult(
        windows=windows.size,
        operations=int(operations.sum()),
        ticks=float(windows.sum()),
        per_operation=float(windows.sum() / operations.sum()),
        low=float(each.min()),
        high=float(each.max()),
    )
