# SPDX-License-Identifier: Apache-2.0
"""The number of independent samples that dependent ones are worth."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.autocorrelation import lagged_products
from kadenz.stats.samples import (
    Array,
    Floats,
    as_samples,
    cell_means,
    centred_squares,
    exact_mean,
)

# Series longer than this are averaged over cells first. 2^15 cells fix tau to about 2 % for
# independent samples and cost 5 ms.
CELLS = 1 << 15


@dataclass(frozen=True)
class EffectiveSize:
    """`tau` samples carry what one independent sample would; `effective_n` = n / max(tau, 1).

    `long_run_sd`: sd(mean) = long_run_sd / sqrt(n), unit of the samples. `cell` samples were
    averaged before the lags were summed (1: none); `lags` is the number of lags (in cells) summed.
    """

    n: int
    tau: float
    effective_n: float
    long_run_sd: float
    cell: int
    lags: int
    constant: bool


def effective_size(samples: npt.ArrayLike) -> EffectiveSize:
    """Effective number of samples for the mean, `samples` (n,) in time order, n >= 8.

    Method: tau = 1 + 2 * sum of the autocorrelations, summed by Geyer's initial monotone sequence
    (Geyer 1992, section 3.3): pairs rho[2j] + rho[2j+1] as long as they are positive, none above
    its predecessor. Chosen over batch means because it needs no batch size. Its proof is for
    reversible Markov chains; for other series it is a stopping rule. Series longer than 2^15
    samples are averaged over cells of c samples first; var(mean) = var(cell mean) * tau(cells) /
    cells is the same quantity, and costs the same for any n.

    Assumes that the series is stationary and at least about 20 tau long. A negative correlation
    gives tau < 1; effective_n never exceeds n, because the extra information would require the
    correlation to continue exactly.
    """
    array = as_samples(samples, "effective sample size", needed=8)
    n = array.size
    if array.min() == array.max():
        return EffectiveSize(n, 1.0, float(n), 0.0, 1, 0, True)
    cell = -(-n // CELLS)
    long_run, lags = _long_run(cell_means(array, cell), cell)
    tau = long_run * n / centred_squares(array, exact_mean(array))
    return EffectiveSize(
        n=n,
        tau=tau,
        effective_n=n / max(tau, 1.0),
        long_run_sd=math.sqrt(long_run),
        cell=cell,
        lags=lags,
        constant=False,
    )


def event_tau(running: Array) -> float:
    """tau of `effective_size` for a series of events, n >= 8, some but not all of them happened.

    `running` (n + 1,) has the number of events before each sample, and of all.
    """
    n = running.size - 1
    cell = -(-n // CELLS)
    long_run, _ = _long_run(np.diff(running[::cell]) / cell, cell)
    share = int(running[-1]) / n
    return long_run / (share * (1.0 - share))


def _long_run(means: Floats, cell: int) -> tuple[float, int]:
    """Variance of the mean times n, from cell means (m,), and the number of lags summed."""
    tau, lags = monotone_tau(means)
    return cell * float(means.var()) * tau, lags


def monotone_tau(series: Array) -> tuple[float, int]:
    """Integrated autocorrelation time of `series` (m,), and the number of lags summed."""
    products = lagged_products(series, series.size - 1)
    if products[0] <= 0.0:
        return 1.0, 0
    rho: Floats = products / products[0]
    even = rho.size // 2 * 2
    pairs = rho[:even:2] + rho[1:even:2]
    ends = np.flatnonzero(pairs <= 0.0)
    count = int(ends[0]) if ends.size else pairs.size
    kept = np.minimum.accumulate(pairs[:count])
    return max(2.0 * float(kept.sum()) - 1.0, 1.0 / series.size), 2 * count
