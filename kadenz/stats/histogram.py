# SPDX-License-Identifier: Apache-2.0
"""Counts over cells, without losing a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import Ordered, order
from kadenz.stats.samples import Floats, Ints, is_integer


@dataclass(frozen=True, eq=False)
class Histogram:
    """`counts` (c,) of samples with edges[i] <= x < edges[i+1]; `edges` (c+1,).

    underflow + counts.sum() + overflow == n, always. For integer samples every edge is an integer
    and linear cells contain the same number of integers. `log_counts` (c,) is log10 of the counts
    with NaN for empty cells.
    """

    n: int
    edges: Floats
    counts: Ints
    underflow: int
    overflow: int
    spacing: str
    log_counts: Floats


def histogram(
    samples: npt.ArrayLike | Ordered,
    *,
    cells: int = 100,
    low: float | None = None,
    high: float | None = None,
    spacing: Literal["linear", "log"] = "linear",
) -> Histogram:
    """Counts `samples` (n,), n >= 1, in at most `cells` cells over low <= x <= high.

    Method: counts are differences of ranks in the sorted samples, so they are exact and the cost
    does not grow with n. The range defaults to all samples; for integers it is widened to whole
    cells of equal integer width, so that cells and ticks do not interfere. "log"
    spaces the edges geometrically (low > 0). Assumes nothing.
    """
    if cells < 1:
        raise Undefined("histogram", f"{cells} cells. Ask for at least one")
    data = order(samples)
    first = data.rank(1) if low is None else float(low)
    last = data.rank(data.n) if high is None else float(high)
    if not first <= last:
        raise Undefined("histogram", f"low {first} is above high {last}")
    whole = is_integer(data.values)
    if spacing == "log":
        if first <= 0.0:
            raise Undefined("histogram", f"logarithmic cells from {first}: low must be above 0")
        edges = _log_edges(first, last, cells, whole)
    elif whole:
        edges = _integer_edges(first, last, cells)
    else:
        edges = _real_edges(first, last, cells)
    ranks = np.searchsorted(data.values, _like(edges, data), side="left")
    counts = np.diff(ranks).astype(np.int64)
    logs = np.full(counts.size, np.nan)
    np.log10(counts, out=logs, where=counts > 0)
    return Histogram(
        n=data.n,
        edges=edges,
        counts=counts,
        underflow=int(ranks[0]),
        overflow=data.n - int(ranks[-1]),
        spacing=spacing,
        log_counts=logs,
    )


def _like(edges: Floats, data: Ordered) -> npt.NDArray[np.int64] | Floats:
    """Integer edges for integer samples: numpy would copy a u4 array to f8 to compare otherwise."""
    kind = data.values.dtype
    if not is_integer(data.values):
        return edges
    limits = np.iinfo(kind)
    if edges[-1] > limits.max or edges[0] < limits.min:
        return edges
    return edges.astype(kind)


def _integer_edges(first: float, last: float, cells: int) -> Floats:
    start, end = math.floor(first), math.floor(last) + 1
    width = max(1, -(-(end - start) // cells))
    count = -(-(end - start) // width)
    return start + width * np.arange(count + 1, dtype=np.float64)


def _real_edges(first: float, last: float, cells: int) -> Floats:
    if first == last:
        return np.array([first, np.nextafter(last, np.inf)])
    edges: Floats = np.linspace(first, last, cells + 1, dtype=np.float64)
    # Cells are closed on the left; the last edge moves up so that `high` itself is counted.
    edges[-1] = np.nextafter(last, np.inf)
    return edges


def _log_edges(first: float, last: float, cells: int, whole: bool) -> Floats:
    end = math.floor(last) + 1 if whole else float(np.nextafter(last, np.inf))
    edges = np.geomspace(max(math.floor(first), 1) if whole else first, end, cells + 1)
    return np.unique(np.round(edges) if whole else edges).astype(np.float64)
