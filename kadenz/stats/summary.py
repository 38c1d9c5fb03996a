"""The plain description of one series: n, mean, sd, extremes, median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.ordered import Ordered


@dataclass(frozen=True)
class Summary:
    """All but `n` in the unit of the samples. `sd` is None for a single sample."""

    n: int
    mean: float
    sd: float | None
    min: float
    max: float
    median: float

    @property
    def constant(self) -> bool:
        """True when every sample is the same."""
        return self.min == self.max


def summarize(samples: npt.ArrayLike, *, ordered: Ordered | None = None) -> Summary:
    """Describe `samples` (n,), n >= 1. Pass `ordered` when the sorted samples are at hand."""
    raise NotImplementedError
