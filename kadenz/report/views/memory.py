# SPDX-License-Identifier: Apache-2.0
"""The cost of memory: medians over the wait states of one memory of a simulated core."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.systems import aligned
from kadenz.report import labels
from kadenz.report.sections import Block, Section, Text, plotted
from kadenz.report.svg.growth import Growth, growth
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.svg.style import STYLES
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 20
_LEAD = (
    "Runs that differ only in the wait states of one memory. At 2, a benchmark takes twice as long "
    "as with the fewest wait states."
)
_WAIT = "_wait"
_CLOCK_FAMILIES = frozenset({"clock"})  # families that measure the clock, not memory
_Same = tuple[str, str, str, tuple[tuple[str, str], ...]]  # target, instrument, memory, the rest


def sections(report: Report) -> Iterator[Section]:
    """One, if runs differ in nothing but the wait states of a memory."""
    drawn = plots(report.runs)
    if drawn:
        blocks: tuple[Block, ...] = (Text(_LEAD), *plotted(drawn, rows=True))
        yield Section("memory", "Cost of memory by wait states", blocks)


def plots(runs: Named) -> list[Plot]:
    """A panel for each target and memory that was measured with several wait states.

    Runs are compared if nothing but the wait states of that memory differs. Each line is a point's
    median, relative to that of the fewest wait states; a panel has at most ten lines.
    """
    panels = []
    for (target, instrument, memory, rest), swept in _swept(runs).items():
        series = _series(swept)
        for first in range(0, len(series), STYLES):
            unit = next(iter(swept.values())).unit
            waits = [(kind, value) for kind, value in rest if kind.endswith(_WAIT)]
            others = ", ".join(f"{key.removesuffix(_WAIT)} {value}" for key, value in waits)
            relation = f"median, relative to {min(swept)} wait states"
            number = str(1 + first // STYLES) if first else ""
            panels.append(
                growth(
                    series[first : first + STYLES],
                    Caption(
                        heading=target + (f", {instrument}" if instrument != "counter" else ""),
                        subheading=relation
                        + (f"; wait states of {others}" if others else "")
                        + f"; figures in {unit.label} at the right",
                        unit=unit.label,
                        name=labels.slug("wait-states", target, instrument, memory, others, number),
                    ),
                    axis=f"wait states of {memory}",
                )
            )
    return panels


def _swept(runs: Named) -> dict[_Same, dict[int, RunResult]]:
    """Runs by the number of wait states of one memory, where there are several."""
    groups: dict[_Same, dict[int, RunResult]] = defaultdict(dict)
    systems = aligned([run.manifest for _, run in runs])
    for (_, run), system in zip(runs, systems, strict=True):
        target = run.manifest.target
        for condition in system:
            # A target without such a memory has a value that is not a number.
            if condition.kind.endswith(_WAIT) and condition.value.isdecimal():
                rest = tuple(
                    (other.kind, other.value) for other in system if other.kind != condition.kind
                )
                same = target.name, target.instrument, condition.kind.removesuffix(_WAIT), rest
                groups[same].setdefault(int(condition.value), run)
    return {
        same: dict(sorted(by_wait.items())) for same, by_wait in groups.items() if len(by_wait) > 1
    }


def _series(swept: dict[int, RunResult]) -> list[Growth]:
    """The points that every run measured, in the order of the first."""
    medians: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for wait, run in swept.items():
        for record in run.records:
            median = _median(record)
            if median:
                medians[_name(record, run)].append((float(wait), median))
    return [Growth(name, points) for name, points in medians.items() if len(points) == len(swept)]


def _median(record: RecordResult) -> float:
    """In the unit shown; 0 if there is none."""
    family = record.bench.partition("/")[0]
    lane = record.main
    if family in _CLOCK_FAMILIES or lane is None or lane.summary is None:
        return 0.0
    return record.unit.figure(lane.summary.median)


def _name(record: RecordResult, run: RunResult) -> str:
    hide = labels.constants(record.bench, [run])
    return f"{record.bench} {labels.point(record, hide=hide)}".removesuffix("–").strip()
