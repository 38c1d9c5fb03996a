# SPDX-License-Identifier: Apache-2.0
"""Clock-rate error, drift and remaining jitter (cereia2011)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.fft
from scipy.special import stdtrit

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.resample import studentised_deviates
from kadenz.stats.samples import Array, Floats, Ints, as_samples
from kadenz.stats.trend import Method, moving_trend

CONFIDENCE = 0.95
# cereia2011, section III: 16,000 adjacent edges, 16 s at a cycle of 1 ms.
WINDOW = 16_000
# Below this effective number of edges, the coverage of the bootstrap interval of the rate falls
# under 93 % in simulation; then the wider one of it and the cosines' interval is used ...
FEW_EFFECTIVE = 100.0
# ... with this number of cosines, two of them spent on offset and slope.
COSINES = 8
# Below this the rate itself wanders, and one run gives no valid interval.
TOO_FEW_EFFECTIVE = 20.0


@dataclass(frozen=True, eq=False)
class Drift:
    """Edge times decomposed: t[i] = offset + period * cycle[i] + drift[i] + jitter[i].

    `period` is an Estimate in the unit of the times; `rate_error_ppm` an Estimate of period /
    nominal - 1 in parts per million (None without a nominal period). Three views, each (n,), in the
    unit of the times: `raw` = t[i] - t[0] - nominal * cycle[i] (without a nominal period, with the
    estimated one), `compensated` = raw minus the regression line, `jitter` = compensated minus
    `drift`. `cycles` (n,) is None if no cycle is missing. `jitter_sd`, `jitter_range` (max - min).
    `effective_n` is the equivalent number of independent edges; `reason` is set if that is too few
    for the interval.
    """

    n: int
    period: Estimate
    rate_error_ppm: Estimate | None
    raw: Floats
    compensated: Floats
    drift: Floats
    jitter: Floats
    jitter_sd: float
    jitter_range: float
    window: int
    method: Method = "mean"
    cycles: Ints | None = None
    effective_n: float = 0.0
    reason: str = ""


def separate_drift(
    times: npt.ArrayLike,
    *,
    cycles: npt.ArrayLike | None = None,
    nominal_period: float | None = None,
    window: int | None = None,
    method: Method = "mean",
    replicates: int = 2000,
    seed: int = 1,
) -> Drift:
    """Decomposes the edge times `times` (n,), ascending, n >= 32, into rate, drift and jitter.

    Method (cereia2011): least squares of the edge times on their cycle number gives the ratio of
    the two clocks; the residuals, averaged over `window` adjacent cycles centred on each, are the
    drift of the oscillators; the rest is jitter. The window defaults to the paper's 16,000 edges,
    or a quarter of all cycles if that is less; trend.py describes the ends, and `method` "median".
    `cycles` (n,), ascending integers, gives the cycle of each time if some were missed; gaps stay
    gaps (cycles.py finds unrecorded numbers). Without it times must ascend. The interval of the
    period allows for correlated residuals: their products with the regressor are resampled in
    blocks (resample.py). Below 100 independent edges, the wider of that and Student's t on the
    products' first cosines (Mueller 2007; Lazarus, Lewis, Stock and Watson 2018) is taken. Assumes
    that software jitter is faster than the window; slower jitter is counted as drift.
    """
    edges = as_samples(times, "drift", needed=32)
    n = edges.size
    cycle_numbers = _numbers(cycles, n)
    span = n if cycle_numbers is None else int(cycle_numbers[-1]) + 1
    width = min(WINDOW, span // 4) if window is None else window
    if not 1 <= width <= span:
        raise Undefined("drift", f"a window of {width} cycles for {span}", cause="window")
    if nominal_period is not None and nominal_period <= 0.0:
        raise Undefined("drift", f"nominal period {nominal_period} is not positive", cause="period")
    relative = _relative(edges, ascending=cycles is None)
    place = (np.arange(n) if cycle_numbers is None else cycle_numbers).astype(np.float64)
    # Regress the departures from the mean period: small numbers, no cancellation.
    rough = float(relative[-1]) / (span - 1)
    departure = relative - rough * place
    number = place - place.mean()
    squares = float(number @ number)
    slope = float(number @ departure) / squares
    compensated = departure - departure.mean() - slope * number
    value = rough + slope
    low, high, effective = _interval(number, compensated, squares, replicates, seed)
    period = Estimate(value, value + low, value + high, CONFIDENCE, low == high)
    rate = None
    if nominal_period is not None:
        ppm = [(end / nominal_period - 1.0) * 1e6 for end in (value, period.low, period.high)]
        rate = Estimate(ppm[0], ppm[1], ppm[2], CONFIDENCE, period.zero_width)
    drift = moving_trend(compensated, cycle_numbers, width, method)
    jitter = compensated - drift
    return Drift(
        n=n,
        period=period,
        rate_error_ppm=rate,
        raw=relative - (value if nominal_period is None else nominal_period) * place,
        compensated=compensated,
        drift=drift,
        jitter=jitter,
        jitter_sd=float(jitter.std(ddof=1)),
        jitter_range=float(jitter.max() - jitter.min()),
        window=width,
        method=method,
        cycles=cycle_numbers,
        effective_n=effective,
        reason=(
            f"the compensated edges are worth only {effective:.0f} independent ones: the clocks' "
            "rate itself wanders, so the interval of the rate may be too narrow"
            if effective < TOO_FEW_EFFECTIVE
            else ""
        ),
    )


def _relative(edges: Array, *, ascending: bool) -> Floats:
    """Times (n,) from the first edge; Undefined if they must be `ascending` and are not."""
    # Subtract in the samples' own type: u8 nanoseconds since an epoch would lose digits as f8.
    relative: Floats = (edges - edges[0]).astype(np.float64)
    if ascending and (np.diff(relative) <= 0.0).any():
        where = int(np.flatnonzero(np.diff(relative) <= 0.0)[0]) + 1
        raise Undefined("drift", f"edge {where} is not later than the previous one", cause="order")
    return relative


def _numbers(cycles: npt.ArrayLike | None, n: int) -> Ints | None:
    """Cycle numbers from 0; None if no cycle is missing."""
    if cycles is None:
        return None
    given = np.asarray(cycles)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise Undefined(
            "drift", f"{given.shape} cycle numbers of {given.dtype} for {n} times", cause="cycles"
        )
    cycle_numbers = given.astype(np.int64)
    if (np.diff(cycle_numbers) <= 0).any():
        where = int(np.flatnonzero(np.diff(cycle_numbers) <= 0)[0]) + 1
        raise Undefined(
            "drift", f"cycle number {where} is not above the previous one", cause="cycles"
        )
    cycle_numbers = cycle_numbers - cycle_numbers[0]
    return None if int(cycle_numbers[-1]) == n - 1 else cycle_numbers


def _interval(
    number: Floats,
    residual: Floats,
    squares: float,
    replicates: int,
    seed: int,
) -> tuple[float, float, float]:
    """Ends of the slope's interval relative to the slope, and the residuals' effective n."""
    n = residual.size
    # On an exact line, only rounding errors remain.
    if float(np.abs(residual).max()) == 0.0:
        return 0.0, 0.0, float(n)
    # The slope's error is the sum of these products over `squares`; their mean is zero.
    products: Array = number * residual
    drawn = studentised_deviates(products, replicates, np.random.default_rng(seed))
    effective = n / drawn.cell / max(drawn.tau, 1.0)
    tail = (1.0 - CONFIDENCE) / 2.0
    low_t, high_t = (float(t) for t in np.quantile(drawn.t, (tail, 1.0 - tail)))
    unit = drawn.standard_error * n / squares
    low, high = -high_t * unit, -low_t * unit
    if effective < FEW_EFFECTIVE:
        waves = scipy.fft.dct(products, type=2, norm="ortho")[1 : COSINES + 1]
        free = COSINES - 2
        error = math.sqrt(float(waves @ waves) / free * n) / squares
        reach = float(stdtrit(free, 1.0 - tail)) * error
        low, high = min(low, -reach), max(high, reach)
    return min(low, 0.0), max(high, 0.0), effective
