# SPDX-License-Identifier: Apache-2.0
"""One benchmark over message sizes: one line in a plot, one fit."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from kadenz.analysis.results import RecordResult, Sweep
from kadenz.analysis.units import Unit
from kadenz.config.params import Value, number
from kadenz.stats.errors import Undefined
from kadenz.stats.size_fit import SizeFit, fit_size
from kadenz.store import Run

SIZE = "size_bytes"


def sweeps_of(run: Run, records: list[RecordResult]) -> list[Sweep]:
    """Every benchmark with at least three sizes and otherwise equal parameters."""
    groups: dict[tuple[str, tuple[tuple[str, Value], ...]], dict[int, RecordResult]] = defaultdict(
        dict
    )
    for record in records:
        if not record.usable or SIZE not in record.params or record.main is None:
            continue
        others = tuple(sorted((k, v) for k, v in record.params.items() if k != SIZE))
        groups[record.bench, others][number(record.params, SIZE)] = record
    sweeps = []
    for (bench, others), by_size in groups.items():
        if len(by_size) < 3:
            continue
        sizes = tuple(sorted(by_size))
        points = tuple(by_size[size] for size in sizes)
        fit, reason = _fit(run, sizes, points)
        sweeps.append(Sweep(bench, dict(others), sizes, points, points[0].unit, fit, reason))
    return sweeps


def _fit(
    run: Run, sizes: tuple[int, ...], points: tuple[RecordResult, ...]
) -> tuple[SizeFit | None, str]:
    series = []
    for point in points:
        assert point.main is not None
        series.append(run.samples(point.entry, point.main.entry)[point.entry.cold :])
    try:
        fit = fit_size([float(size) for size in sizes], series)
    except Undefined as error:
        return None, error.reason
    return fit, "" if fit.linear else _departure(fit, points[0].unit)


def _departure(fit: SizeFit, unit: Unit) -> str:
    """The largest deviation from the line, in the unit shown."""
    worst = int(np.abs(fit.sizes - fit.worst_size).argmin())
    off = unit.figure(float(fit.residuals[worst]))
    return (
        f"the points are not on a line: {off:+.4g} {unit.label} off it at "
        f"{fit.worst_size:,.0f} bytes"
    )
