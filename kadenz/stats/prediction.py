"""What future executions will do, from the order statistics of past ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.ordered import Ordered


@dataclass(frozen=True)
class MaximumBound:
    """With `confidence`, at most `exceed_fraction` of future executions exceed `maximum`."""

    n: int
    effective_n: float
    maximum: float
    confidence: float
    exceed_fraction: float

    @property
    def one_in(self) -> int:
        """At most one execution in this many exceeds the observed maximum."""
        return int(1.0 / self.exceed_fraction)

    @property
    def sentence(self) -> str:
        """For a report."""
        return (
            f"with {self.confidence:.0%} confidence, at most one in {self.one_in:,} future "
            f"executions exceeds the observed maximum"
        )


@dataclass(frozen=True)
class PredictionInterval:
    """The next execution falls into [low, high] with at least `coverage`."""

    n: int
    low: float | None
    high: float | None
    coverage: float
    attained: float | None
    needed: int
    reason: str = ""


def maximum_bound(
    samples: npt.ArrayLike | Ordered, *, confidence: float = 0.95, tau: float = 1.0
) -> MaximumBound:
    """How far the observed maximum may be trusted."""
    raise NotImplementedError


def prediction_interval(
    samples: npt.ArrayLike | Ordered, *, coverage: float = 0.95
) -> PredictionInterval:
    """Where one further execution will fall."""
    raise NotImplementedError
