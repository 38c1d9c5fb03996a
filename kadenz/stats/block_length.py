# SPDX-License-Identifier: Apache-2.0
"""The block length of a block bootstrap."""

from __future__ import annotations

import math

import numpy as np

from kadenz.stats.autocorrelation import lagged_products
from kadenz.stats.samples import Array


def politis_white(series: Array) -> float:
    """Automatic block length for the circular block bootstrap of the mean of `series` (m,).

    Method: Politis and White (2004) with the constants of Patton, Politis and White (2009): the
    flat-top lag window of half-width M = 2 m^, where m^ is the lag after which K = max(5,
    sqrt(log10 m)) autocorrelations in a row are inside +-2 sqrt(log10(m) / m); then
    length = (2 G^2 / (4/3 g^2))^(1/3) m^(1/3). Minimum m 10, else 1. Assumes stationarity and a
    correlation that dies out. Returns at least 1 and at most min(3 sqrt(m), m / 3).
    """
    m = series.size
    if m < 10:
        return 1.0
    in_a_row = max(5, math.ceil(math.sqrt(math.log10(m))))
    widest = min(math.ceil(math.sqrt(m)) + in_a_row, m - 1)
    covariance = lagged_products(series, widest) / m
    if covariance[0] <= 0.0:
        return 1.0
    rho = covariance / covariance[0]
    small = np.abs(rho[1:]) < 2.0 * math.sqrt(math.log10(m) / m)
    last = _last_significant(small, in_a_row)
    half_width = min(2 * max(last, 1), widest)
    lags = np.arange(-half_width, half_width + 1)
    window = np.clip(2.0 * (1.0 - np.abs(lags) / half_width), 0.0, 1.0)
    values = window * covariance[np.abs(lags)]
    density = float(values.sum())
    slope = float((np.abs(lags) * values).sum())
    if density <= 0.0:
        return 1.0
    length = (1.5 * slope**2 / density**2) ** (1.0 / 3.0) * m ** (1.0 / 3.0)
    return float(min(max(length, 1.0), 3.0 * math.sqrt(m), m / 3.0))


def _last_significant(small: Array, in_a_row: int) -> int:
    """The lag before the first `in_a_row` insignificant ones; else the last significant lag."""
    run = 0
    for lag, insignificant in enumerate(small, start=1):
        run = run + 1 if insignificant else 0
        if run == in_a_row:
            return lag - in_a_row
    significant = np.flatnonzero(~small)
    return int(significant[-1]) + 1 if significant.size else 0
