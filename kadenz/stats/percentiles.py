"""Percentiles with order-statistic intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.ordered import Ordered

LEVELS = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


@dataclass(frozen=True)
class Percentile:
    """One percentile. What n does not allow is None, and `reason` says so.

    `name` "p99.9"; `value`, `low`, `high` in the unit of the samples, each a measured value;
    `attained` is the exact confidence of [low, high] for independent samples, at least
    `confidence`; `tau` the dependence taken into account (1 = independent); `needed` the number of
    samples (of this dependence) from which value and both ends exist.
    """

    level: float
    name: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    attained: float | None
    tau: float
    needed: int
    reason: str = ""


def percentiles(
    samples: npt.ArrayLike,
    *,
    levels: Sequence[float] = LEVELS,
    confidence: float = 0.95,
    ordered: Ordered | None = None,
    dependent: bool = True,
) -> tuple[Percentile, ...]:
    """Percentiles of `samples` (n,), in time order unless `dependent` is False."""
    raise NotImplementedError
