# SPDX-License-Identifier: Apache-2.0
"""A row of the truth table: a published figure, and the counts of each class beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kadenz.analysis.published import PublishedFigure

CLASSES = ("instruction", "cycle-model", "cycle-exact")
HEADS = (
    *("study", "system", "kernel", "point", "instructions", "model", "exact cycles"),
    *("published", "clock", "in cycles", "inside", "published / ours"),
)
MICROSECONDS = {"µs": 1.0, "ms": 1000.0}


class Ends(NamedTuple):
    """A count, or the interval that holds it."""

    low: float
    high: float

    def __str__(self) -> str:
        if round(self.low) == round(self.high):
            return f"{self.low:,.0f}"
        return f"{self.low:,.0f} to {self.high:,.0f}"

    @property
    def is_interval(self) -> bool:
        """Whether its ends differ."""
        return self.low != self.high

    def __sub__(self, other: Ends) -> Ends:
        """With all parameters at the same end."""
        return Ends(self.low - other.low, self.high - other.high)

    def __mul__(self, times: float) -> Ends:  # type: ignore[override]  # a tuple repeats itself
        return Ends(self.low * times, self.high * times)


@dataclass(frozen=True)
class Row:
    """The contents of one row."""

    figure: PublishedFigure
    system: str
    kernel: str  # ours
    point: str
    ours: dict[str, Ends]  # by class; empty: not run
    clock_mhz: int  # 0: the figure is in cycles
    clock: str

    @property
    def cycles(self) -> float:
        """The published figure in cycles."""
        if self.clock_mhz == 0:
            return self.figure.value
        return self.figure.value * MICROSECONDS[self.figure.unit] * self.clock_mhz

    @property
    def is_lower_bound(self) -> bool:
        """Whether the study printed that it took longer than that."""
        return "a lower bound" in self.figure.note

    def text(self) -> str:
        """As Markdown."""
        cells = [self.figure.paper, self.system, self.kernel, self.point]
        cells += [str(self.ours[kind]) if kind in self.ours else "" for kind in CLASSES]
        sign = "> " if self.is_lower_bound else ""
        cells.append(f"{sign}{self.figure.value:,.6g} {self.figure.unit}")
        cells.append(f"{self.clock_mhz} MHz, {self.clock}" if self.clock_mhz else self.clock)
        cells += [f"{sign}{self.cycles:,.0f}", *self._verdict()]
        return f"| {' | '.join(cells)} |"

    def _verdict(self) -> tuple[str, str]:
        """Whether the figure is in the model's interval; the published over ours."""
        best = self.ours.get("cycle-exact") or self.ours.get("cycle-model")
        if best is None:
            return "not run here", ""
        ratio = f"{self.cycles / best.high:,.2f}"
        if best.is_interval:
            ratio += f" to {self.cycles / best.low:,.2f}"
        if self.is_lower_bound:
            return ("reached" if best.high >= self.cycles else "**not reached**"), ratio
        if not best.is_interval:
            return "", ratio
        return ("yes" if best.low <= self.cycles <= best.high else "**no**"), ratio
