# SPDX-License-Identifier: Apache-2.0
"""Overlaid systems: which figures share an axis, and which open the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.shared import SharedPoint, exceedance_of, shared_points
from kadenz.analysis.units import Unit
from kadenz.analysis.variants import variants_of
from kadenz.report import digits, families, labels
from kadenz.report.svg import overlay as drawing
from kadenz.report.svg.overlay import NARROW, WIDE, Curve
from kadenz.report.svg.panel import Plot
from kadenz.report.svg.style import colour, dash
from kadenz.report.svg.style import line as stroke
from kadenz.report.tables import Named
from kadenz.stats.exceedance import LARGEST, Exceedance

# Plots above the cards; the others are shown with their benchmark.
MOST_AT_TOP = 2
# With fewer distinct values the figure on the card is enough.
VALUES_AT_TOP = 10
# Shares closer than this are less than a pixel apart.
CLOSE = 0.98


@dataclass(frozen=True)
class Overlay:
    """A plot in two widths; `data` holds its curves as JSON, for zooming."""

    wide: Plot
    narrow: Plot
    data: str
    note: str


@dataclass(frozen=True)
class Key:
    """A line of the legend."""

    letter: str
    label: str
    kernel: str
    colour: int
    swatch: str
    rounds: int


def legend(runs: Sequence[RunResult]) -> tuple[Key, ...]:
    """One line per variant, in the order of the runs."""
    keys = []
    variants = variants_of([run.manifest for run in runs])
    for number, (variant, label) in enumerate(
        zip(variants, labels.variant_labels(runs), strict=True)
    ):
        first = runs[variant.runs[0]]
        swatch = (
            '<svg class="plot swatch" viewBox="0 0 44 10" aria-hidden="true">'
            f'<path d="M1 5H43" class="{stroke(number)}"/></svg>'
        )
        keys.append(
            Key(
                variant.letter,
                label,
                labels.kernel(first),
                colour(number),
                swatch,
                len(variant.runs),
            )
        )
    return tuple(keys)


def at_top(runs: Named) -> list[SharedPoint]:
    """The points that open the page: the user's benchmarks first, then cyclic work, and points that
    several variants share.

    For a benchmark over message sizes this is the largest size, as in its histogram. A point that
    carries a note does not open the page.
    """
    styles = labels.styles([run for _, run in runs])
    shared = [
        point
        for point in _of_interest(runs)
        if not any(labels.note(runs[number][1], point.bench) for number, _ in point.records)
        and any(_exceedance(record).values.size >= VALUES_AT_TOP for _, record in point.records)
    ]

    def rank(point: SharedPoint) -> tuple[bool, bool, bool, int]:
        several = len({styles[number] for number, _ in point.records}) > 1
        family = families.family_of(point.bench)
        return not several, not family.users, point.nature != "periodic", family.place

    ranked = sorted(shared, key=rank)
    best = [point for point in ranked if rank(point)[0] == rank(ranked[0])[0]]
    seen: dict[str, SharedPoint] = {}
    for point in best:
        seen.setdefault(f"{point.bench} {point.arch}", point)
    return list(seen.values())[:MOST_AT_TOP]


def _of_interest(runs: Named) -> list[SharedPoint]:
    swept = {id(record) for _, run in runs for sweep in run.sweeps for record in sweep.points[:-1]}
    return [
        point
        for point in shared_points([run for _, run in runs])
        if point.nature != "context"
        and any(_varies(record) for _, record in point.records)
        and not all(id(record) in swept for _, record in point.records)
    ]


def _varies(record: RecordResult) -> bool:
    exceedance = exceedance_of(record)
    return exceedance is not None and exceedance.values.size > 1


def of_bench(bench: str, runs: Named, top: Sequence[SharedPoint]) -> list[Plot]:
    """Points of a benchmark that several variants share and that do not open the page."""
    styles = labels.styles([run for _, run in runs])
    shown = {(point.bench, tuple(sorted(point.params.items())), point.arch) for point in top}
    return [
        _draw(point, runs, NARROW)
        for point in _of_interest(runs)
        if point.bench == bench
        and len({styles[number] for number, _ in point.records}) > 1
        and (point.bench, tuple(sorted(point.params.items())), point.arch) not in shown
    ]


def overlay(point: SharedPoint, runs: Named) -> Overlay:
    """The plot of a point, and the data for zooming."""
    curves, dues = _curves(point, runs), _deadlines(point)
    shown = drawing.axes(curves, dues)
    taken = sum(_exceedance(record).n for _, record in point.records)
    kept = sum(_exceedance(record).values.size for _, record in point.records)
    wide = _draw(point, runs, WIDE)
    return Overlay(
        wide=wide,
        narrow=_draw(point, runs, NARROW),
        data=json.dumps(
            {
                "title": wide.heading,
                "about": _about(point, runs),
                "unit": labels.unit(point.unit),
                "x": [_digits(shown.low), _digits(shown.high)],
                "y": [_digits(shown.least), 1],
                "due": [
                    [_digits(value), drawing.placed(value, label, shown)] for value, label in dues
                ],
                "curves": [
                    {
                        "name": curve.letter,
                        "colour": colour(curve.style),
                        "dash": [float(part) for part in dash(curve.style).split()],
                        "floor": _digits(curve.floor),
                        "x": [_digits(value) for value, _ in curve.points],
                        "y": [_digits(share) for _, share in curve.points],
                    }
                    for curve in curves
                ],
            },
            separators=(",", ":"),
        ).replace("<", "\\u003c"),
        note=_note(taken, kept),
    )


def _note(taken: int, kept: int) -> str:
    return (
        f"{kept:,} of {taken:,} samples are drawn, with exact shares: the {LARGEST} largest of "
        "each run, and the others in even steps of share."
    )


def _about(point: SharedPoint, runs: Named) -> str:
    same = labels.constants(point.bench, [run for _, run in runs])
    named = {k: v for k, v in point.params.items() if k not in same or k == "period_us"}
    parts = (labels.parameters(named), point.arch, labels.unit(point.unit))
    where = ", ".join(part for part in parts if part)
    missed = any(_exceedance(record).missed for _, record in point.records)
    level = "; missed cycles count as slowest" if missed else ""
    noted = [runs[n][1] for n, _ in point.records if labels.note(runs[n][1], point.bench)]
    mark = f"; †: {labels.note(noted[0], point.bench)}" if noted else ""
    return f"{where}{level}{mark}"


def _draw(point: SharedPoint, runs: Named, size: tuple[float, float]) -> Plot:
    suffix = "" if size == WIDE else "narrow"
    return drawing.overlay(
        _curves(point, runs),
        _deadlines(point),
        heading=f"{point.bench}: share at or above a value",
        subheading=_about(point, runs),
        unit=labels.unit(point.unit),
        name=labels.slug(
            "exceedance", point.bench, labels.parameters(point.params), point.arch, suffix
        ),
        size=size,
    )


def _curves(point: SharedPoint, runs: Named) -> list[Curve]:
    every = [run for _, run in runs]
    styles = labels.styles(every)
    letters = [variant.letter for variant in variants_of([run.manifest for run in every])]
    return [
        _curve(
            _exceedance(record), record.unit, letters[styles[n]], _label(point, n, runs), styles[n]
        )
        for n, record in point.records
    ]


def _label(point: SharedPoint, number: int, runs: Named) -> str:
    """The run's label with its mark; a section's labels already have it."""
    label, run = runs[number]
    plain = label.removesuffix(labels.MARK)
    return plain + labels.MARK if labels.note(run, point.bench) else plain


def _exceedance(record: RecordResult) -> Exceedance:
    exceedance = exceedance_of(record)
    assert exceedance is not None
    return exceedance


def _curve(of: Exceedance, unit: Unit, letter: str, label: str, style: int) -> Curve:
    """Both ends of every step, merged if they would coincide in the plot."""
    planned = of.planned
    points: list[tuple[float, float]] = []
    for value, count, above in zip(of.values, of.counts, of.above, strict=True):
        if value <= 0.0:
            continue  # not on a logarithmic axis; the next value has the same share
        figure = unit.figure(float(value))
        points.append((figure, float(count) / planned))
        if 0 < above < CLOSE * count:
            points.append((figure, float(above) / planned))
    missed = f", {of.missed:,} missed" if of.missed else ""
    description = (
        f"{letter}: {label}, {of.n:,} samples{missed}, largest {digits.number(points[-1][0])}"
    )
    return Curve(letter, description, points, of.missed / planned, style)


def _deadlines(point: SharedPoint) -> list[tuple[float, str]]:
    """The deadlines of a point that its clock can time. A period that was not declared a deadline
    and was met is drawn for periodic work only: elsewhere it would just stretch the axis."""
    by_limit: dict[float, str] = {}
    for _, record in point.records:
        misses = record.misses
        of = misses.deadline if misses is not None else None
        if misses is None or of is None or of.limit is None:
            continue
        if of.origin != "period" or misses.missed or point.nature == "periodic":
            by_limit.setdefault(of.limit, f"deadline {labels.quantity(of.quantity)}")
    return sorted(by_limit.items())


def _digits(value: float) -> float:
    """As many digits as a plot zoomed in 100 times can show."""
    return float(f"{value:.7g}")
