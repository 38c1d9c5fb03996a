# SPDX-License-Identifier: Apache-2.0
"""Errors of statistics that the data cannot give."""

from __future__ import annotations


class Undefined(ValueError):
    """The statistic does not exist for these data; the message names it, the reason and a remedy.

    `cause` names the argument that does not fit the samples ("cycles", "period", "window", "order"
    of the times, their "type", "missing" edges, "limit"), so that the caller can name its source;
    "" if it is the samples alone.
    """

    def __init__(self, statistic: str, reason: str, *, cause: str = "") -> None:
        super().__init__(f"{statistic}: {reason}")
        self.statistic = statistic
        self.reason = reason
        self.cause = cause


class TooFew(Undefined):
    """Fewer samples than the method's stated minimum."""

    def __init__(self, statistic: str, got: int, needed: int) -> None:
        super().__init__(
            statistic, f"{got} samples, at least {needed} needed. Measure more samples"
        )
        self.got = got
        self.needed = needed
