"""Counts over cells, with no sample lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy.typing as npt

from kadenz.stats.ordered import Ordered
from kadenz.stats.samples import Floats, Ints


@dataclass(frozen=True, eq=False)
class Histogram:
    """`counts` (c,) of samples with edges[i] <= x < edges[i+1]; `edges` (c+1,).

    underflow + counts.sum() + overflow == n, always. For integer samples every edge is an integer
    and a linear cell holds the same number of integers. `log_counts` (c,) is log10 of the counts
    with NaN for empty cells.
    """

    n: int
    edges: Floats
    counts: Ints
    underflow: int
    overflow: int
    spacing: str
    log_counts: Floats


def histogram(
    samples: npt.ArrayLike | Ordered,
    *,
    cells: int = 100,
    low: float | None = None,
    high: float | None = None,
    spacing: Literal["linear", "log"] = "linear",
) -> Histogram:
    """Count `samples` (n,) into at most `cells` cells over [low, high] (default: all samples)."""
    raise NotImplementedError
