# SPDX-License-Identifier: Apache-2.0
"""How far a quantity may move before a condition breaks, by bisection."""

from __future__ import annotations

from collections.abc import Callable

from kadenz.stats.exact import Time

# Halvings: an interval shrinks by 10^12.
HALVINGS = 40


def largest(holds: Callable[[Time], bool], low: Time, high: Time) -> Time | None:
    """The largest value in [low, high] at which `holds`; None if it does not hold at `low`.

    `holds` must be monotone: true up to some value, false above it. The answer is on the safe
    side, within (high - low) / 2^40.
    """
    if not holds(low):
        return None
    if holds(high):
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def least_whole(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """The least whole number in [low, high] at which `holds`; None if it does not at `high`.

    `holds` must be monotone: false below some value, true from it on.
    """
    if not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high
