# SPDX-License-Identifier: Apache-2.0
"""The jitter part of a report: plots and tables of drift, jitter, disturbances and tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kadenz.analysis.change import percent
from kadenz.analysis.jitter_views import JitterResult, View
from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.analysis.units import Unit
from kadenz.report import digits, labels
from kadenz.report.svg.levels import Level, levels
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.svg.trace import Overlay, Ticks, trace
from kadenz.report.table import Cell, Table, badge, figure, text_cell, whole
from kadenz.stats.estimate import Estimate
from kadenz.stats.tail import Tail

Named = Sequence[tuple[str, RunResult]]
SPORADIC_SHOWN = 5


def _lanes(bench: str, runs: Named) -> Iterator[tuple[int, str, RecordResult, LaneResult]]:
    for colour, label, run in labels.styled(runs):
        for record in run.records:
            if record.bench == bench and record.usable:
                for lane in record.lanes:
                    yield colour, label, record, lane


def plots(bench: str, runs: Named) -> list[Plot]:
    """Every view of every lane with a jitter analysis."""
    pictures = []
    for colour, label, record, lane in _lanes(bench, runs):
        if lane.jitter is not None:
            where = " ".join(part for part in (label, labels.lane(record, lane)) if part)
            pictures += views(where, bench, lane.jitter, record.unit, colour)
    return pictures


def tails(bench: str, runs: Named) -> list[Plot]:
    """Peaks and levels of the lanes with a tail."""
    pictures = []
    for colour, label, record, lane in _lanes(bench, runs):
        # For a sweep the table is enough.
        swept = "size_bytes" in record.params
        if lane.tail is not None and lane.tail.peaks.size and not swept:
            where = " ".join(part for part in (label, labels.lane(record, lane)) if part)
            pictures.append(tail_plot(where, bench, lane.tail, record.unit, colour))
    return pictures


def views(label: str, bench: str, of: JitterResult, unit: Unit, colour: int) -> list[Plot]:
    """Raw (edges only), compensated with the drift drawn in, the drift alone, the jitter."""
    average = Overlay(
        of.views["drift"].bands[1] * unit.scale,
        f"moving average, {digits.number(of.window_s)} s",
    )
    median = Overlay(of.views["median drift"].bands[1] * unit.scale, "moving median", dashed=True)
    shown = labels.unit(unit)

    def caption(name: str, subheading: str) -> Caption:
        return Caption(label, subheading, unit.label, labels.slug(name, bench, label), colour)

    pictures = []
    if of.source == "edges":
        subheading = f"edges from nominal, {shown}; {digits.number(of.rate_error_ppm.value)} ppm"
        raw = caption("jitter-raw", subheading)
        pictures.append(trace(of.views["raw"], of.seconds, unit.scale, raw))
    compensated = caption("jitter-compensated", f"clock rate compensated, {shown}")
    pictures.append(
        trace(of.views["compensated"], of.seconds, unit.scale, compensated, overlays=(average,))
    )
    drift = caption("jitter-drift", f"the drift that is removed, {shown}")
    pictures.append(trace(None, of.seconds, unit.scale, drift, overlays=(average, median)))
    pictures.append(remaining(of, unit, caption("jitter", f"remaining jitter, {shown}")))
    return pictures


def remaining(
    of: JitterResult,
    unit: Unit,
    caption: Caption,
    *,
    view: View = "jitter",
    limits: tuple[float, float] | None = None,
) -> Plot:
    """The jitter, with the strikes of the most significant period marked."""
    ticks = None
    if of.disturbances.periodic and view == "jitter":
        train = of.disturbances.periodic[0]
        slots = train.first + train.every.value * np.arange(train.slots)
        if train.slots <= 60:
            moments = [of.at_s(float(slot)) for slot in slots]
            moments = [at for at in moments if at <= of.seconds[-1]]
            ticks = Ticks(moments, f"every {digits.number(of.at_s(train.every.value))} s")
    return trace(of.views[view], of.seconds, unit.scale, caption, ticks=ticks, limits=limits)


def tail_plot(label: str, bench: str, tail: Tail, unit: Unit, colour: int) -> Plot:
    """Peaks, fit and levels."""
    chosen = tail.chosen
    curve = []
    if chosen is not None and not tail.refusal:
        for share in np.geomspace(1.0, 100.0 * tail.peaks.size, 80):
            level = unit.figure(chosen.threshold + chosen.fit.level(float(share)))
            curve.append((float(share) * tail.n / tail.peaks.size, level))
    return levels(
        tail.peaks * unit.scale,
        curve,
        [
            Level(return_level.samples, _shown(return_level.level, unit))
            for return_level in tail.levels
        ],
        tail.n,
        Caption(
            label,
            f"tail, {labels.unit(unit)}" + ("; not extrapolated" if tail.refusal else ""),
            unit.label,
            labels.slug("tail", bench, label),
            colour,
        ),
    )


def _shown(of: Estimate, unit: Unit) -> Estimate:
    return Estimate(unit.figure(of.value), unit.figure(of.low), unit.figure(of.high), of.confidence)


# ---- tables -------------------------------------------------------------------------------------


def lane_table(bench: str, runs: Named) -> Table | None:
    """One row per lane: rate, spread by view, jitter, and the bias of removing the drift."""
    rows: list[tuple[Cell, ...]] = []
    notes: dict[str, None] = {}
    for _, label, record, lane in _lanes(bench, runs):
        if lane.jitter is None:
            if "jitter" in lane.gaps:
                notes[f"{label}: no jitter: {lane.gaps['jitter']}."] = None
            continue
        rows.append(_row(label, labels.lane(record, lane), lane.jitter, record.unit))
        for note in remarks(lane.jitter, record.unit):
            notes[f"{label}{', ' + lane.name if len(record.lanes) > 1 else ''}: {note}."] = None
    if not rows:  # e.g. counted instructions: `show` says why
        return None
    return Table.headed(
        "Target | Lane | >n | >Cycles missing | >Rate error, ppm | >95 % interval | "
        ">Sd compensated | >Sd of drift | >Mean | >Sd | >Min | >Max | >Max shift of average | "
        ">Max average − median | Unit | Clock class",
        name=labels.slug("jitter", bench),
        title=f"{bench}: clock, drift and jitter",
        rows=rows,
        notes=tuple(notes),
    )


def _row(label: str, lane: str, of: JitterResult, unit: Unit) -> tuple[Cell, ...]:
    rate, summary = of.rate_error_ppm, of.summary
    ends = f"[{digits.number(rate.low)}, {digits.number(rate.high)}]"
    return (
        text_cell(label),
        text_cell(lane),
        whole(of.n),
        whole(of.holes),
        Cell(digits.number(rate.value), rate.value),
        Cell(ends, ends, "interval"),
        figure(of.sd["compensated"], unit),
        figure(of.sd["drift"], unit),
        figure(summary.mean, unit),
        figure(summary.sd, unit),
        figure(summary.min, unit),
        figure(summary.max, unit),
        figure(of.bias.moved, unit),
        figure(of.bias.from_median, unit),
        text_cell(unit.label),
        badge(unit),
    )


def remarks(of: JitterResult, unit: Unit) -> list[str]:
    """Caveats shown with the figures."""
    caveats = [
        f"drift is the moving average over {of.window:,} cycles ({digits.number(of.window_s)} s); "
        "slower jitter counts as drift, and disturbances appear smaller by up to "
        f"{percent(of.bias.share).lstrip('+')}"
    ]
    if of.rate_reason:
        caveats.append(of.rate_reason)
    caveats += list(of.notes)
    if of.disturbances.reason:
        caveats.append(of.disturbances.reason)
    if of.bias.from_median > 0.5 * unit_free_sd(of):
        caveats.append(
            "moving average and moving median differ by up to "
            f"{digits.figure(of.bias.from_median, unit)} {unit.label}: disturbances or bends of "
            "the drift affect only one of them"
        )
    return caveats


def unit_free_sd(of: JitterResult) -> float:
    """The sd of the jitter, 0 for one sample."""
    return of.summary.sd or 0.0


def disturbances(bench: str, runs: Named) -> Table | None:
    """Periodic disturbances, then the largest sporadic ones."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for _, label, record, lane in _lanes(bench, runs):
        if lane.jitter is None:
            continue
        where = " ".join(part for part in (label, labels.lane(record, lane)) if part)
        rows += disturbance_rows(where, lane.jitter, record.unit)
        rest = lane.jitter.disturbances.sporadic_events - SPORADIC_SHOWN
        if rest > 0:
            notes.append(f"{where}: {rest:,} smaller sporadic events are not listed.")
    if not rows:
        return None
    return Table.headed(
        "Target | Kind | >Every, s | >95 % interval of the period | >At, s | >Amplitude | "
        ">95 % interval | >Largest | Strikes | >False alarm p | Unit",
        name=labels.slug("disturbances", bench),
        title=f"{bench}: disturbances",
        rows=rows,
        notes=(
            "Amplitudes are measured from the median of the jitter. p: probability that a series "
            "without a period shows one this clear, over the whole search.",
            *notes,
        ),
    )


