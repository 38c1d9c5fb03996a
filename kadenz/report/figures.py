# SPDX-License-Identifier: Apache-2.0
"""Chooses the plots of a report and the results they show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from kadenz.analysis.lane_figures import LAG1
from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import LaneResult, RecordResult, RunResult, Sweep
from kadenz.analysis.standings import counted_of
from kadenz.report import digits, labels
from kadenz.report.studies.sizes import PublishedSystem, sizes_published
from kadenz.report.svg import boxes as box_plots
from kadenz.report.svg.counts import counts
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.svg.response import Dot, Line, Point, Range, dots, response
from kadenz.report.svg.series import series
from kadenz.report.tables import Named

# Correlation of neighbouring samples from which a time-order plot is shown.
LAG1_OF_INTEREST = 0.2


def responses(bench: str, runs: Named, figures: Sequence[PublishedFigure]) -> list[Plot]:
    """Figures over message size: a panel per run, next to the published figures of its family.
    Panels of one unit share their axes."""
    published = sizes_published(figures, bench, runs)
    panels: list[_Panel] = []
    for colour, label, run in labels.styled(runs):
        run_panels = [
            _response(sweep, run, label, colour, number)
            for number, sweep in enumerate(s for s in run.sweeps if s.bench == bench)
        ]
        if not run_panels:
            continue
        panels += run_panels
        # Show a published system once, after the first run of its family.
        for system in [s for s in published if run.manifest.target.board in s.boards]:
            panels.append(_published(bench, system, published.pop(system)))
    shared = {
        of: Range.of_all([panel.range for panel in panels if panel.of == of])
        for of in {panel.of for panel in panels}
    }
    return [panel.draw(axes=shared[panel.of]) for panel in panels]


@dataclass(frozen=True)
class _Panel:
    """A plot that is drawn when the axes are known; `of`: whose figures are in one unit."""

    of: tuple[str, str, str]
    range: Range
    draw: Callable[..., Plot]


def _published(bench: str, of: PublishedSystem, points: list[Dot]) -> _Panel:
    caption = Caption(
        heading=of.name,
        subheading=f"published mean, {of.kernel}, {of.unit} · {of.clock_class}",
        unit=of.unit,
        name=labels.slug("published", bench, of.name),
    )
    draw = partial(dots, sorted(points), caption)
    return _Panel((of.unit, of.clock_class, ""), Range.of_dots(points), draw)


def _response(sweep: Sweep, run: RunResult, label: str, colour: int, number: int) -> _Panel:
    unit = sweep.unit
    points = []
    for size, record in zip(sweep.sizes, sweep.points, strict=True):
        lane = record.main
        assert lane is not None and lane.summary is not None
        low, high = lane.central or (None, None)
        points.append(
            Point(
                size=float(size),
                low=unit.figure(lane.summary.min),
                p1=None if low is None else unit.figure(low),
                median=unit.figure(lane.summary.median),
                p99=None if high is None else unit.figure(high),
                high=unit.figure(lane.summary.max),
            )
        )
    fit = None
    subheading = labels.unit(unit)
    if sweep.fit is not None:
        fixed, per_byte = (
            unit.figure(estimate.value) for estimate in (sweep.fit.fixed, sweep.fit.per_byte)
        )
        fit = Line(fixed, per_byte, sweep.fit.linear)
        sign = "+" if per_byte >= 0 else "−"
        subheading += (
            f"; fit {digits.number(fixed)} {sign} {digits.number(abs(per_byte))} per byte"
            + ("" if fit.trusted else " (not a line)")
        )
    others = ", ".join(f"{k} {v}" for k, v in sweep.params.items()) if number else ""
    caption = Caption(
        heading=label,
        subheading=f"{subheading} {others}".strip(),
        unit=unit.label,
        name=labels.slug("size", sweep.bench, label, str(number) if number else ""),
        colour=colour,
    )
    of = unit.label, unit.clock_class, counted_of(run)
    return _Panel(of, Range.of(points), partial(response, points, caption, fit=fit))


def histograms(bench: str, runs: Named) -> list[Plot]:
    """Histograms of single points; a sweep is represented by its largest size."""
    plots = []
    same = labels.constants(bench, [run for _, run in runs])
    for colour, label, run in labels.styled(runs):
        swept = {id(r) for s in run.sweeps if s.bench == bench for r in s.points[:-1]}
        for record in run.records:
            if record.bench != bench or not record.usable or id(record) in swept:
                continue
            plots += [
                _histogram(label, record, lane, colour, same)
                for lane in record.lanes
                if lane.histogram is not None and varies(lane) and not record.whole
            ]
    return plots


def varies(lane: LaneResult) -> bool:
    """Whether samples differ; identical samples need no plot."""
    return lane.summary is not None and not lane.summary.constant


def _histogram(
    label: str, record: RecordResult, lane: LaneResult, colour: int, hide: Collection[str]
) -> Plot:
    unit = record.unit
    assert lane.histogram is not None and lane.summary is not None
    marks = [("median", unit.figure(lane.summary.median))]
    p99 = lane.percentile("p99")
    if p99 is not None and p99.value is not None and p99.value > lane.summary.median:
        marks.append(("p99", unit.figure(p99.value)))
    return counts(
        lane.histogram,
        unit.scale,
        Caption(
            heading=_heading(label, record, lane),
            subheading=f"number of samples, of {lane.summary.n:,}{_where(record, hide)}",
            unit=labels.unit(unit),
            name=labels.slug("histogram", record.bench, _place(label, record, lane)),
            colour=colour,
        ),
        marks=marks,
        cold=[unit.figure(value) for value in lane.cold],
    )


def boxes(name: str, benches: Sequence[str], runs: Named) -> list[Plot]:
    """One panel per run, with a row for every point and lane of `benches`."""
    plots = []
    same = {bench: labels.constants(bench, [run for _, run in runs]) for bench in benches}
    for colour, label, run in labels.styled(runs):
        rows = []
        units = set()
        for bench in benches:
            for record in run.records:
                if record.bench != bench or not record.usable or record.whole:
                    continue
                for lane in record.lanes:
                    if lane.box is None or lane.summary is None:
                        continue
                    units.add(record.unit)
                    rows.append(
                        box_plots.Row(
                            label=_row_label(benches, record, lane, same[bench])
                            + (labels.MARK if len(benches) > 1 and labels.note(run, bench) else ""),
                            box=lane.box,
                            low=record.unit.figure(lane.summary.min),
                            high=record.unit.figure(lane.summary.max),
                            scale=record.unit.scale,
                        )
                    )
        # Skip a single box (a histogram shows it), boxes without a height, and mixed units.
        if len(rows) < 2 or len(units) > 1 or all(row.low == row.high for row in rows):
            continue
        unit = units.pop()
        plots.append(
            box_plots.boxes(
                rows,
                Caption(
                    heading=label,
                    subheading=f"{labels.unit(unit)}; ring and figure: the largest",
                    unit=labels.unit(unit),
                    name=labels.slug("boxes", name, label),
                    colour=colour,
                ),
            )
        )
    return plots


def _row_label(
    benches: Sequence[str], record: RecordResult, lane: LaneResult, hide: Collection[str]
) -> str:
    """Distinguishes a row from its neighbours: benchmark, size, varying parameters, lane."""
    parts = []
    if len(benches) > 1:
        parts.append(record.bench.rpartition("/")[2])
    if "size_bytes" in record.params:
        parts.append(f"{record.params['size_bytes']:,} B")
    varied = {k: v for k, v in record.params.items() if k not in (*hide, "size_bytes")}
    if parameters := labels.parameters(varied):
        parts.append(parameters)
    if len(record.lanes) > 1:
        parts.append(lane.name)
    return " ".join(parts) or record.bench.rpartition("/")[2]


def time_series(bench: str, runs: Named) -> list[Plot]:
    """Samples in time order, for records where the order matters."""
    plots = []
    same = labels.constants(bench, [run for _, run in runs])
    for colour, label, run in labels.styled(runs):
        for record in run.records:
            if record.bench != bench or not record.usable or record.whole:
                continue
            plots += [
                _series(label, record, lane, colour, same)
                for lane in record.lanes
                if lane.envelope is not None and varies(lane) and _of_interest(record, lane)
            ]
    return plots


def _of_interest(record: RecordResult, lane: LaneResult) -> bool:
    """Periodic work always; else periodic outliers on a single point, or correlated neighbours."""
    if record.nature == "periodic":
        return True
    if "size_bytes" in record.params:
        return False
    periodic = lane.periodic is not None and lane.periodic.periodic
    return periodic or abs(lane.figures.get(LAG1) or 0.0) > LAG1_OF_INTEREST


def _series(
    label: str, record: RecordResult, lane: LaneResult, colour: int, hide: Collection[str]
) -> Plot:
    unit = record.unit
    assert lane.envelope is not None and lane.summary is not None
    envelope = lane.envelope
    cell = int(envelope.high.argmax())
    at = int(envelope.first[cell]) + int(envelope.length[cell]) // 2
    top = unit.figure(float(envelope.high[cell]))
    named = []
    if lane.summary.max > lane.summary.median:
        named.append((at, top, f"max {digits.number(top)}"))
    detail = _where(record, hide)
    if lane.periodic is not None and lane.periodic.periodic and lane.periodic.every:
        detail = f"; outliers every {digits.number(lane.periodic.every)} samples"
        detail += " (the tick)" if lane.periodic.tick_fits else ""
    return series(
        envelope,
        unit.scale,
        Caption(
            heading=_heading(label, record, lane),
            subheading=f"{labels.unit(unit)}{detail}",
            unit=labels.unit(unit),
            name=labels.slug("series", record.bench, _place(label, record, lane)),
            colour=colour,
        ),
        named=named,
    )


def _heading(label: str, record: RecordResult, lane: LaneResult) -> str:
    return " ".join(part for part in (label, labels.lane(record, lane)) if part)


def _where(record: RecordResult, hide: Collection[str]) -> str:
    point = labels.point(record, hide=hide)
    return "" if point == digits.ABSENT else f"; {point}"


def _place(label: str, record: RecordResult, lane: LaneResult) -> str:
    params = " ".join(f"{k} {v}" for k, v in record.params.items())
    return f"{label} {params} {labels.lane(record, lane)}"
