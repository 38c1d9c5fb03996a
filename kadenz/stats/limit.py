# SPDX-License-Identifier: Apache-2.0
"""How often a limit is exceeded, from how often it was: nothing is extrapolated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from kadenz.stats.effective import effective_size
from kadenz.stats.errors import Undefined
from kadenz.stats.samples import as_samples


@dataclass(frozen=True)
class LimitRate:
    """`above` of `n` samples exceeded `limit`; the share in the long run is [low, high].

    Exact (Clopper-Pearson) and two-sided, but one-sided with low = 0 where none was above. `three`
    is the rule of three, 3 / effective_n, None where some were above.
    """

    n: int
    effective_n: float
    above: int
    limit: float
    low: float
    high: float
    three: float | None
    confidence: float

    @property
    def sentence(self) -> str:
        """For a report."""
        return self.words()

    def words(self, what: str = "samples", unit: str = "") -> str:
        """The sentence about so many `what` above so many `unit`."""
        worth = (
            ""
            if self.effective_n > 0.99 * self.n
            else f" (worth {self.effective_n:,.0f} independent ones)"
        )
        of = f"{self.above:,} of {self.n:,} {what}{worth} above {self.limit:g}{unit and ' ' + unit}"
        if self.three is not None:
            return (
                f"{of}: with {self.confidence:.0%} confidence the share is below {self.high:.3g} "
                f"(exact; rule of three {self.three:.3g})"
            )
        return (
            f"{of}: the share is {self.low:.3g} to {self.high:.3g} with {self.confidence:.0%} "
            "confidence (Clopper-Pearson)"
        )


def limit_rate(
    samples: npt.ArrayLike, limit: float, *, confidence: float = 0.95, tau: float | None = None
) -> LimitRate:
    """How often `samples` (n,), n >= 1, in time order, exceed `limit`, and may in the long run.

    Method: Clopper and Pearson (1934), exact for independent samples; with none above, the
    one-sided bound 1 - (1 - confidence)^(1 / n), near 3 / n at 95 % (Hanley and Lippman-Hand 1983).
    n is divided by `tau`, the dependence of the series "sample i is above the limit" (None:
    estimated; where none is above, that of "above p99", from n = 1000). Assumes that the future is
    like the past. Undefined for a limit that is no finite number.
    """
    array = as_samples(samples, "limit")
    if not math.isfinite(limit):
        raise Undefined("limit", f"{limit} is no finite number", cause="limit")
    if not 0.0 < confidence < 1.0:
        raise Undefined("limit", f"confidence {confidence} is outside 0 ... 1")
    n = array.size
    outside = array > limit
    above = int(np.count_nonzero(outside))
    if tau is None:
        tau = 1.0
        series = outside if above else array > np.partition(array, -(n // 100) - 1)[-(n // 100) - 1]
        if n >= 1000 and series.any() and not series.all():
            tau = effective_size(series).tau
    worth = n / max(tau, 1.0)
    hits = above / max(tau, 1.0)
    tail = 1.0 - confidence
    if above == 0:
        high = -float(np.expm1(np.log1p(-confidence) / worth))
        return LimitRate(n, worth, 0, limit, 0.0, high, min(1.0, 3.0 / worth), confidence)
    low = float(betaincinv(hits, worth - hits + 1.0, tail / 2.0))
    high = 1.0 if above == n else float(betaincinv(hits + 1.0, worth - hits, 1.0 - tail / 2.0))
    return LimitRate(n, worth, above, limit, low, high, None, confidence)
