# SPDX-License-Identifier: Apache-2.0
"""Figures of a lane that are one number: a row of `FIGURES` is computed, and shown in tables and
JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from kadenz.analysis.units import Unit
from kadenz.stats.autocorrelation import autocorrelation
from kadenz.stats.ordered import Ordered


@dataclass(frozen=True)
class LaneFigure:
    """`compute` gets the warm samples (n,) in time order and sorted, n >= 1. It returns None, or
    raises Undefined, if they have no such figure."""

    name: str  # of its field in JSON
    compute: Callable[[npt.NDArray[Any], Ordered], float | None]
    column: str = ""  # of tables; "" if it is in JSON only
    ticks: bool = True  # shown in the unit of figures; else it has none

    def shown(self, value: float | None, unit: Unit) -> float | None:
        """A computed value in the unit of figures."""
        return unit.figure(value) if self.ticks and value is not None else value


def _neighbours(warm: npt.NDArray[Any], ordered: Ordered) -> float | None:
    correlation = autocorrelation(warm, 1)
    return None if correlation.constant else float(correlation.rho[1])


LAG1 = "lag1"  # correlation of neighbours
FIGURES: tuple[LaneFigure, ...] = (LaneFigure(LAG1, _neighbours, ticks=False),)
