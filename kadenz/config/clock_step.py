# SPDX-License-Identifier: Apache-2.0
"""The step of a clock whose readings were rounded: 41.67 ns in a file of whole nanoseconds.

Shared by both paths: of an analyser's edges when a capture is imported, of a series when it is
analysed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]

MOST = 2_000  # distances show a step as well as more of them
_ANCHORS = 8
# Whether distances fit a step by chance: at most this, over all steps that were tried.
_ALPHA = 5e-3
# Below, every whole number is within 1 of a multiple.
_LEAST = 3.0
_PIECE = 1 / 32  # of the steps that are tried at once
_EXACT = 1e-9  # two roundings of a half are off by 1


def clock_step(distances: npt.NDArray[np.integer]) -> float:
    """The step of which all distances (n,) between readings are multiples, rounded or not; 0.0
    if there is no distance.

    Distances are whole numbers of the unit to which the readings were rounded, so that each is
    off by less than 1. Method: the greatest common divisor; then, in units of it, the largest step
    that keeps every distance, and every difference of two, within its rounding of a multiple. The
    step's interval narrows from short distances to long ones; a distance whose multiple is not
    yet certain is left out. The step counts if fewer than one in 200 sets of random distances
    would fit one as well. Steps below about five units of rounding are not seen.
    """
    sizes = np.unique(np.abs(np.asarray(distances, dtype=np.int64)))
    sizes = sizes[sizes > 0]
    if not sizes.size:
        return 0.0
    divisor = int(np.gcd.reduce(sizes))
    sizes = sizes[:: -(-sizes.size // MOST)] // divisor
    gaps = np.diff(sizes)
    gaps = gaps[gaps > 2]
    if not gaps.size:
        return float(divisor)
    pieces = list(_pieces(int(gaps.min())))
    known = list(_ascending(sizes))
    fits = (_fitted(known, low, high, tried) for tried, (low, high) in enumerate(pieces, start=1))
    return divisor * next((step for step in fits if step), 1.0)


def _pieces(gap: int) -> list[tuple[float, float]]:
    """Where the step may be, largest first: a gap of two distances has some of them."""
    intervals = []
    high = gap + 2.0
    while high > _LEAST:
        intervals.append((high * (1.0 - _PIECE), high))
        high *= 1.0 - _PIECE
    return intervals


def _ascending(sizes: _Ints) -> Iterator[tuple[int, int, bool]]:
    """Distances and differences of two, short ones first, with their largest error and whether
    they are independent of each other: those from one anchor are.
    """
    anchors = sizes[np.linspace(0, sizes.size - 1, _ANCHORS).astype(np.intp)]
    distances = {(int(size), 1, False) for size in sizes}
    for number, anchor in enumerate(anchors):
        distances |= {(int(size), 2, not number) for size in np.abs(sizes - anchor) if size > 2}
    yield from sorted(distances)


def _fitted(known: list[tuple[int, int, bool]], low: float, high: float, tried: int) -> float:
    """The step within [low, high] that fits all distances; 0.0 if none does, or by chance."""
    chance, last = math.log(tried * (tried + 1)), 0  # of all that may be tried together: 1
    for size, error, alone in known:
        near, far = size - error - _EXACT, size + error + _EXACT
        first, final = math.ceil(near / high), math.floor(far / low)
        if first > final:
            return 0.0
        if first == final and first > 0:
            if alone and size > last + 2:  # else it says the same as the one before
                wide = 2 * error + 1 + first * (high - low)
                chance += math.log(min(1.0, wide / high))
                last = size
            low, high = max(low, near / first), min(high, far / first)
            if low > high:
                return 0.0
    step = (low + high) / 2
    return step if step > _LEAST and chance < math.log(_ALPHA) else 0.0
