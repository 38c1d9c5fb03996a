# SPDX-License-Identifier: Apache-2.0
"""The cycle number of each edge: found from the times, or given and checked against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.ndimage

from kadenz.stats.errors import Undefined
from kadenz.stats.samples import Array, Floats, Ints, as_samples

# The period is found to 3 % over blocks of 16 edges (half a turn of phase in a block), then over
# longer ones, which late edges disturb less.
BLOCKS = (16, 256)
# The range that was simulated (docs/explanation/jitter.md); beyond it, numbering is refused.
MOST_RATE_PPM = 20_000.0
MOST_MISSING = 0.3
# A spectrum has a place for every cycle, taken or not: 16 bytes each. Up to this number that is
# acceptable for any series, beyond it only if at least this share of the cycles was taken.
MOST_SPAN = 1 << 24
FEWEST_TAKEN = 0.1
LAG = 16
# Edges on either side of a place whose medians show whether the phase shifted there permanently.
AROUND = 15
# A phase shift of more than half a period is another count of cycles.
MOVED = 0.5
LEAST_MOVE = 0.05
# With a larger share of places out of order, sorting does not help.
UNORDERED = 0.1


def check_span(cycles: npt.NDArray[Any], statistic: str) -> None:
    """Undefined if `cycles` (n,), ascending, cannot be cycle numbers.

    That is the case if they span more than 16.8 million and fewer than a tenth of these were taken:
    then the numbers are more likely times.
    """
    span = int(cycles[-1]) - int(cycles[0]) + 1 if cycles.size else 0
    if span > max(MOST_SPAN, cycles.size / FEWEST_TAKEN):
        raise Undefined(
            statistic,
            f"{cycles.size:,} samples are spread over {span:,} cycles, fewer than one in "
            f"{1 / FEWEST_TAKEN:g}",
            cause="cycles",
        )


def check_order(times: Array) -> None:
    """Undefined, with the place, if an edge is not later than the previous one."""
    # Compared, not subtracted: differences of descending unsigned times would wrap.
    wrong = np.flatnonzero(times[1:] <= times[:-1])
    if wrong.size:
        at = int(wrong[0]) + 1
        how = "at the same time as" if times[at] == times[at - 1] else "earlier than"
        more = f"; {wrong.size - 1:,} more such places" if wrong.size > 1 else ""
        # If that is common, these are not times.
        cause = "order" if wrong.size < UNORDERED * times.size else ""
        raise Undefined(
            "jitter", f"edge {at:,} (from 0) is {how} the one before it{more}", cause=cause
        )


def period_of(times: npt.ArrayLike, cycles: npt.ArrayLike | None = None) -> float:
    """The usual distance of neighbouring edges `times` (n,), n >= 2, in their unit.

    The mean of the distances within half of their median, so that neither gaps nor a coarse clock
    affect it. If `cycles` (n,) are known: per cycle, over 16 edges, so that late edges cancel out.
    """
    edges = as_samples(times, "period", needed=2)
    relative = (edges - edges[0]).astype(np.float64)
    lag = min(LAG, edges.size - 1)
    if cycles is None:
        lag, gaps = 1, np.diff(relative)
    else:
        cycle_numbers = np.asarray(cycles)
        gaps = (relative[lag:] - relative[:-lag]) / (cycle_numbers[lag:] - cycle_numbers[:-lag])
    usual = float(np.median(gaps))
    # A median between two distances may have no distance near it.
    near = gaps[np.abs(gaps - usual) <= 0.5 / lag * abs(usual)]
    return float(near.mean()) if near.size else usual


def cycle_numbers(times: npt.ArrayLike, period: float) -> Ints:
    """The cycle number of each of the edge times `times` (n,), n >= 2, ascending; the first is 0.

    Method: the phase of the edges against their own usual distance is followed over blocks of 16
    edges by its circular mean, which neither a missing nor a late edge affects. The line through
    the resulting numbers gives a better period, for blocks of 256 edges. An edge belongs to the
    cycle with the nearest expected time. Of two edges in one cycle, the one farther from that time
    was late or early, and gets the previous or the next cycle. Assumes that most edges are less
    than half a period off. Undefined if the edges' own period is more than 20,000 ppm from the
    nominal `period` (unit of the times), if more than 30 % of the edges are missing, or if the
    phase still shifts permanently by more than half a period: then no count of cycles explains the
    times.
    """
    edges = as_samples(times, "cycle numbers", needed=2)
    if not period > 0.0:
        raise Undefined("cycle numbers", f"period {period} is not positive", cause="period")
    relative = (edges - edges[0]).astype(np.float64)
    edge_period = period_of(edges)
    number: Ints = np.arange(edges.size, dtype=np.int64)
    for block in BLOCKS:
        number = _follow(relative / edge_period, block)
        if number[-1] == 0:
            break
        edge_period = _slope(number, relative)
    ppm = (edge_period / period - 1.0) * 1e6
    if abs(ppm) > MOST_RATE_PPM:
        raise Undefined(
            "cycle numbers",
            f"edges are missing, and the others are {ppm:+,.0f} ppm from the period; cycles can be "
            f"counted up to {MOST_RATE_PPM:,.0f} ppm",
            cause="missing",
        )
    missing = 1.0 - edges.size / (int(number[-1]) + 1)
    if missing > MOST_MISSING:
        raise Undefined(
            "cycle numbers",
            f"{missing:.0%} of the edges are missing; up to {MOST_MISSING:.0%} their cycles can be "
            "counted",
            cause="missing",
        )
    moves = _moves(relative / edge_period, number)
    if moves:
        at, by = moves[0]
        raise Undefined(
            "cycle numbers",
            f"no count of cycles explains the times: at edge {at:,} (from 0) they shift "
            f"permanently by {by:+.2g} periods",
            cause="missing",
        )
    return number


@dataclass(frozen=True)
class Correction:
    """Given numbers that the times contradict in `places` places, first at edge `at`; `numbers`
    (n,) are corrected, by `cycles` in total."""

    at: int
    places: int
    cycles: int
    cycle_numbers: Ints


def held_against(times: npt.ArrayLike, cycles: Ints) -> Correction | None:
    """Checks the given numbers `cycles` (n,), ascending, against the times (n,); None: consistent.

    Method: the phase is time over period, minus the number. If the median phase of the 15 edges
    after a place differs from that of the 15 before by more than half a period, cycles were skipped
    (or invented) there. Late edges do not move a median; a rate error moves it by 15 times its ppm,
    drift by less.
    """
    edges = as_samples(times, "cycle numbers", needed=2)
    relative = (edges - edges[0]).astype(np.float64)
    moves = [
        (at, round(by)) for at, by in _moves(relative / period_of(edges, cycles), cycles) if by
    ]
    if not moves:
        return None
    extra = np.zeros(edges.size, dtype=np.int64)
    for at, by in moves:
        extra[at] += by
    cycle_numbers = cycles - cycles[0] + np.cumsum(extra)
    if (np.diff(cycle_numbers) <= 0).any():
        at, by = moves[0]
        raise Undefined(
            "jitter",
            f"the times contradict the cycle numbers: at edge {at:,} (from 0) {by:+,} cycles",
            cause="cycles",
        )
    return Correction(moves[0][0], len(moves), int(extra.sum()), cycle_numbers)


def _follow(relative: Floats, block: int) -> Ints:
    """Numbers of the edges at `relative` (n,) periods, with their phase followed over blocks."""
    n = relative.size
    starts = np.arange(0, n, block)
    counts = np.diff(np.append(starts, n))
    sums = np.add.reduceat(np.exp(2j * np.pi * (relative - np.round(relative))), starts)
    phase = np.unwrap(np.angle(sums)) / (2.0 * np.pi)
    centres = np.add.reduceat(relative, starts) / counts
    place = relative - np.interp(relative, centres, phase)
    number = np.round(place).astype(np.int64)
    # Of two edges in one cycle, the one farther off belongs to the previous cycle (late) or to the
    # next one (early).
    off = np.abs(place - number)
    same = np.flatnonzero(np.diff(number) == 0)
    late = off[same] > off[same + 1]
    number[same[late]] -= 1
    number[same[~late] + 1] += 1
    # Cycles minus positions never decrease: gaps only add.
    ahead = number - np.arange(n)
    number = np.minimum.accumulate(ahead[::-1])[::-1] + np.arange(n)
    return np.asarray(number - number[0], dtype=np.int64)


def _slope(number: Ints, relative: Floats) -> float:
    """Period by least squares of the times on their numbers."""
    place = number - number.mean()
    return float(place @ relative) / float(place @ place)


def phase_moves(times: npt.ArrayLike, cycles: npt.ArrayLike | None) -> list[tuple[int, float]]:
    """Permanent shifts of the times (n,) of the cycles `cycles` (n,) (None: all): edge and periods.

    A program that sleeps relative to its wake-up, or restarts its timer, causes them. Reported are
    shifts of more than 1/20 of a period and ten times the usual deviation of neighbouring edges.
    """
    edges = as_samples(times, "cycle numbers", needed=2)
    cycle_numbers: Ints = (
        np.arange(edges.size) if cycles is None else np.asarray(cycles, dtype=np.int64)
    )
    relative = (edges - edges[0]).astype(np.float64) / period_of(edges, cycle_numbers)
    apart = np.diff(relative - cycle_numbers)
    usual = 1.4826 * float(np.median(np.abs(apart - np.median(apart))))
    return _moves(relative, cycle_numbers, max(LEAST_MOVE, 10.0 * usual))


def _moves(relative: Floats, cycles: Ints, least: float = MOVED) -> list[tuple[int, float]]:
    """Permanent phase shifts of more than `least` periods: the edge and the shift."""
    n = relative.size
    if n < 2 * AROUND:
        return []
    phase = relative - (cycles - cycles[0])
    # The phase must also jump at the place itself: a rate error is not a shift.
    jumps = np.flatnonzero(np.abs(np.diff(phase)) > least / 2.0) + 1
    if jumps.size == 0:
        return []
    half = AROUND // 2
    medians = scipy.ndimage.median_filter(phase, size=AROUND, mode="nearest")
    moves: list[tuple[int, float]] = []
    # Jumps close together are one place: a late edge next to a gap, or a burst of late edges.
    ends = np.flatnonzero(np.diff(jumps) > half)
    for first, last in zip(np.append(0, ends + 1), np.append(ends, jumps.size - 1), strict=True):
        before = medians[max(int(jumps[first]) - 1 - half, 0)]
        behind = medians[min(int(jumps[last]) + half, n - 1)]
        by = float(behind - before)
        if abs(by) > least:
            group = jumps[first : last + 1]
            at = int(group[np.argmax(np.abs(phase[group] - phase[group - 1]))])
            moves.append((at, by))
    return moves
