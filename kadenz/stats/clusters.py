# SPDX-License-Identifier: Apache-2.0
"""Clusters of high samples in a dependent series: only the clusters are independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.errors import TooFew
from kadenz.stats.samples import Array, Floats


@dataclass(frozen=True, eq=False)
class Clusters:
    """`extremal_index` is the share of exceedances that are independent: 1 / mean cluster size.

    `run` samples without an exceedance end a cluster; `peaks` (c,) are the clusters' maxima, at the
    indices `at` (c,).
    """

    extremal_index: float
    run: int
    peaks: Array
    at: npt.NDArray[np.intp]


def decluster(samples: Array, threshold: float) -> Clusters:
    """Clusters of samples (n,), in time order, above `threshold`; needs two such samples.

    Method: the intervals estimator of the extremal index and the run length that follows from it
    (Ferro and Segers 2003): the gaps between exceedances are a mixture of zeros and exponentials,
    so the largest theta * N - 1 gaps divide the clusters, and no run length has to be chosen.
    """
    at = np.flatnonzero(samples > threshold)
    return clusters_of(samples[at], at)


def clusters_of(values: Array, at: npt.NDArray[np.intp]) -> Clusters:
    """As `decluster`, of the exceedances `values` (m,) themselves, at the indices `at` (m,)."""
    if at.size < 2:
        raise TooFew("declustering (samples above the threshold)", int(at.size), 2)
    gaps = np.diff(at)
    theta = _intervals(gaps.astype(np.float64))
    count = min(int(theta * at.size), gaps.size + 1)
    if count >= gaps.size + 1:
        return Clusters(theta, 0, values, at)
    # The count - 1 largest gaps; ties are all within clusters.
    ordered = np.sort(gaps)[::-1]
    last = max(count - 1, 1)
    while last > 1 and last < gaps.size and ordered[last - 1] == ordered[last]:
        last -= 1
    run = int(ordered[last]) if last < gaps.size else int(ordered[-1]) - 1
    begins = np.concatenate(([0], np.flatnonzero(gaps > run) + 1))
    peaks = np.maximum.reduceat(values, begins)
    sizes = np.diff(np.append(begins, at.size))
    same = np.repeat(peaks, sizes) == values
    first = np.full(begins.size, at.size, dtype=np.intp)
    owner = np.repeat(np.arange(begins.size), sizes)
    where = np.flatnonzero(same)
    np.minimum.at(first, owner[where], where)
    return Clusters(theta, run, peaks, at[first])


def _intervals(gaps: Floats) -> float:
    """Ferro and Segers, equations 4 and 5: bias-corrected where gaps exceed two."""
    if gaps.max() <= 2.0:
        top, bottom = float(gaps.sum()), float((gaps**2).sum())
    else:
        top, bottom = float((gaps - 1.0).sum()), float(((gaps - 1.0) * (gaps - 2.0)).sum())
    if bottom <= 0.0:
        return 1.0
    return min(1.0, 2.0 * top * top / (gaps.size * bottom))
