"""How many independent samples the dependent ones are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt


@dataclass(frozen=True)
class EffectiveSize:
    """`tau` samples carry what one independent sample would; `effective_n` = n / max(tau, 1).

    `long_run_sd`: sd(mean) = long_run_sd / sqrt(n), unit of the samples. `cell` samples were
    averaged before the lags were summed (1 = none), `lags` is how many lags (in cells) counted.
    """

    n: int
    tau: float
    effective_n: float
    long_run_sd: float
    cell: int
    lags: int
    constant: bool


def effective_size(samples: npt.ArrayLike) -> EffectiveSize:
    """Effective number of samples for the mean, `samples` (n,) in time order, n >= 8."""
    raise NotImplementedError
