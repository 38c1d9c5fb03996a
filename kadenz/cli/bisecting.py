# SPDX-License-Identifier: Apache-2.0
"""Bisection: the place in a sequence where a verdict changes, with few questions.

Zeller, Hildebrandt: Simplifying and isolating failure-inducing input (2002) and `git bisect` search
in the same way; a place without a verdict is skipped for its nearest neighbour, as `git bisect
skip` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

# "undecided": the data cannot decide. "failed": there is no figure.
Verdict = Literal["good", "bad", "undecided", "failed"]


@dataclass(frozen=True)
class Answer:
    """Where the verdict changes: `after` the place `before`, if both are known.

    `skipped` are places between the two without a verdict: the change may be at any of them. Both
    ends with one verdict: `before` and `after` are the ends, and `changes` is false.
    """

    before: int | None
    after: int | None
    changes: bool
    skipped: tuple[int, ...] = ()

    @property
    def is_one_step(self) -> bool:
        """Whether the change is known to the step."""
        return self.changes and not self.skipped


def bisect(count: int, judge: Callable[[int], Verdict]) -> Answer:
    """The place from 0 to `count` - 1 where the verdict changes, for one change among them.

    `judge` is asked once a place: both ends, then about log2(count) between them.
    """
    verdicts: dict[int, Verdict] = {}

    def decided(place: int) -> bool:
        if place not in verdicts:
            verdicts[place] = judge(place)
        return verdicts[place] in ("good", "bad")

    first = next((place for place in range(count) if decided(place)), None)
    if first is None:
        return Answer(None, None, changes=False)
    last = next((place for place in range(count - 1, first, -1) if decided(place)), None)
    if last is None or verdicts[last] == verdicts[first]:
        return Answer(first, last, changes=False)
    low, high = first, last
    while (place := _middle(low, high, verdicts)) is not None:
        if decided(place):
            low, high = (place, high) if verdicts[place] == verdicts[first] else (low, place)
    return Answer(low, high, changes=True, skipped=tuple(range(low + 1, high)))


def _middle(low: int, high: int, known: dict[int, Verdict]) -> int | None:
    """The place that is nearest to the middle and was not asked for; None without one."""
    places = [place for place in range(low + 1, high) if place not in known]
    if not places:
        return None
    return min(places, key=lambda place: (abs(2 * place - low - high), place))
