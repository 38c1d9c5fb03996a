# SPDX-License-Identifier: Apache-2.0
"""Clock-rate error, drift and the jitter that is left (cereia2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.resample import studentised_deviates
from kadenz.stats.samples import Floats, as_samples

# cereia2011, section III: 16,000 adjacent edges, 16 s at a cycle of 1 ms.
WINDOW = 16_000


@dataclass(frozen=True, eq=False)
class Drift:
    """Edge times taken apart: t[i] = offset + period * i + drift[i] + jitter[i].

    `period` Estimate in the unit of the times; `rate_error_ppm` Estimate of period / nominal - 1 in
    parts per million (None without a nominal period); `drift` and `jitter` (n,), unit of the times;
    `jitter_sd`, `jitter_range` (max - min).
    """

    n: int
    period: Estimate
    rate_error_ppm: Estimate | None
    drift: Floats
    jitter: Floats
    jitter_sd: float
    jitter_range: float
    window: int


def separate_drift(
    times: npt.ArrayLike,
    *,
    nominal_period: float | None = None,
    window: int | None = None,
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: int = 1,
) -> Drift:
    """Take the edge times `times` (n,), ascending, n >= 32, apart into rate, drift and jitter.

    Method (cereia2011): least squares of the edge times on their number gives the ratio of the two
    clocks; what is left, averaged over `window` adjacent edges centred on each, is the drift of the
    oscillators; the rest is jitter. The window defaults to the paper's 16,000 edges, or a quarter
    of n if that is less; near the ends it is cut off, so no edge is lost. The interval of the
    period allows for correlated residuals: their products with the regressor are resampled in
    blocks (resample.py). Assumes no missing edge (a gap would become drift: split there), and
    that software jitter is faster than the window; slower jitter is counted as drift.
    """
    edges = as_samples(times, "drift", needed=32)
    n = edges.size
    width = min(WINDOW, n // 4) if window is None else window
    if not 1 <= width <= n:
        raise Undefined("drift", f"a window of {width} edges for {n}. Choose 1 ... {n}")
    if nominal_period is not None and nominal_period <= 0.0:
        raise Undefined("drift", f"nominal period {nominal_period} is not positive")
    # Relative to the first edge, subtracted in the samples' own type: u8 nanoseconds since an epoch
    # would lose digits as f8.
    relative = (edges - edges[0]).astype(np.float64)
    if (np.diff(relative) <= 0.0).any():
        where = int(np.flatnonzero(np.diff(relative) <= 0.0)[0]) + 1
        raise Undefined("drift", f"edge {where} is not later than the one before it")
    number = np.arange(n) - (n - 1) / 2.0
    squares = n * (n * n - 1.0) / 12.0
    # Regress the departures from the mean period: small numbers, no cancellation.
    rough = float(relative[-1]) / (n - 1)
    departure = relative - rough * np.arange(n)
    slope = float(number @ departure) / squares
    residual = departure - departure.mean() - slope * number
    value = rough + slope
    low, high = value, value
    if residual.any():
        # The slope's error is the sum of these products over `squares`; their mean is zero.
        drawn = studentised_deviates(number * residual, replicates, np.random.default_rng(seed))
        tail = (1.0 - confidence) / 2.0
        low_t, high_t = np.quantile(drawn.t, (tail, 1.0 - tail))
        unit = drawn.standard_error * n / squares
        low, high = value - float(high_t) * unit, value - float(low_t) * unit
    period = Estimate(value, low, high, confidence, low == high)
    rate = None
    if nominal_period is not None:
        ppm = [(end / nominal_period - 1.0) * 1e6 for end in (value, period.low, period.high)]
        rate = Estimate(ppm[0], ppm[1], ppm[2], confidence, period.zero_width)
    drift = _moving_average(residual, width)
    jitter = residual - drift
    return Drift(
        n=n,
        period=period,
        rate_error_ppm=rate,
        drift=drift,
        jitter=jitter,
        jitter_sd=float(jitter.std(ddof=1)),
        jitter_range=float(jitter.max() - jitter.min()),
        window=width,
    )


def _moving_average(series: Floats, width: int) -> Floats:
    """Centred means of `width` values, fewer near the ends."""
    sums = np.concatenate(([0.0], np.cumsum(series)))
    index = np.arange(series.size)
    first = np.maximum(index - (width - 1) // 2, 0)
    last = np.minimum(index + width // 2 + 1, series.size)
    return np.asarray((sums[last] - sums[first]) / (last - first))
