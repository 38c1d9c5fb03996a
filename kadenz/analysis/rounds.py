# SPDX-License-Identifier: Apache-2.0
"""One benchmark point over the rounds of a variant, for a card."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.results import RecordResult


@dataclass(frozen=True)
class OverRounds:
    """Figures of a point in ticks: the middle round's `median` and `p99`, and the `largest` sample
    of all rounds. `p99` is None if a round has too few samples for it."""

    median: float
    p99: float | None
    largest: float


def over_rounds(records: Sequence[RecordResult]) -> OverRounds | None:
    """The figures of one point over its rounds, all lanes together. None without figures.

    Method: the lower median of the rounds' figures, which is a measured value.
    """
    medians, p99s, largest = [], [], []
    for record in records:
        lane = record.main
        if lane is None or lane.summary is None:
            continue
        summary = record.pooled.summary if record.pooled else lane.summary
        tail = lane.percentile("p99")
        p99s.append(
            record.pooled.quantiles.get("p99") if record.pooled else tail.value if tail else None
        )
        medians.append(summary.median)
        largest.append(summary.max)
    if not medians:
        return None
    known = [p99 for p99 in p99s if p99 is not None]
    return OverRounds(
        median=statistics.median_low(medians),
        p99=statistics.median_low(known) if len(known) == len(p99s) else None,
        largest=max(largest),
    )
