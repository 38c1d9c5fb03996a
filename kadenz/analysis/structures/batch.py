# SPDX-License-Identifier: Apache-2.0
"""A batch and its empty loop (mazzi2021, equation 1): ticks of one iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.analysis.modelled import modelled_ends
from kadenz.analysis.structures import Compared, Ends, Show, Structure
from kadenz.analysis.units import Unit
from kadenz.config.manifest import LaneEntry, RecordEntry
from kadenz.config.params import number
from kadenz.stats.errors import Undefined
from kadenz.stats.replicate import LessLoop
from kadenz.store import Run

BATCH = "batch"
EMPTY = "empty"
ITERATIONS = "iterations"


@dataclass(frozen=True)
class Batch(Structure):
    """A batch of `iterations` timed as one, less the empty loop: ticks for one iteration.

    `per_iteration` = (batch - empty) / iterations of the medians over the repetitions; `batch` and
    `empty` are those medians, `low` and `high` the extremes over pairs of repetitions.
    """

    iterations: int
    repetitions: int
    batch: float
    empty: float
    per_iteration: float
    low: float
    high: float
    ends: Ends | None = None  # per iteration, of a timing model

    whole = True

    @property
    def total(self) -> float:
        """Ticks of the whole batch less the empty loop."""
        return self.batch - self.empty

    @property
    def per_execution(self) -> float:
        return self.per_iteration

    @property
    def modelled(self) -> Ends | None:
        return self.ends

    def row(self, unit: Unit) -> dict[str, Any]:
        return {
            "iterations": self.iterations,
            "per_iteration": unit.figure(self.per_iteration),
            "batch": unit.figure(self.batch),
            "empty_loop": unit.figure(self.empty),
        }

    def sentence(self, show: Show, unit: str) -> str:
        said = (
            f"one of {self.iterations:,} iterations takes {show(self.per_iteration)} {unit}, less "
            "the empty loop"
        )
        if self.ends is not None:
            low, high = map(show, self.ends)
            said += f"; [{low}, {high}] by the model's parameters"
        return said

    def status(self, show: Show) -> str:
        return f"{show(self.per_iteration)} per iteration, empty loop subtracted"

    @classmethod
    def of(cls, run: Run, entry: RecordEntry) -> Batch | None:
        lanes = _lanes(entry)
        if lanes is None:
            return None
        batch, empty = (run.samples(entry, lane)[entry.cold :] for lane in lanes)
        iterations = number(entry.params, ITERATIONS)
        whole, loop = (modelled_ends(run, entry, lane, entry.cold) for lane in lanes)
        ends = None
        if whole is not None and loop is not None:
            low, high = (
                (end - loop_end) / iterations for end, loop_end in zip(whole, loop, strict=True)
            )
            ends = low, high
        return batch_of(iterations, batch, empty, ends)

    @classmethod
    def compared(cls, entry: RecordEntry, lane: LaneEntry) -> Compared | None:
        lanes = _lanes(entry)
        if lanes is None:
            return None

        def read(run: Run, scale: float) -> LessLoop:
            whole, loop = (run.samples(entry, part)[entry.cold :] for part in lanes)
            if whole.size == 0 or loop.size == 0:
                raise Undefined(
                    "batch", "a batch without its empty loop: its total includes the loop"
                )
            return LessLoop(whole, loop, number(entry.params, ITERATIONS) / scale)

        return Compared("per iteration" if lane is lanes[0] else "", read)


def _lanes(entry: RecordEntry) -> tuple[LaneEntry, LaneEntry] | None:
    """The batch and its empty loop; None for every other record."""
    batch = next((lane for lane in entry.series if lane.name == BATCH), None)
    empty = next((lane for lane in entry.series if lane.name.startswith(EMPTY)), None)
    if batch is None or empty is None or number(entry.params, ITERATIONS) <= 0:
        return None
    return batch, empty


def batch_of(
    iterations: int, batch: npt.NDArray[Any], empty: npt.NDArray[Any], ends: Ends | None = None
) -> Batch | None:
    """(batch - empty) / iterations, in ticks, from repetitions `batch` (b,) and `empty` (e,).

    Method: mazzi2021, equation 1, on the medians over repetitions. Needs at least one of each.
    """
    if batch.size == 0 or empty.size == 0:
        return None
    whole, loop = float(np.median(batch)), float(np.median(empty))
    return Batch(
        iterations=iterations,
        repetitions=min(batch.size, empty.size),
        batch=whole,
        empty=loop,
        per_iteration=(whole - loop) / iterations,
        low=(float(batch.min()) - float(empty.max())) / iterations,
        high=(float(batch.max()) - float(empty.min())) / iterations,
        ends=ends,
    )
