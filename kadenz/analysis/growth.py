# SPDX-License-Identifier: Apache-2.0
"""How a maximum grows with the threads that a kernel holds: by nothing, by as much for each, or in
another way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.structures.population import Population
from kadenz.config.manifest import ARRIVALS, STATES

FEW = 4.0  # cycles: how far from its law a figure may be
_LEAST = 3  # values: through two goes a line, whatever they are


@dataclass(frozen=True)
class Growth:
    """`each`: by how much the figure grows with each thread. `deviation`: the largest distance of
    a figure from that line. No law: too few values."""

    law: Literal["constant", "linear", "neither", ""]
    each: float
    deviation: float


def growth(figures: Mapping[int, float]) -> Growth:
    """The law of figures by number. The line is the one whose largest deviation is least.

    It is parallel to a line through two of the points, so all of these are tried (Chebyshev).
    """
    slopes = [(b - a) / (m - n) for (n, a), (m, b) in combinations(sorted(figures.items()), 2)]
    flat = Growth("constant", 0.0, _deviation(figures, 0.0))
    line = min(
        (Growth("linear", slope, _deviation(figures, slope)) for slope in slopes),
        key=lambda each: each.deviation,
        default=flat,
    )
    if len(figures) < _LEAST:
        return flat if flat.deviation == 0 else Growth("", line.each, 0.0)
    exact = [each for each in (flat, line) if each.deviation == 0]
    near = [each for each in (flat, line) if each.deviation <= FEW]
    return next(iter(exact + near), Growth("neither", line.each, line.deviation))


def _deviation(figures: Mapping[int, float], slope: float) -> float:
    """Half of the band of this slope that holds all points."""
    rests = [figure - slope * number for number, figure in figures.items()]
    return round((max(rests) - min(rests)) / 2, 9)  # a slope of thirds is no binary number


@dataclass(frozen=True)
class StateSweep:
    """The maximum of a service's lane, in ticks, at each number of threads in a state."""

    state: str
    label: str  # of the runs, without the state
    record: RecordResult  # of the first run
    lane: str
    most: Mapping[int, float]

    @property
    def worst(self) -> int:
        """The state with the largest maximum, the first of several."""
        return max(self.most, key=self.most.__getitem__)

    @property
    def growth(self) -> Growth:
        """The law of its maxima over the state."""
        return growth(self.most)


def state_sweeps(runs: Sequence[tuple[str, RunResult]]) -> list[StateSweep]:
    """The sweeps of runs with their labels: of each state, label, service and lane."""
    sweeps = [sweep for state in STATES for sweep in _sweeps(state, runs)]
    return [sweep for sweep in sweeps if len(sweep.most) > 1]


def _sweeps(state: str, runs: Sequence[tuple[str, RunResult]]) -> Iterable[StateSweep]:
    by_service: dict[tuple[str, str], dict[int, RecordResult]] = {}
    for label, run in runs:
        value = run.manifest.condition_values.get(state)
        if value is not None and value.isdecimal():
            rest = label.replace(f" ({state} {value})", "")
            for record in run.records:
                service = f"{record.bench} {record.params}"
                by_service.setdefault((rest, service), {})[int(value)] = record
    for (label, _), records in by_service.items():
        tried = {n: exact for n, each in records.items() if (exact := each.structure(Population))}
        first = next(iter(records.values()))
        for lane in ARRIVALS:
            most = {n: getattr(exact, lane).max for n, exact in tried.items()}
            yield StateSweep(state, label, first, lane, most)
