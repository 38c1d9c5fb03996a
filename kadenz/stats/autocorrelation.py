# SPDX-License-Identifier: Apache-2.0
"""Autocorrelation: how strongly a sample predicts later ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.fft

from kadenz.stats.errors import Undefined
from kadenz.stats.samples import PIECE, Array, Floats, as_samples, exact_mean

LAGS = 1000
# Up to this number of lags, their products are quicker than a transform.
FEW_LAGS = 8


@dataclass(frozen=True, eq=False)
class Autocorrelation:
    """`rho[k]` for lags k = 0 ... max_lag; `band` is +-1.96/sqrt(n) of independent samples.

    `constant` is True if the samples do not vary; rho is then 1, 0, 0, ... by convention.
    """

    n: int
    rho: Floats
    band: float
    constant: bool


def autocorrelation(samples: npt.ArrayLike, max_lag: int | None = None) -> Autocorrelation:
    """Sample autocorrelation of `samples` (n,), n >= 2, in time order.

    Method: sum over i of (x[i] - mean)(x[i+k] - mean), over the sum at k = 0: the biased estimate,
    which is positive semi-definite (Priestley 1981, 5.3.3), by FFT of overlapping pieces (overlap
    save), or directly for a few lags, so that memory stays below 40 MB for any n. `max_lag`
    defaults to the smaller of 1000 and n - 1. Assumes that the series is stationary: a trend or a
    step shows as slow decay.
    """
    array = as_samples(samples, "autocorrelation", needed=2)
    lags = min(LAGS, array.size - 1) if max_lag is None else max_lag
    if not 0 <= lags < array.size:
        raise Undefined("autocorrelation", f"lag {lags} of {array.size} samples does not exist")
    covariance = lagged_products(array, lags)
    constant = bool(array.min() == array.max())
    rho = np.zeros(lags + 1) if constant else covariance / covariance[0]
    rho[0] = 1.0
    return Autocorrelation(array.size, rho, 1.96 / math.sqrt(array.size), constant)


def lagged_products(array: Array, lags: int) -> Floats:
    """Sums of products of deviations from the mean, `lags` apart: (lags + 1,), samples' unit^2."""
    mean = exact_mean(array)
    if lags <= FEW_LAGS:
        return _direct_products(array, lags, mean)
    piece = min(array.size, max(1 << 16, 4 * lags))
    length = scipy.fft.next_fast_len(piece + lags, real=True)
    spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
    for start in range(0, array.size, piece):
        ahead = array[start : start + piece + lags] - mean
        both = scipy.fft.rfft(ahead, n=length)
        block = scipy.fft.rfft(ahead[:piece], n=length)
        spectrum += block.conj() * both
    return np.asarray(scipy.fft.irfft(spectrum, n=length)[: lags + 1])


def _direct_products(array: Array, lags: int, mean: float) -> Floats:
    products = np.zeros(lags + 1)
    for start in range(0, array.size, PIECE):
        ahead = array[start : start + PIECE + lags] - mean
        block = ahead[:PIECE]
        for lag in range(lags + 1):
            later = ahead[lag : lag + block.size]
            products[lag] += float(block[: later.size] @ later)
    return products
