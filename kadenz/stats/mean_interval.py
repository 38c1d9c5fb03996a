"""Moving-block bootstrap interval for the mean of dependent samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.estimate import Estimate


@dataclass(frozen=True)
class MeanInterval(Estimate):
    """An Estimate of the mean, and how it was made.

    `block` is the length of a block in samples, a multiple of `cell`, the samples averaged
    beforehand; `standard_error` in the unit of the samples.
    """

    n: int = 0
    standard_error: float = 0.0
    block: int = 1
    cell: int = 1
    replicates: int = 0
    reason: str = ""


def mean_interval(
    samples: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: int = 1,
    block: int | None = None,
) -> MeanInterval:
    """Interval for the mean of `samples` (n,) in time order, n >= 10."""
    raise NotImplementedError
