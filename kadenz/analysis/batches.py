# SPDX-License-Identifier: Apache-2.0
"""A batch and its empty loop (mazzi2021, equation 1): ticks of one iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.analysis.results import BatchResult
from kadenz.config.manifest import RecordEntry
from kadenz.config.params import number

BATCH = "batch"
EMPTY = "empty"
ITERATIONS = "iterations"


def batch_lanes(record: RecordEntry) -> tuple[int, int] | None:
    """Indices of the batch lane and of its empty loop; None for every other record."""
    names = [lane.name for lane in record.series]
    batch = next((i for i, name in enumerate(names) if name == BATCH), None)
    empty = next((i for i, name in enumerate(names) if name.startswith(EMPTY)), None)
    if batch is None or empty is None or number(record.params, ITERATIONS) <= 0:
        return None
    return batch, empty


def batch_result(
    iterations: int, batch: npt.NDArray[Any], empty: npt.NDArray[Any]
) -> BatchResult | None:
    """(batch - empty) / iterations, in ticks, from repetitions `batch` (b,) and `empty` (e,).

    Method: mazzi2021, equation 1, on the medians over repetitions. Needs at least one of each.
    """
    if batch.size == 0 or empty.size == 0:
        return None
    whole, loop = float(np.median(batch)), float(np.median(empty))
    return BatchResult(
        iterations=iterations,
        repetitions=min(batch.size, empty.size),
        batch=whole,
        empty=loop,
        per_iteration=(whole - loop) / iterations,
        low=(float(batch.min()) - float(empty.max())) / iterations,
        high=(float(batch.max()) - float(empty.min())) / iterations,
    )
