# SPDX-License-Identifier: Apache-2.0
"""Counts separate events: high samples that come in bursts are few events."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from kadenz.stats.effective import event_tau
from kadenz.stats.samples import Array, Floats

# Below these an interval covers too little in simulation (docs/performance.md, "Few bursts"):
# separate events, events that make up the variance, and independent samples in all.
FEWEST_SEPARATE = 5.0
FEWEST_BEHIND = 2.5
FEWEST_INDEPENDENT = 30.0
# Up to this tau the events count as independent: by chance some of them are neighbours.
INDEPENDENT = 1.25
# The series is cut into this number of parts, then repeatedly into twice as many, to find bursts
# whose samples are not neighbours; a part must be this unlikely to count.
PARTS = 10
SURELY = 0.001
FEWEST_SAMPLES = 8


@dataclass(frozen=True)
class Separate:
    """`n` samples, `events` of them with the event (or without it, if these are fewer).

    `tau` events are worth one independent event; `separate` = events / tau is their effective
    number. `reason` says why that is too few for an interval of their share, "" if it is enough.
    """

    n: int
    events: int
    tau: float
    separate: float
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether an interval of the share of events can be trusted."""
        return not self.reason


def separate_events(happened: npt.NDArray[np.bool_]) -> Separate:
    """Counts the separate events of `happened` (n,), True for samples with the event, in order.

    Method: tau is the larger of Geyer's sum of autocorrelations (effective.py) and the dispersion
    of counts in 10, 20, 40, ... equal parts of the series, if it is significant (chi-square,
    p < 0.001): Geyer's sum ends at the first pair that is not positive and misses bursts whose
    samples are not neighbours. If events depend on each other (tau > 1.25), the share needs 5
    separate events, 30 independent samples, and a variance that does not depend on one or two
    bursts: (sum d^2)^2 / sum d^4 >= 2.5 of the counts' deviations d. A burst that never struck
    during the measurement leaves no trace. n < 8 counts as independent.
    """
    n = int(happened.size)
    events = int(np.count_nonzero(happened))
    fewer = min(events, n - events)
    if n < FEWEST_SAMPLES or fewer == 0:
        return Separate(n, fewer, 1.0, float(fewer))
    share = events / n
    running = _running(happened)
    tau = max(event_tau(running), _dispersion(running, share), 1.0)
    separate = fewer / tau
    if tau <= INDEPENDENT:
        return Separate(n, fewer, tau, separate)
    behind = _behind(_counts(running, max(2, math.ceil(n / min(2.0 * tau, n / 4)))))
    reason = ""
    if separate < FEWEST_SEPARATE:
        reason = (
            f"{fewer:,} samples beyond it come in bursts and are worth {separate:.1f} separate "
            f"events; at least {FEWEST_SEPARATE:g} are needed. Measure longer"
        )
    elif behind < FEWEST_BEHIND:
        reason = f"{fewer:,} samples beyond it depend on one or two bursts. Measure longer"
    elif n / tau < FEWEST_INDEPENDENT:
        reason = (
            f"the series is worth {n / tau:.0f} independent samples; at least "
            f"{FEWEST_INDEPENDENT:g} are needed. Measure longer"
        )
    return Separate(n, fewer, tau, separate, reason)


def _running(happened: npt.NDArray[np.bool_]) -> Array:
    """Events before each sample, and all (n + 1,): counts of any parts are its differences."""
    kind: type[np.signedinteger[Any]] = np.int32 if happened.size < 1 << 31 else np.int64
    running = np.zeros(happened.size + 1, dtype=kind)
    np.cumsum(happened, dtype=kind, out=running[1:])
    return running


def _counts(running: Array, parts: int) -> Floats:
    """Events in equal parts (parts,); a remainder at the end is not counted."""
    length = (running.size - 1) // parts
    return np.asarray(np.diff(running[: parts * length + 1 : length]), dtype=np.float64)


def _dispersion(running: Array, share: float) -> float:
    """The largest significant variance of counts, relative to that of independent events."""
    largest, parts, n = 1.0, PARTS, running.size - 1
    while parts * 4 <= n:
        counts = _counts(running, parts)
        expected = n // parts * share * (1.0 - share)
        squares = float(((counts - counts.mean()) ** 2).sum()) / expected
        if float(chdtrc(parts - 1, squares)) < SURELY:
            largest = max(largest, squares / (parts - 1))
        parts *= 2
    return largest


def _behind(counts: Floats) -> float:
    """The effective number of parts in the variance of `counts` (m,); about m / 3 if normal."""
    squares = (counts - counts.mean()) ** 2
    return float(squares.sum() ** 2 / max(float((squares**2).sum()), 1e-300))
