# SPDX-License-Identifier: Apache-2.0
"""Hartstone's breakdown: between which probes a task set misses its first deadline."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kadenz.analysis.structures import Structure
from kadenz.analysis.units import Unit
from kadenz.config.manifest import RecordEntry
from kadenz.store import Run

PROBES = {"step", "misses", "window"}


@dataclass(frozen=True)
class Breakdown(Structure):
    """Where a task set misses its first deadline: samples say what was tried, their companions what
    came of it.

    Utilisations are shares of the processor; a step is what the experiment changed. `kept` is the
    last probe without a miss and `missed` the first one with: the breakdown is between them. None
    if even the baseline missed, or if nothing did.
    """

    probes: int
    baseline: float
    kept_step: int | None
    kept: float | None
    missed_step: int | None
    missed: float | None
    contradictions: int  # probes that met their deadlines at or above a step that missed

    def row(self, unit: Unit) -> dict[str, Any]:
        return {"breakdown": asdict(self)}

    @classmethod
    def unjudged(cls, entry: RecordEntry) -> str:
        if not _has_probes(entry):
            return ""
        return "samples are what was tried, not what it took: compare where it breaks down"

    @classmethod
    def of(cls, run: Run, entry: RecordEntry) -> Breakdown | None:
        """The utilisation of a probe is what its tasks ask of the processor over the length of its
        window. `kept` is the largest step below every miss; a step above it that met its deadlines,
        on a machine with disturbances, is a contradiction and is counted."""
        if not _has_probes(entry):
            return None
        lane = entry.series[0]
        beside = entry.companions(lane)
        asked = run.samples(entry, lane).astype(np.float64)
        step, misses, window = (
            run.samples(entry, beside[name]).astype(np.int64)
            for name in ("step", "misses", "window")
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

        return cls(
            probes=asked.size,
            baseline=float(used[0]),
            kept_step=kept,
            kept=at(kept),
            missed_step=first,
            missed=at(first),
            contradictions=0 if first is None else int((step[~late] >= first).sum()),
        )


def _has_probes(entry: RecordEntry) -> bool:
    return bool(entry.series) and entry.companions(entry.series[0]).keys() >= PROBES
