# SPDX-License-Identifier: Apache-2.0
"""A figure with its interval, as results use it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """`value` with the interval [low, high] at `confidence`; all in the unit of the samples.

    `zero_width` is True if the data do not vary: low == value == high is then a fact about these
    samples, not a promise about others (deterministic emulation, a coarse tick).
    """

    value: float
    low: float
    high: float
    confidence: float
    zero_width: bool = False

    def covers(self, truth: float) -> bool:
        """True if `truth` is inside the interval, ends included."""
        return self.low <= truth <= self.high
