# SPDX-License-Identifier: Apache-2.0
"""A timing model's interval: its parameters have a least and a largest cost. A sample is the
middle of its interval, so it decides nothing that the two ends do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import INTERVAL, LaneEntry, RecordEntry
from kadenz.store import Run


def has_interval(entry: RecordEntry, lane: LaneEntry) -> bool:
    """Whether each sample of a lane is the middle of an interval."""
    return entry.companions(lane).keys() >= set(INTERVAL)


@dataclass(frozen=True)
class _AtEnd(Run):
    """A run with one end of the interval for each sample."""

    end: str = ""

    def samples(self, record: RecordEntry, lane: LaneEntry | int = 0) -> NDArray[Any]:
        """As `Run.samples`; a lane without an interval has its own."""
        entry = record.series[lane] if isinstance(lane, int) else lane
        return super().samples(record, record.companions(entry).get(self.end, entry))


def at_ends(run: Run) -> list[Run]:
    """The run as its timing model's least costs have it, and as its largest ones."""
    return [_AtEnd(run.path, run.manifest, end=end) for end in INTERVAL]


def modelled_ends(
    run: Run, entry: RecordEntry, lane: LaneEntry, cold: int
) -> tuple[float, float] | None:
    """The medians of both ends of a timing model's interval, in ticks; None without one."""
    if not has_interval(entry, lane):
        return None
    ends = [run_at_end.samples(entry, lane)[cold:] for run_at_end in at_ends(run)]
    if not all(values.size for values in ends):
        return None
    return float(np.median(ends[0])), float(np.median(ends[1]))
