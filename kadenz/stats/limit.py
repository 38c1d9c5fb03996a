# SPDX-License-Identifier: Apache-2.0
"""The rate at which a limit is exceeded, from observed counts, without extrapolation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Array, as_samples
from kadenz.stats.separate import Separate, separate_events

FEWEST_FOR_TAIL = 1000


@dataclass(frozen=True)
class LimitRate:
    """`above` of `n` samples exceeded `limit`; the long-run share is in [low, high].

    Both ends are None if the share is unknown; `reason` says why. The interval is Clopper and
    Pearson's, two-sided, or one-sided with low = 0 if no sample was above. It is `exact` for
    independent samples, approximate if n was divided by their dependence to `effective_n`. `three`
    is the rule of three, 3 / effective_n; None if some samples were above or the share is unknown.
    """

    n: int
    effective_n: float
    above: int
    limit: float
    low: float | None
    high: float | None
    three: float | None
    confidence: float
    reason: str = ""

    @property
    def exact(self) -> bool:
        """Whether the interval is for independent samples."""
        return self.effective_n >= self.n

    @property
    def sentence(self) -> str:
        """One sentence for a report, without a unit."""
        return self.sentence_for()

    def sentence_for(self, what: str = "samples", unit: str = "") -> str:
        """The sentence, with `what` for samples and the `unit` of the limit."""
        of = f"{self.above:,} of {self.n:,} {what} above {self.limit:g}{unit and ' ' + unit}"
        if self.low is None or self.high is None:
            return f"{of}: the long-run share is unknown: {self.reason}"
        how = (
            "exact for independent samples"
            if self.exact
            else f"approximate: worth {self.effective_n:,.0f} independent samples"
        )
        if self.three is not None:
            return (
                f"{of}: with {self.confidence:.0%} confidence the share is below {self.high:.3g} "
                f"({how}; rule of three {self.three:.3g})"
            )
        return (
            f"{of}: the share is {self.low:.3g} to {self.high:.3g} with {self.confidence:.0%} "
            f"confidence (Clopper-Pearson, {how})"
        )


def limit_rate(
    samples: npt.ArrayLike, limit: float, *, confidence: float = 0.95, tau: float | None = None
) -> LimitRate:
    """How often `samples` (n,), n >= 1, in time order, exceed `limit`, now and in the long run.

    Method: Clopper and Pearson (1934), exact for independent samples; with none above, the
    one-sided bound 1 - (1 - confidence)^(1 / n), near 3 / n at 95 % (Hanley and Lippman-Hand 1983).
    Events and n are both divided by `tau`, the dependence of the events "sample i is above the
    limit" (None: separate.py estimates it; from n = 1000 on at least that of "above p99"). With a
    tau above 1 the interval is an approximation. Events in too few bursts give no interval, and
    `reason` says so; the bound for none above still holds (docs/performance.md, "Few bursts").
    Assumes that the future is like the past. Undefined for a limit that is not a finite number.
    """
    array = as_samples(samples, "limit")
    if not math.isfinite(limit):
        raise Undefined("limit", f"{limit} is not a finite number", cause="limit")
    if not 0.0 < confidence < 1.0:
        raise Undefined("limit", f"confidence {confidence} is outside 0 ... 1")
    n = array.size
    outside = array > limit
    above = int(np.count_nonzero(outside))
    events = _events(array, outside, above) if tau is None else Separate(n, above, tau, above / tau)
    worth = n / max(events.tau, 1.0)
    if above == 0:
        high = -float(np.expm1(np.log1p(-confidence) / worth))
        return LimitRate(n, worth, 0, limit, 0.0, high, min(1.0, 3.0 / worth), confidence)
    if not events.known:
        return LimitRate(n, worth, above, limit, None, None, None, confidence, events.reason)
    hits = above / max(events.tau, 1.0)
    tail = 1.0 - confidence
    low = float(betaincinv(hits, worth - hits + 1.0, tail / 2.0))
    high = 1.0 if above == n else float(betaincinv(hits + 1.0, worth - hits, 1.0 - tail / 2.0))
    return LimitRate(n, worth, above, limit, low, high, None, confidence)


def _events(array: Array, outside: npt.NDArray[np.bool_], above: int) -> Separate:
    """Events above the limit. If fewer than those above p99, they show their dependence less well
    and count as equally dependent; if n is too small for a p99, as independent."""
    separate = separate_events(outside)
    if above >= array.size // 100 or array.size < FEWEST_FOR_TAIL:
        return separate
    rank = array.size - array.size // 100 - 1
    tau = max(separate.tau, separate_events(array > np.partition(array, rank)[rank]).tau)
    return replace(separate, tau=tau, separate=separate.events / tau)
