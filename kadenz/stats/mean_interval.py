# SPDX-License-Identifier: Apache-2.0
"""Moving-block bootstrap interval for the mean of dependent samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.resample import studentised_deviates
from kadenz.stats.samples import as_samples, exact_mean

# Below this effective number of samples the simulated coverage falls under 92 %.
FEW_EFFECTIVE = 30.0


@dataclass(frozen=True)
class MeanInterval(Estimate):
    """An Estimate of the mean, with its method's parameters.

    `block` is the length of a block in samples, a multiple of `cell`, the number of samples
    averaged beforehand; `standard_error` is in the unit of the samples.
    """

    n: int = 0
    standard_error: float = 0.0
    block: int = 1
    cell: int = 1
    replicates: int = 0
    reason: str = ""


def mean_interval(
    samples: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: int = 1,
    block: int | None = None,
) -> MeanInterval:
    """Interval for the mean of `samples` (n,) in time order, n >= 10.

    Method: studentised circular moving-block bootstrap (resample.py has the sources); the block is
    1.5 times the automatic length of Politis and White, or `block` samples. Studentised rather than
    percentile because simulated coverage said so: at autocorrelation 0.9 and n = 1000 the
    percentile interval covers 88 %, this one 94 % (docs/explanation/statistics.md). The same seed
    gives the same interval. Assumes a stationary series with a finite variance, at least about 50
    correlation times long; `reason` reports a shorter one. Samples that do not vary give an
    interval of zero width, marked `zero_width`.
    """
    array = as_samples(samples, "mean interval", needed=10)
    if not 0.0 < confidence < 1.0:
        raise Undefined("mean interval", f"confidence {confidence} is outside 0 ... 1")
    if block is not None and not 1 <= block <= array.size // 4:
        raise Undefined(
            "mean interval", f"block {block} is outside 1 ... {array.size // 4}, a quarter of n"
        )
    mean = exact_mean(array)
    if array.min() == array.max():
        return MeanInterval(
            mean,
            mean,
            mean,
            confidence,
            zero_width=True,
            n=array.size,
            reason="the samples do not vary: other runs may differ despite the zero width",
        )
    drawn = studentised_deviates(array, replicates, np.random.default_rng(seed), block)
    tail = (1.0 - confidence) / 2.0
    low_t, high_t = np.quantile(drawn.t, (tail, 1.0 - tail))
    effective = array.size / drawn.cell / max(drawn.tau, 1.0)
    return MeanInterval(
        mean,
        mean - float(high_t) * drawn.standard_error,
        mean - float(low_t) * drawn.standard_error,
        confidence,
        n=array.size,
        standard_error=drawn.standard_error,
        block=drawn.block,
        cell=drawn.cell,
        replicates=replicates,
        reason=(
            f"worth only {effective:.0f} independent samples: the interval may be too narrow"
            if effective < FEW_EFFECTIVE
            else ""
        ),
    )