def disturbance_rows(where: str, of: JitterResult, unit: Unit) -> list[tuple[Cell, ...]]:
    """Trains, waves, and the largest sporadic events."""
    none = Cell(digits.ABSENT)
    rows: list[tuple[Cell, ...]] = []
    for train in of.disturbances.periodic:
        rows.append(  # noqa: PERF401
            (
                text_cell(where),
                text_cell("periodic"),
                _plain(of.at_s(train.every.value)),
                _span(of.at_s(train.every.low), of.at_s(train.every.high)),
                _plain(of.at_s(train.first)),
                figure(train.amplitude.value, unit),
                _span(unit.figure(train.amplitude.low), unit.figure(train.amplitude.high)),
                figure(train.largest, unit),
                text_cell(f"{train.strikes:,} of {train.slots:,}"),
                Cell(chance(train.p_value), train.p_value),
                text_cell(unit.label),
            )
        )
    for wave in of.disturbances.waves:
        rows.append(  # noqa: PERF401
            (
                text_cell(where),
                text_cell("clock's step" if wave.of_step else "wave"),
                _plain(of.at_s(wave.every)),
                none,
                none,
                figure(wave.amplitude, unit),
                none,
                none,
                none,
                Cell(chance(wave.p_value), wave.p_value),
                text_cell(unit.label),
            )
        )
    for event in of.disturbances.sporadic[:SPORADIC_SHOWN]:
        lasted = "1 cycle" if event.cycles == 1 else f"{event.cycles:,} cycles"
        rows.append(
            (
                text_cell(where),
                text_cell("sporadic"),
                none,
                none,
                _plain(of.at_s(event.cycle)),
                figure(event.size, unit),
                none,
                none,
                text_cell(lasted),
                none,
                text_cell(unit.label),
            )
        )
    return rows


