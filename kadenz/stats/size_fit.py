"""Cost over message size: a fixed part and a part per byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.estimate import Estimate
from kadenz.stats.samples import Floats


@dataclass(frozen=True, eq=False)
class SizeFit:
    """time(size) = fixed + per_byte * size.

    `sizes` (k,) bytes ascending, `centres` (k,) the per-size statistic with its interval `low`,
    `high`, `fitted` and `residuals` (k,), all in the unit of the samples. `linear` is False where
    the residuals have a pattern noise does not explain; `p_linear` is that test's p-value (None
    where it could not be made), `worst_size` the size that departs most.
    """

    fixed: Estimate
    per_byte: Estimate
    statistic: str
    sizes: Floats
    centres: Floats
    low: Floats
    high: Floats
    fitted: Floats
    residuals: Floats
    r_squared: float | None
    linear: bool
    p_linear: float | None
    worst_size: float
    reason: str = ""


def fit_size(
    sizes_bytes: Sequence[float],
    samples: Sequence[npt.ArrayLike],
    *,
    statistic: str = "median",
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: int = 1,
) -> SizeFit:
    """Fit over k >= 3 distinct sizes; `samples[i]` (n_i,), n_i >= 10, belong to `sizes_bytes[i]`.

    `statistic` is "median" or "mean".
    """
    raise NotImplementedError
