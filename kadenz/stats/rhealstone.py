# SPDX-License-Identifier: Apache-2.0
"""Rhealstone's single figure: the mean of six times of a kernel, and its inverse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate

# Kar and Porter 1989, with message latency instead of datagram throughput (Kar 1990).
PARTS = (
    "task switch",
    "preemption",
    "interrupt latency",
    "semaphore shuffle",
    "deadlock break",
    "message latency",
)


@dataclass(frozen=True)
class Rhealstone:
    """`mean` of the six in their unit, `rate` = 1 / mean in the inverse of that unit.

    Both are None if a part is `missing`: a mean of five parts is not comparable.
    """

    mean: Estimate | None
    rate: Estimate | None
    missing: tuple[str, ...]


def rhealstone(parts: Mapping[str, Estimate | None]) -> Rhealstone:
    """The mean of the six `parts`, each a mean with its interval, all in one unit; None: missing.

    Source: R. P. Kar and K. Porter, "Rhealstone: a real-time benchmarking proposal", Dr. Dobb's
    Journal 14(2), 1989; R. P. Kar, "Implementing the Rhealstone real-time benchmark", ibid. 15(4),
    1990: the six with equal weights; the published number is the inverse of their mean in seconds,
    Rhealstones per second. The interval is ours; the sources have none. Half-widths on each side
    add in quadrature, divided by six, which assumes six independent measurements. Undefined for a
    part that is not one of PARTS, for a negative one, and for intervals of different confidences.
    """
    strange = [name for name in parts if name not in PARTS]
    if strange:
        raise Undefined("Rhealstone", f"{strange[0]} is not one of its parts: {', '.join(PARTS)}")
    present = [part for name in PARTS if (part := parts.get(name)) is not None]
    missing = tuple(name for name in PARTS if parts.get(name) is None)
    if missing:
        return Rhealstone(None, None, missing)
    if any(not part.value > 0.0 for part in present):
        raise Undefined("Rhealstone", "a part takes no time: its clock is too coarse")
    confidences = {part.confidence for part in present}
    if len(confidences) != 1:
        raise Undefined("Rhealstone", "its parts' intervals have different confidences")
    value = math.fsum(part.value for part in present) / len(PARTS)
    below = math.hypot(*(part.value - part.low for part in present)) / len(PARTS)
    above = math.hypot(*(part.high - part.value for part in present)) / len(PARTS)
    (confidence,) = confidences
    still = all(part.zero_width for part in present)
    mean = Estimate(value, value - below, value + above, confidence, still)
    rate = Estimate(
        1.0 / mean.value,
        1.0 / mean.high,
        1.0 / mean.low if mean.low > 0.0 else math.inf,
        confidence,
        still,
    )
    return Rhealstone(mean, rate, ())
