# SPDX-License-Identifier: Apache-2.0
"""Cold executions: split off, tested, suggested."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.stats.effective import effective_size
from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.ordered import order
from kadenz.stats.samples import Array, Floats, as_samples

# At most this many warm samples, right after the cold ones, serve as the reference.
REFERENCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Split:
    """Views of the first `cold` samples and of the rest; together they are all samples."""

    cold: Array
    warm: Array


@dataclass(frozen=True)
class ColdEffect:
    """Whether the cold executions differ from the warm ones.

    `difference` and `ratio` are of medians (ratio None if the warm median is 0), `p_value` is
    two-sided, `differs` = p_value < alpha. `smallest_p` is the smallest p that the data can give:
    if it is not below alpha, `reason` says that no difference could be shown.
    """

    cold_n: int
    cold_median: float
    warm_median: float
    difference: float
    ratio: float | None
    p_value: float
    smallest_p: float
    differs: bool
    reason: str = ""


def split(samples: npt.ArrayLike, cold: int) -> Split:
    """Split `samples` (n,) after the first `cold` (0 <= cold <= n). No copy."""
    array = as_samples(samples, "cold split", needed=0)
    if not 0 <= cold <= array.size:
        raise Undefined("cold split", f"{cold} cold samples of {array.size}")
    return Split(array[:cold], array[cold:])


def cold_effect(samples: npt.ArrayLike, cold: int, *, alpha: float = 0.05) -> ColdEffect:
    """Tests whether the first `cold` of `samples` (n,) differ from the others, n >= 8 * cold.

    Method: the mid-ranks of the cold samples among the warm ones, weighted 1, 1/2, 1/3 ... because
    the effect fades, compared with the same figure of every following window of that length
    (disjoint, up to 65,536 samples). p = (1 + windows as extreme) / (1 + windows), two-sided.
    With ranks, one huge first sample weighs no more than a large one; with windows of the series
    itself, dependence needs no model. Assumes that the warm part is stationary.
    """
    parts = split(samples, cold)
    if cold < 1:
        raise TooFew("cold effect (cold samples)", cold, 1)
    if parts.warm.size < 7 * cold:
        raise TooFew("cold effect", cold + parts.warm.size, 8 * cold)
    warm = parts.warm[:REFERENCE]
    data = order(warm)
    weights = 1.0 / np.arange(1, cold + 1)
    windows = warm[: warm.size // cold * cold]
    others = (_mid_ranks(data.values, windows).reshape(-1, cold) - 0.5) @ weights
    figure = float((_mid_ranks(data.values, parts.cold) - 0.5) @ weights)
    count = int(np.count_nonzero(np.abs(others) >= abs(figure) - 1e-12))
    p_value = (1 + count) / (1 + others.size)
    smallest = 1.0 / (1 + others.size)
    cold_median, warm_median = order(parts.cold).median, order(parts.warm).median
    return ColdEffect(
        cold_n=cold,
        cold_median=cold_median,
        warm_median=warm_median,
        difference=cold_median - warm_median,
        ratio=cold_median / warm_median if warm_median != 0.0 else None,
        p_value=p_value,
        smallest_p=smallest,
        differs=p_value < alpha,
        reason=(
            f"{others.size} warm windows cannot show a difference at alpha {alpha:g}"
            if smallest >= alpha
            else ""
        ),
    )


def suggest_cold(samples: npt.ArrayLike, *, alpha: float = 0.01) -> int:
    """The number of first samples that look cold: a suggestion, never applied automatically.

    Method: each of `samples` (n,) scores -ln of the share of the second half that is at least as
    large, less 3 (a sample in the slowest 5 % scores above 0). The prefix with the largest sum is
    suggested if the share of starts in the second half with a prefix that scores as high, plus one
    over the number of independent samples there, is below `alpha`. So nothing is suggested if only
    a few independent stretches support it. 0 if n < 256. Assumes that the second half is warm.
    """
    array = as_samples(samples, "cold suggestion", needed=0)
    if array.size < 256:
        return 0
    half = array[array.size // 2 :][:REFERENCE]
    horizon = min(half.size // 4, 1000)
    data = order(half).values
    sums = _prefix_sums(_surprise(data, array[:horizon])[np.newaxis, :])
    starts = np.unique(np.linspace(0, half.size - horizon, 1000).astype(np.int64))
    scores = _surprise(data, half)
    others = _prefix_sums(np.lib.stride_tricks.sliding_window_view(scores, horizon)[starts])
    best = float(sums[0].max())
    count = int(np.count_nonzero(others.max(axis=1) >= best))
    worth = min(float(starts.size), effective_size(half).effective_n)
    if best <= 0.0 or count / starts.size + 1.0 / worth >= alpha:
        return 0
    return int(np.argmax(sums[0])) + 1


def _prefix_sums(scores: Floats) -> Floats:
    """Sums of prefixes along the last axis."""
    return np.asarray(np.cumsum(scores, axis=-1))


def _surprise(ascending: Array, values: Array) -> Floats:
    as_large = ascending.size - np.searchsorted(ascending, values, side="left")
    return np.asarray(-np.log((1.0 + as_large) / (1.0 + ascending.size)) - 3.0)


def _mid_ranks(ascending: Array, values: Array) -> Floats:
    """Share of `ascending` below each value, ties by half: 0 ... 1."""
    below = np.searchsorted(ascending, values, side="left")
    up_to = np.searchsorted(ascending, values, side="right")
    return (below + up_to) / (2.0 * ascending.size)
