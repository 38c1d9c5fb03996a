# SPDX-License-Identifier: Apache-2.0
"""Hartstone's breakdown: between which probes a task set misses its first deadline."""

from __future__ import annotations

import numpy as np

from kadenz.analysis.results import BreakdownResult
from kadenz.config.manifest import RecordEntry
from kadenz.store import Run

PROBES = {"step", "misses", "window"}


def has_probes(entry: RecordEntry) -> bool:
    """Whether samples say what was tried, and their companions what came of it."""
    return bool(entry.series) and entry.companions(entry.series[0]).keys() >= PROBES


def breakdown_of(run: Run, entry: RecordEntry) -> BreakdownResult | None:
    """The breakdown of a record whose samples are probes; None for all others.

    The utilisation of a probe is what its tasks ask of the processor over the length of its window.
    `kept` is the largest step below every miss; a step above it that met its deadlines, on a
    machine with disturbances, is a contradiction and is counted.
    """
    if not has_probes(entry):
        return None
    lane = entry.series[0]
    beside = entry.companions(lane)
    asked = run.samples(entry, lane).astype(np.float64)
    step, misses, window = (
        run.samples(entry, beside[name]).astype(np.int64) for name in ("step", "misses", "window")
    )
    if asked.size == 0:
        return None
    used = asked / window
    late = misses > 0
    first = int(step[late].min()) if late.any() else None
    met = step[~late] if first is None else step[~late & (step < first)]
    kept = int(met.max()) if met.size else None

    def at(wanted: int | None) -> float | None:
        return None if wanted is None else float(used[step == wanted][0])

    return BreakdownResult(
        probes=asked.size,
        baseline=float(used[0]),
        kept_step=kept,
        kept=at(kept),
        missed_step=first,
        missed=at(first),
        contradictions=0 if first is None else int((step[~late] >= first).sum()),
    )
