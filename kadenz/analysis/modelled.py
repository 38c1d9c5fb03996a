# SPDX-License-Identifier: Apache-2.0
"""A timing model's interval: its parameters have a least and a largest cost."""

from __future__ import annotations

import numpy as np

from kadenz.config.manifest import INTERVAL, LaneEntry, RecordEntry
from kadenz.store import Run


def modelled_ends(
    run: Run, entry: RecordEntry, lane: LaneEntry, cold: int
) -> tuple[float, float] | None:
    """The medians of both ends of a timing model's interval, in ticks; None without one."""
    beside = entry.companions(lane)
    ends = [run.samples(entry, beside[kind])[cold:] for kind in INTERVAL if kind in beside]
    if len(ends) != len(INTERVAL) or not all(values.size for values in ends):
        return None
    return float(np.median(ends[0])), float(np.median(ends[1]))
