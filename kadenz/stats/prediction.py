# SPDX-License-Identifier: Apache-2.0
"""How often future executions may exceed the observed maximum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.effective import effective_size
from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.samples import Array, as_samples
from kadenz.stats.separate import FEWEST_SAMPLES, separate_events

FEWEST_FOR_TAIL = 1000


@dataclass(frozen=True)
class MaximumBound:
    """With `confidence`, at most `exceed_fraction` of future executions exceed `maximum`."""

    n: int
    effective_n: float
    maximum: float
    confidence: float
    exceed_fraction: float

    @property
    def one_in(self) -> int:
        """At most one execution in this many exceeds the observed maximum."""
        return int(1.0 / self.exceed_fraction)

    @property
    def sentence(self) -> str:
        """One sentence for a report: how rarely the observed maximum is exceeded."""
        return (
            f"with {self.confidence:.0%} confidence, at most one in {self.one_in:,} future "
            f"executions exceeds the observed maximum"
        )


def maximum_bound(
    samples: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    ordered: Ordered | None = None,
    tau: float | None = None,
) -> MaximumBound:
    """How often the observed maximum of `samples` (n,), n >= 1, may be exceeded.

    Method: one-sided nonparametric tolerance bound (Wilks 1941): the share above the maximum of n
    independent samples is at most 1 - (1 - confidence)^(1/n), near 3/n at 95 % (the rule of three,
    Hanley and Lippman-Hand 1983). n is divided by `tau`, because high latencies come in clusters;
    None estimates it from the series "sample i is above p99"; below n = 1000 from the samples
    themselves, which is more conservative if the tail is too thin; below n = 8 it is 1. The bound
    also holds if p99 depends on two bursts (docs/performance.md, "Few bursts"). Assumes that the
    future is like the past: same load, same configuration. It bounds how often, never how far: it
    is not a worst case.
    """
    array = as_samples(samples, "maximum bound")
    if not 0.0 < confidence < 1.0:
        raise Undefined("maximum bound", f"confidence {confidence} is outside 0 ... 1")
    data = order(array) if ordered is None else ordered
    if tau is None:
        tau = _tau(array, data)
    worth = array.size / max(tau, 1.0)
    return MaximumBound(
        n=array.size,
        effective_n=worth,
        maximum=data.rank(data.n),
        confidence=confidence,
        exceed_fraction=-math.expm1(math.log1p(-confidence) / worth),
    )


def _tau(array: Array, data: Ordered) -> float:
    if array.size >= FEWEST_FOR_TAIL:
        return separate_events(array > data.quantile(0.99)).tau
    return effective_size(array).tau if array.size >= FEWEST_SAMPLES else 1.0
