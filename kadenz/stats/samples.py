# SPDX-License-Identifier: Apache-2.0
"""Checks and reads samples, as every function accepts them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew, Undefined

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

# Huge arrays are processed in pieces of this size: 2 MiB as f8, within a level-2 cache.
PIECE = 1 << 18
# Of a sample. Sums of fourth powers stay finite.
LARGEST = 1e60


def as_samples(values: npt.ArrayLike, statistic: str, needed: int = 1) -> Array:
    """`values` as a one-dimensional real array with at least `needed` finite samples, uncopied.

    Raises Undefined for other shapes, complex or non-numeric types, for NaN or infinity (a missing
    sample is counted as missed, never stored as NaN) and beyond LARGEST, TooFew for too few.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise Undefined(statistic, f"samples have shape {array.shape} instead of one dimension")
    if array.dtype.kind not in "iufb":
        raise Undefined(statistic, f"samples of type {array.dtype} are not real numbers")
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    if array.size < needed:
        raise TooFew(statistic, array.size, needed)
    if array.dtype.kind == "f":
        for part in pieces(array):
            if not np.isfinite(part).all():
                raise Undefined(statistic, "samples contain NaN or infinity. Remove them upstream")
            if part.size and float(np.abs(part).max()) > LARGEST:
                raise Undefined(statistic, f"samples beyond {LARGEST:g}. Give them in another unit")
    return array


def pieces(array: Array) -> Iterator[Array]:
    """Consecutive views of at most PIECE samples."""
    for start in range(0, array.size, PIECE):
        yield array[start : start + PIECE]


def is_integer(array: Array) -> bool:
    """True for counts of ticks, where sums and order statistics are exact."""
    return array.dtype.kind in "iu"


def exact_mean(array: Array) -> float:
    """The mean of `array` (n,), rounded once for integers up to 32 bits, else to about 1 ulp."""
    if is_integer(array) and array.dtype.itemsize <= 4:
        # A piece of 2^18 values below 2^32 stays below 2^50; Python's integers hold the rest.
        return sum(int(part.sum(dtype=np.int64)) for part in pieces(array)) / array.size
    return math.fsum(float(part.sum(dtype=np.float64)) for part in pieces(array)) / array.size


def centred_squares(array: Array, mean: float) -> float:
    """Sum of squared deviations of `array` (n,) from its mean, in pieces, without a full f8 copy.

    Two passes (Chan, Golub and LeVeque 1983): the second term corrects the rounding of the mean.
    """
    squares = 0.0
    remainder = 0.0
    for part in pieces(array):
        deviation = part - mean
        squares += float(deviation @ deviation)
        remainder += float(deviation.sum())
    return max(squares - remainder * remainder / array.size, 0.0)


def cell_means(array: Array, cell: int) -> Floats:
    """Means of consecutive cells of `cell` samples, (n // cell,). A shorter last cell is left out.

    Integer samples up to 32 bits are summed as integers, in pieces.
    """
    whole = array.size // cell
    if cell == 1:
        return array.astype(np.float64)
    sums: Array = np.empty(whole, dtype=np.float64)
    step = max(1, PIECE // cell)
    kind = np.int64 if is_integer(array) and array.dtype.itemsize <= 4 else np.float64
    for first in range(0, whole, step):
        last = min(whole, first + step)
        rows = array[first * cell : last * cell].reshape(-1, cell)
        sums[first:last] = rows.sum(axis=1, dtype=kind)
    return np.asarray(sums / cell)
