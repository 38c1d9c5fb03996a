"""Autocorrelation: how much one sample says about the next ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.samples import Floats


@dataclass(frozen=True, eq=False)
class Autocorrelation:
    """`rho[k]` for lags k = 0 ... max_lag; `band` is +-1.96/sqrt(n) of independent samples.

    `constant` is True where the samples do not vary; rho is then 1, 0, 0, ... by convention.
    """

    n: int
    rho: Floats
    band: float
    constant: bool


def autocorrelation(samples: npt.ArrayLike, max_lag: int | None = None) -> Autocorrelation:
    """Sample autocorrelation of `samples` (n,), n >= 2."""
    raise NotImplementedError
