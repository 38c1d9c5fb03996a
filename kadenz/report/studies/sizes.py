# SPDX-License-Identifier: Apache-2.0
"""Published means over size, for plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.published import PublishedFigure, family_of, same_benchmark
from kadenz.report.tables import Named


@dataclass(frozen=True)
class PublishedSystem:
    """A system whose published means a plot shows."""

    name: str
    kernel: str
    unit: str
    clock_class: str
    boards: tuple[str, ...]


def sizes_published(
    figures: Sequence[PublishedFigure], bench: str, runs: Named
) -> dict[PublishedSystem, list[tuple[float, float, str]]]:
    """Published means over size, for plots, as (size, value, where).

    Only systems of a family that `runs` measured with this benchmark.
    """
    means: dict[PublishedSystem, list[tuple[float, float, str]]] = {}
    measured = [run for _, run in runs if run.find(bench)]
    for row in figures:
        size = row.our_params.get("size_bytes")
        if (
            size is None
            or row.statistic != "mean"
            or not same_benchmark(row.benchmark, bench)
            or not any(family_of(row, run) for run in measured)
        ):
            continue
        of = row.system
        key = PublishedSystem(of.name, row.kernel, row.unit, of.clock_class, of.boards)
        means.setdefault(key, []).append((float(size), row.value, f"{row.paper} {row.where}"))
    return means
