"""Clock-rate error, drift and the jitter that is left (cereia2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from kadenz.stats.estimate import Estimate
from kadenz.stats.samples import Floats


@dataclass(frozen=True, eq=False)
class Drift:
    """Edge times taken apart: t[i] = offset + period * i + drift[i] + jitter[i].

    `period` Estimate in the unit of the times; `rate_error_ppm` Estimate of period / nominal - 1 in
    parts per million (None without a nominal period); `drift` and `jitter` (n,), unit of the times;
    `jitter_sd`, `jitter_range` (max - min).
    """

    n: int
    period: Estimate
    rate_error_ppm: Estimate | None
    drift: Floats
    jitter: Floats
    jitter_sd: float
    jitter_range: float
    window: int


def separate_drift(
    times: npt.ArrayLike,
    *,
    nominal_period: float | None = None,
    window: int = 1001,
    confidence: float = 0.95,
) -> Drift:
    """Take the edge times `times` (n,), ascending, n >= 32, apart into rate, drift and jitter."""
    raise NotImplementedError