def chance(p_value: float) -> str:
    """A p-value such as "2.1e-07"; "< 1e-99" below that."""
    if p_value < 1e-99:
        return "< 1e-99"
    return f"{p_value:.2g}"


def _plain(value: float) -> Cell:
    return Cell(f"{value:,.6g}", value)


def _span(low: float, high: float) -> Cell:
    text = f"[{low:,.6g}, {high:,.6g}]"
    return Cell(text, text, "interval")


def tail_table(bench: str, runs: Named) -> Table | None:
    """One row per lane with a tail: the fit and its levels, or the reason for none."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for _, label, record, lane in _lanes(bench, runs):
        if lane.tail is None:
            continue
        where = " ".join(part for part in (label, labels.lane(record, lane)) if part)
        rows.append(_tail_row(where, labels.point(record), lane.tail, record.unit))
        if lane.tail.refusal:
            notes.append(f"{where}: not extrapolated: {lane.tail.refusal}.")
    if not rows:
        return None
    return Table.headed(
        "Target | Point | >n | >Threshold | >Peaks | >Shape | >95 % interval of shape | "
        ">Fit p | >Once in n | >95 % | >Once in 10 n | >95 %  | >Once in 100 n | >95 %   | "
        "Unit | Clock class",
        name=labels.slug("tail", bench),
        title=f"{bench}: tail, peaks over threshold",
        rows=rows,
        notes=(
            "A level is not a worst case: it assumes that nothing new happens after the "
            "measurement.",
            *notes,
        ),
    )


def _tail_row(where: str, point: str, tail: Tail, unit: Unit) -> tuple[Cell, ...]:
    chosen, shape = tail.chosen, tail.shape
    cells: list[Cell] = []
    for number in range(3):
        if tail.levels:
            level = tail.levels[number].level
            cells += [
                figure(level.value, unit),
                Cell(digits.interval(level.low, level.high, unit), None, "interval"),
            ]
        else:
            cells += [Cell("refused", "refused"), Cell("")]
    return (
        text_cell(where),
        text_cell(point, "point"),
        whole(tail.n),
        figure(None if chosen is None else chosen.threshold, unit),
        whole(int(tail.peaks.size)),
        Cell(digits.ABSENT) if shape is None else Cell(f"{shape.value:+.3f}", shape.value),
        Cell("")
        if shape is None
        else Cell(f"[{shape.low:+.2f}, {shape.high:+.2f}]", None, "interval"),
        Cell(digits.ABSENT)
        if chosen is None
        else Cell(chance(chosen.fit.p_value), chosen.fit.p_value),
        *cells,
        text_cell(unit.label),
        badge(unit),
    )
