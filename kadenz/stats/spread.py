# SPDX-License-Identifier: Apache-2.0
"""The spread of a figure from run to run, from few runs and many points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, zeta

from kadenz.stats.samples import Floats

# This share of the degrees of freedom of other points is used: simulated false alarms were 6 to 8 %
# with all of them, and are 5 % with half.
LENT = 0.5
# The prior's degrees of freedom are looked up on this grid; beyond its end nothing changes.
_HALVES: Floats = np.asarray(np.geomspace(1e-3, 1e4, 4000), dtype=np.float64)
_TRIGAMMA: Floats = np.asarray(zeta(2.0, _HALVES))


@dataclass(frozen=True)
class Spread:
    """Variance of the logarithm of a figure from run to run, and its degrees of freedom."""

    variance: float
    freedom: float


@dataclass(frozen=True, eq=False)
class RunLogs:
    """The logarithms of one figure in the runs of a side (r,), r >= 2; a floor of their variance.

    `least` is the variance known without comparing runs: the error within them.
    """

    values: Floats
    least: float = 0.0

    @property
    def spread(self) -> Spread:
        """The spread from these runs alone."""
        variance = float(self.values.var(ddof=1))
        return Spread(max(variance, self.least), self.values.size - 1.0)


def moderated(sides: Sequence[Sequence[RunLogs]]) -> list[list[Spread]]:
    """The spread of every point of every side.

    `sides[s][i]` is point i on side s; a side's points belong to the same runs in the same order
    and to one statistic. A side without several runs is empty.

    Method: empirical Bayes as in limma (Smyth 2004, section 6.2), for each side: variances are
    shrunk towards a common one, with the degrees of freedom that their agreement justifies. Three
    precautions keep false alarms at 5 % for two to five runs: the variance of the log variances is
    taken one standard error larger; points that the machine moves together count as fewer; and half
    of the remaining degrees of freedom, less two points' worth, is used. One or two points, and
    points that do not vary, keep their own spread.
    """
    shared = _shared([side for side in sides if side])
    return [_of_side(side, shared) for side in sides]


def _of_side(points: Sequence[RunLogs], shared: float) -> list[Spread]:
    spreads = [point.spread for point in points]
    varying = [i for i, spread in enumerate(spreads) if spread.variance > 0.0]
    m = len(varying)
    if m <= 2:
        return spreads
    freedom = spreads[varying[0]].freedom
    logs = np.log([spreads[i].variance for i in varying])
    centred = logs - float(digamma(freedom / 2.0)) + math.log(freedom / 2.0)
    apart = float(centred.var(ddof=1)) * (1.0 + math.sqrt(2.0 / (m - 1)))
    apart -= float(zeta(2.0, freedom / 2.0))
    half = _inverse_trigamma(apart) if apart > 0.0 else float(_HALVES[-1])
    independent = m / (1.0 + (m - 1) * shared)
    lent = min(2.0 * half, LENT * freedom * (independent - 2.0))
    if lent <= 0.0:
        return spreads
    common = math.exp(float(centred.mean()) + float(digamma(half)) - math.log(half))
    for i in varying:
        mixed = (lent * common + freedom * spreads[i].variance) / (lent + freedom)
        spreads[i] = Spread(max(mixed, points[i].least), lent + freedom)
    return spreads


def _shared(sides: Sequence[Sequence[RunLogs]]) -> float:
    """Mean squared correlation of the points' residuals, less its expected value; 0 ... 1."""
    parts, freedom = [], 0.0
    for side in sides:
        rows = np.array([point.values - point.values.mean() for point in side])
        lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        side_freedom = rows.shape[1] - 1.0
        parts.append(math.sqrt(side_freedom) * rows / np.where(lengths > 0.0, lengths, 1.0))
        freedom += side_freedom
    if not parts or freedom < 2.0 or len(parts[0]) < 2:
        return 0.0
    together = np.hstack(parts) / math.sqrt(freedom)
    squares = (together @ together.T) ** 2
    m = len(together)
    mean = (float(squares.sum()) - float(np.trace(squares))) / (m * (m - 1))
    return min(1.0, max(0.0, (mean - 1.0 / freedom) / (1.0 - 1.0 / freedom)))


def _inverse_trigamma(value: float) -> float:
    """x with trigamma(x) = value, interpolated between logarithms; relative error below 1e-4."""
    log_half = np.interp(-math.log(value), -np.log(_TRIGAMMA), np.log(_HALVES))
    return float(np.exp(log_half))
