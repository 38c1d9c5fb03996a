"""Outliers that come in step with something: tick interference found and named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class PeriodicOutliers:
    """What stands out of the samples, and whether it comes periodically.

    `threshold` and `extra` (median of the affected less median of all) in the unit of the samples.
    `every` is the period in samples, `phase` the index of the first slot. `affected` indices belong
    to the period, `others` do not. `p_value` counts every period searched. `tick_fits` is None when
    no tick rate was given. `sentence` is for a report.
    """

    n: int
    threshold: float
    outliers: int
    periodic: bool
    p_value: float | None
    every: float | None
    phase: float | None
    extra: float | None
    affected: npt.NDArray[np.intp]
    others: npt.NDArray[np.intp]
    period: float | None
    tick_fits: bool | None
    beat: str
    sentence: str


def find_periodic(
    samples: npt.ArrayLike,
    *,
    sample_period: float | None = None,
    times: npt.ArrayLike | None = None,
    tick_period: float | None = None,
    alpha: float = 0.01,
) -> PeriodicOutliers:
    """Find outliers in `samples` (n,), n >= 32, and test them for a period.

    `sample_period` (or `times` (n,), ascending) and `tick_period` share one unit of time, for
    instance ticks of the run's clock; without them the period is told in samples only.
    """
    raise NotImplementedError
