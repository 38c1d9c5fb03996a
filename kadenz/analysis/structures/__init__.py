# SPDX-License-Identifier: Apache-2.0
"""Records whose samples are more, or less, than single executions: one file for each kind.

A module of this folder defines one `Structure`, and everything that the analysis, tables, JSON
and comparisons ask of it. Its records are found by their lanes and companions, never by a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy.typing as npt

from kadenz.analysis.units import Unit
from kadenz.config.manifest import LaneEntry, RecordEntry
from kadenz.discovery import classes_of
from kadenz.stats.replicate import LessLoop
from kadenz.store import Run

Show = Callable[[float], str]  # ticks as a figure of a table, without the unit's name
Ends = tuple[float, float]
Samples = npt.NDArray[Any]


@dataclass(frozen=True)
class Compared:
    """What is compared instead of a lane's samples. `read` gives it, from ticks of the given length
    in the unit of figures; it raises Undefined. Without a name the lane is not compared."""

    name: str
    read: Callable[[Run, float], Samples | LessLoop]


class Structure:
    """What a record has besides the statistics of its lanes; shown with its main lane."""

    whole: ClassVar[bool] = False  # timed as a whole: its lanes have no distribution

    @property
    def per_execution(self) -> float | None:
        """Ticks of one execution, if they are not a sample's."""
        return None

    @property
    def modelled(self) -> Ends | None:
        """Both ends of `per_execution` by a timing model, in ticks."""
        return None

    def row(self, unit: Unit) -> dict[str, Any]:
        """Its fields in JSON."""
        raise NotImplementedError

    def sentence(self, show: Show, unit: str) -> str:
        """A remark below the record's table; "" for none."""
        return ""

    def status(self, show: Show) -> str:
        """What follows "ok" in a terminal; "" for nothing."""
        return ""

    @classmethod
    def of(cls, run: Run, entry: RecordEntry) -> Self | None:
        """The structure of a record that gives figures; None for all others."""
        raise NotImplementedError

    @classmethod
    def compared(cls, entry: RecordEntry, lane: LaneEntry) -> Compared | None:
        """What to compare of a lane; None: its samples."""
        return None

    @classmethod
    def is_population(cls, entry: RecordEntry, lane: LaneEntry) -> bool:
        """Whether a lane has every value that there is: nothing is inferred from it."""
        return False

    @classmethod
    def unjudged(cls, entry: RecordEntry) -> str:
        """Why no two such records are compared; "" if they are."""
        return ""


@cache
def kinds() -> tuple[type[Structure], ...]:
    """Every kind, in the order of the modules' names."""
    return tuple(classes_of(__name__, Structure))


def structures_of(run: Run, entry: RecordEntry) -> tuple[Structure, ...]:
    """What a record that gives figures has besides its lanes."""
    structures = (kind.of(run, entry) for kind in kinds())
    return tuple(structure for structure in structures if structure is not None)


def compared_of(entry: RecordEntry, lane: LaneEntry) -> Compared | None:
    """What to compare of a lane instead of its samples; None: them."""
    candidates = (kind.compared(entry, lane) for kind in kinds())
    return next((compared for compared in candidates if compared is not None), None)


def is_population(entry: RecordEntry, lane: LaneEntry) -> bool:
    """Whether a lane has every value that there is, and so no interval."""
    return any(kind.is_population(entry, lane) for kind in kinds())


def has_population(entry: RecordEntry) -> bool:
    """Whether it has such a lane: its figures are no samples of a system's usual work."""
    return any(is_population(entry, lane) for lane in entry.series)


def unjudged(entry: RecordEntry) -> str:
    """Why a record is not compared with others; "" if it is."""
    return next((why for kind in kinds() if (why := kind.unjudged(entry))), "")
