# SPDX-License-Identifier: Apache-2.0
"""Samples with a tick of the kernel in them, told apart from the others and from the first ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from kadenz.analysis.structures import Structure
from kadenz.analysis.units import Unit
from kadenz.config.manifest import RecordEntry
from kadenz.store import Run

TICKS = "ticks"


@dataclass(frozen=True)
class Part:
    """Some samples of a record: their number, least, median and largest, in ticks."""

    n: int
    min: float
    median: float
    max: float

    def row(self, unit: Unit) -> dict[str, Any]:
        """In the unit of figures."""
        figures = {"min": self.min, "median": self.median, "max": self.max}
        return {"n": self.n} | {name: unit.figure(ticks) for name, ticks in figures.items()}


@dataclass(frozen=True)
class TickSplit(Structure):
    """The first samples, those with a tick of the kernel in them, and all others. None: there are
    none of that kind."""

    cold: Part | None
    ticked: Part | None
    plain: Part | None

    def row(self, unit: Unit) -> dict[str, Any]:
        parts = {"cold": self.cold, "ticked": self.ticked, "plain": self.plain}
        return {"tick_split": {name: part and part.row(unit) for name, part in parts.items()}}

    @classmethod
    def of(cls, run: Run, entry: RecordEntry) -> TickSplit | None:
        """Of a record whose samples have the companion `ticks`."""
        lane = entry.series[0] if entry.series else None
        other = entry.companions(lane).get(TICKS) if lane is not None else None
        if lane is None or other is None:
            return None
        samples, ticked = run.samples(entry, lane), run.samples(entry, other) > 0
        if samples.size == 0 or samples.size != ticked.size:
            return None
        cold = entry.cold
        warm, with_tick = samples[cold:], ticked[cold:]
        return cls(_part(samples[:cold]), _part(warm[with_tick]), _part(warm[~with_tick]))


def _part(samples: npt.NDArray[Any]) -> Part | None:
    if samples.size == 0:
        return None
    ordered = sorted(int(sample) for sample in samples)
    return Part(len(ordered), ordered[0], ordered[len(ordered) // 2], ordered[-1])
