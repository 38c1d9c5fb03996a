# SPDX-License-Identifier: Apache-2.0
"""Quartiles and whiskers of a box plot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.ordered import Ordered, order


@dataclass(frozen=True)
class Box:
    """In the unit of the samples. Whiskers end at samples; samples beyond them are counted."""

    n: int
    low_whisker: float
    q1: float
    median: float
    q3: float
    high_whisker: float
    below: int
    above: int


def box(samples: npt.ArrayLike | Ordered, *, reach: float = 1.5) -> Box:
    """Tukey's box plot (1977): whiskers end at the last sample within `reach` x IQR of the box.

    Shape (n,), n >= 1. Quartiles are measured values (Hyndman and Fan 1996, definition 1).
    """
    data = order(samples)
    q1, q3 = data.quantile(0.25), data.quantile(0.75)
    first = data.count_below(q1 - reach * (q3 - q1))
    last = data.count_up_to(q3 + reach * (q3 - q1))
    return Box(
        n=data.n,
        low_whisker=data.rank(first + 1),
        q1=q1,
        median=data.median,
        q3=q3,
        high_whisker=data.rank(last),
        below=first,
        above=data.n - last,
    )
