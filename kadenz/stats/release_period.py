# SPDX-License-Identifier: Apache-2.0
"""The period of releases, found from their times, and the number of each release's cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew, Undefined

FEWEST = 8  # releases: chance rarely puts seven intervals on one grid
NEAR = 0.1  # of the period: an interval so close to whole periods is on the grid
CLOSE = 0.01  # of the period, for the evidence
_SHARE = 0.8  # of the intervals on the grid; a fifth of random ones would be
_SINGLE = 0.5  # of them with one period: else any grid fine enough would fit

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReleasePeriod:
    """A period in the unit of the times, with what it rests on: of `intervals`, `on_grid` are whole
    periods to a tenth, `close` one period to a hundredth."""

    period: float
    intervals: int
    on_grid: int
    close: int


def release_period(times: npt.ArrayLike) -> ReleasePeriod:
    """The period of `times` (n,), ascending, n >= 8, in their unit.

    Method: the median interval is a first period; intervals within a tenth of whole multiples of it
    are on its grid; the period is the time that they span, over the number of its cycles. A release
    that did not happen makes an interval of two periods. TooFew below 8 releases; Undefined if less
    than four fifths of the intervals are on the grid, or less than half have one period: the
    releases have no period, or several.
    """
    moments = np.asarray(times, dtype=np.int64)
    if moments.size < FEWEST:
        raise TooFew("release_period", int(moments.size), FEWEST)
    steps = np.diff(moments).astype(np.float64)
    period = float(np.median(steps))
    for _ in range(3):  # the median may lie between two interrupts of a tick
        if period <= 0.0:
            raise Undefined("release_period", "the releases are at one moment")
        cycles = np.maximum(np.round(steps / period), 1.0)
        on_grid = np.abs(steps - cycles * period) <= NEAR * period
        if not on_grid.any():
            break
        period = float(steps[on_grid].sum() / cycles[on_grid].sum())
    single = on_grid & (cycles == 1.0)
    if on_grid.sum() < _SHARE * steps.size or single.sum() < _SINGLE * steps.size:
        raise Undefined(
            "release_period",
            f"{int(on_grid.sum()):,} of {steps.size:,} intervals are whole multiples of one period",
        )
    return ReleasePeriod(
        period=period,
        intervals=int(steps.size),
        on_grid=int(on_grid.sum()),
        close=int((np.abs(steps - period) <= CLOSE * period).sum()),
    )


def release_cycles(times: npt.ArrayLike, period: float) -> Times:
    """The number of each release's cycle (n,), from 0, ascending, for `times` (n,) ascending.

    Method: a release is at the begin of its cycle or late, never early by more than a tenth:
    timers are never early. A release that is up to 0.9 periods late therefore keeps its cycle. The
    grid follows the earliest releases, and slowly those behind: relative sleeps drift, and have
    cycles, too. Two releases never share one.
    """
    moments = np.asarray(times, dtype=np.int64)
    cycles = np.zeros(moments.size, dtype=np.int64)
    if not moments.size:
        return cycles
    grid = float(moments[0])
    for i in range(1, moments.size):
        passed = max(1, int((float(moments[i]) - grid) / period + NEAR))
        grid += passed * period
        late = float(moments[i]) - grid
        grid += late if late < 0.0 else 0.05 * min(late, period)
        cycles[i] = cycles[i - 1] + passed
    return cycles
