# SPDX-License-Identifier: Apache-2.0
"""The step of the clock, as the samples show it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kadenz.stats.samples import Array, Floats, as_samples, is_integer

# This number of samples shows the step of a clock as well as all of them.
LOOKED_AT = 10_000
# The largest whole number range that f8 represents exactly.
EXACT = 2.0**53
# A step this close to the rounding of the samples does not count.
CLEAR = 20.0


def step_of(samples: npt.ArrayLike) -> float:
    """The largest step that divides all distances of samples (n,), n >= 1; 0.0 for reals.

    In the unit of the samples. Method: the greatest common divisor of the distances between the
    values of the first 10,000 samples; exact for whole numbers of any type (1.0 if there is only
    one value); for others by Euclid's algorithm down to their rounding error, below which they
    count as reals. Raises Undefined on non-finite input.
    """
    head = as_samples(samples, "step")[:LOOKED_AT]
    if is_integer(head) or ((head == np.round(head)).all() and float(np.abs(head).max()) < EXACT):
        wide = head.astype(np.int64) if head.dtype.kind == "i" else head
        return float(np.gcd.reduce((wide - wide.min()).astype(np.int64))) or 1.0
    return _of_reals(head)


def _of_reals(head: Array) -> float:
    apart: Floats = np.diff(np.unique(head)).astype(np.float64)
    if apart.size == 0:
        return 0.0
    rounding = 4.0 * float(np.finfo(head.dtype).eps) * float(np.abs(head).max())
    step = float(apart.min())
    # Each iteration at least halves the step.
    while True:
        times = np.round(apart / step)
        # An error of the step is multiplied by the number of steps.
        tolerated = rounding * (1.0 + times)
        if step < CLEAR * float(tolerated.max()):
            return 0.0
        left = np.abs(apart - times * step)
        over = left[left > tolerated]
        if over.size == 0:
            return step
        step = float(over.min())
