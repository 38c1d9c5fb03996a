# SPDX-License-Identifier: Apache-2.0
"""A figure with its interval: the common currency of results."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """`value` with the interval [low, high] at `confidence`; all in the unit of the samples.

    `zero_width` is True where the data do not vary, so that low == value == high is a fact about
    these samples and no promise about others (deterministic emulation, a coarse tick).
    """

    value: float
    low: float
    high: float
    confidence: float
    zero_width: bool = False

    def covers(self, truth: float) -> bool:
        """True when `truth` lies inside the interval, ends included."""
        return self.low <= truth <= self.high
