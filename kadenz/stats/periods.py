# SPDX-License-Identifier: Apache-2.0
"""Periods of a cyclic thread: what passes from one wake-up to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew
from kadenz.stats.samples import Floats
from kadenz.stats.summary import Summary


def periods(latencies: npt.ArrayLike, cycles: npt.ArrayLike, period: float) -> Floats:
    """The times between consecutive wake-ups (n - 1,), in the unit of `latencies` and `period`.

    `latencies` (n,) of the cycles numbered `cycles` (n,), ascending, n >= 2: a wake-up is at
    period * cycle + latency. A missed cycle makes the period across it longer. TooFew below.
    """
    late = np.asarray(latencies, dtype=np.float64)
    if late.size < 2:
        raise TooFew("periods", int(late.size), 2)
    return np.asarray(
        np.diff(np.asarray(cycles, dtype=np.float64)) * period + np.diff(late), dtype=np.float64
    )


def read_from_counters(groups: Sequence[tuple[Summary, float]], modulus: float) -> Summary:
    """Spans as they appear if each core reads its own counter, in the unit of the spans.

    A group is all spans with one begin and one end, and the difference of the two counters: end
    less begin, at one moment. A span shows as the sum, modulo `modulus`, the range of the counters.
    Describes all of them; the median is NaN, because descriptions do not give it. Assumes that a
    group lies on one side of the wrap, as it does if its spread is far smaller than the difference.
    TooFew without a span.
    """
    n = sum(summary.n for summary, _ in groups)
    if n == 0:
        raise TooFew("read_from_counters", 0, 1)
    moved = [
        (summary, by - math.floor((summary.mean + by) / modulus) * modulus)
        for summary, by in groups
    ]
    mean = sum(summary.n * (summary.mean + by) for summary, by in moved) / n
    squares = sum(
        summary.n * (summary.mean + by - mean) ** 2 + (summary.n - 1) * (summary.sd or 0.0) ** 2
        for summary, by in moved
    )
    return Summary(
        n=n,
        mean=mean,
        sd=math.sqrt(squares / (n - 1)) if n > 1 else None,
        min=min(summary.min + by for summary, by in moved),
        max=max(summary.max + by for summary, by in moved),
        median=math.nan,
    )
