# SPDX-License-Identifier: Apache-2.0
"""Simulated series with known parameters, for tests of the statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from kadenz.stats.samples import Floats

Rng = np.random.Generator


def ar1(rng: Rng, n: int, phi: float) -> Floats:
    """Gaussian, variance 1, autocorrelation phi^k; tau = (1 + phi) / (1 - phi)."""
    noise = rng.standard_normal(n + 200) * np.sqrt(1.0 - phi * phi)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise)[200:], dtype=np.float64)


@dataclass(frozen=True)
class Kind:
    """A kind of series: a generator of n samples, and their true parameters."""

    name: str
    make: Callable[[Rng, int], Floats]
    mean: float
    median: float


KINDS = (
    Kind("independent", lambda rng, n: 10.0 + rng.standard_normal(n), 10.0, 10.0),
    Kind("ar 0.5", lambda rng, n: 10.0 + ar1(rng, n, 0.5), 10.0, 10.0),
    Kind("ar 0.9", lambda rng, n: 10.0 + ar1(rng, n, 0.9), 10.0, 10.0),
    # Rounded to ticks of half a standard deviation; symmetric, so the mean does not change.
    Kind(
        "ar 0.9 in ticks",
        lambda rng, n: np.round(20.0 + 2.0 * ar1(rng, n, 0.9)),
        20.0,
        20.0,
    ),
    Kind(
        "log-normal ar 0.9",
        lambda rng, n: np.exp(0.7 * ar1(rng, n, 0.9)),
        float(np.exp(0.7**2 / 2.0)),
        1.0,
    ),
    Kind(
        "log-normal",
        lambda rng, n: rng.lognormal(0.0, 1.0, n),
        float(np.exp(0.5)),
        1.0,
    ),
    Kind("pareto 3", lambda rng, n: rng.pareto(3.0, n), 0.5, 2.0 ** (1.0 / 3.0) - 1.0),
)
INDEPENDENT, AR5, AR9, TICKS, LOGNORMAL_AR9, LOGNORMAL, PARETO = KINDS
