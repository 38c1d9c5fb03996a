# SPDX-License-Identifier: Apache-2.0
"""Times as exact fractions: 12 ticks of 0.1 are 1.2, and six of 0.2 are the same moment."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

# The relative error of a few operations on floats; each is off by at most 2^-53.
ROUNDING = Fraction(1, 2**50)

Time = Fraction | float


def exact(value: Time) -> Fraction:
    """The fraction that a finite float stands for: of short ones, the nearest within its rounding.

    Denominators grow in powers of ten, so that a decimal is found as it was written. A fraction
    or a whole number stays what it is. Raises OverflowError for an infinite value.
    """
    whole = Fraction(value)
    if not isinstance(value, float):
        return whole
    near = (whole.limit_denominator(10**digits) for digits in count())
    return next(fraction for fraction in near if abs(fraction - whole) <= abs(whole) * ROUNDING)
