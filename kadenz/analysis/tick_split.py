# SPDX-License-Identifier: Apache-2.0
"""Samples with a tick of the kernel in them, told apart from the others and from the first ones."""

from __future__ import annotations

from kadenz.analysis.results import Part, Samples, TickSplit
from kadenz.config.manifest import RecordEntry
from kadenz.store import Run

TICKS = "ticks"


def tick_split_of(run: Run, entry: RecordEntry) -> TickSplit | None:
    """The parts of a record whose samples have the companion `ticks`; None for all others."""
    lane = entry.series[0] if entry.series else None
    other = entry.companions(lane).get(TICKS) if lane is not None else None
    if lane is None or other is None:
        return None
    samples, ticked = run.samples(entry, lane), run.samples(entry, other) > 0
    if samples.size == 0 or samples.size != ticked.size:
        return None
    cold = entry.cold
    warm, with_tick = samples[cold:], ticked[cold:]
    return TickSplit(
        cold=_part(samples[:cold]), ticked=_part(warm[with_tick]), plain=_part(warm[~with_tick])
    )


def _part(samples: Samples) -> Part | None:
    if samples.size == 0:
        return None
    ordered = sorted(int(one) for one in samples)
    return Part(len(ordered), ordered[0], ordered[len(ordered) // 2], ordered[-1])
