# SPDX-License-Identifier: Apache-2.0
"""The step of a clock as its readings show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.config.clock_step import clock_step
from kadenz.stats.step import LOOKED_AT, step_of


def shown_step(readings: npt.NDArray[Any], distances: npt.NDArray[Any]) -> float:
    """The clock's step, as readings (n,) and distances of them show it, also if they are rounded.

    0.0 if all distances are equal: then they show nothing of it.
    """
    exact = step_of(readings)
    if not exact:
        return 0.0
    whole = np.rint(distances[:LOOKED_AT] / exact).astype(np.int64)
    return exact * clock_step(whole) if np.ptp(whole) else 0.0
