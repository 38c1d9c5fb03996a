# SPDX-License-Identifier: Apache-2.0
"""The step of the clock that samples were read off."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kadenz.stats.samples import Array, Floats, as_samples, is_integer

# As many samples show the step of a clock as well as all of them do.
LOOKED_AT = 10_000
# Whole numbers that f8 holds exactly end here.
EXACT = 2.0**53
# A step this close to what rounding alone does to the samples is none.
CLEAR = 20.0


def step_of(samples: npt.ArrayLike) -> float:
    """The largest step of which all samples (n,), n >= 1, are multiples apart; 0.0 for reals.

    In the unit of the samples. Method: the greatest common divisor of the distances between the
    values of the first 10,000 samples, exact for whole numbers whatever their type (1.0 where only
    one value is seen); of others by Euclid's algorithm down to what rounding does to them, below
    which they are called reals. Undefined for what is no series of finite numbers.
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
    # Each turn at least halves the step.
    while True:
        times = np.round(apart / step)
        # An error of the step counts as often as the step does.
        tolerated = rounding * (1.0 + times)
        if step < CLEAR * float(tolerated.max()):
            return 0.0
        left = np.abs(apart - times * step)
        over = left[left > tolerated]
        if over.size == 0:
            return step
        step = float(over.min())
