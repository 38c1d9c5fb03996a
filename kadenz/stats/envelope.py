"""Thinning for plots: extremes and quantile bands of consecutive cells, all exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.samples import Floats, Ints


@dataclass(frozen=True, eq=False)
class Envelope:
    """Consecutive cells of samples. `first` (c,) index of each cell's first sample, `length` (c,).

    `low`, `high` (c,) extremes, `bands` (len(levels), c) quantiles of each cell, unit of samples.
    """

    n: int
    first: Ints
    length: Ints
    low: Floats
    high: Floats
    levels: tuple[float, ...]
    bands: Floats


def envelope(
    samples: npt.ArrayLike, *, cells: int = 1000, levels: Sequence[float] = (0.25, 0.5, 0.75)
) -> Envelope:
    """Thin `samples` (n,), n >= 1, in time order, to at most `cells` cells."""
    raise NotImplementedError
