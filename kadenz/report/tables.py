# SPDX-License-Identifier: Apache-2.0
"""Tables of results: every point and lane of a benchmark, and fits over message size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kadenz.analysis.deadlines import Misses
from kadenz.analysis.lane_figures import FIGURES
from kadenz.analysis.results import LaneResult, Pooled, RecordResult, RunResult
from kadenz.analysis.units import Unit
from kadenz.report import digits, labels
from kadenz.report.table import Cell, Table, badge, figure, text_cell, whole
from kadenz.stats.percentiles import Percentile
from kadenz.stats.periodic import PeriodicOutliers
from kadenz.stats.summary import Summary

Named = Sequence[tuple[str, RunResult]]  # (label, run)

NOT_SUBTRACTED = "Every figure includes the cost of reading the clock; nothing was subtracted."


# The columns of results; figures of `lane_figures` follow "Sd".
_COLUMNS = (
    *("Target", "Point", "Lane", "n", "Median", "Model's interval", "95 % interval", "p99"),
    *("95 % interval of p99", "Max", "Missed", "Deadline", "Max exceeded in ≤ 1 of", "Mean"),
    *("95 % interval of mean", "Sd"),
)
_TEXT_COLUMNS = frozenset({"Target", "Point", "Lane", "Deadline", "Unit", "Clock class"})
_Row = dict[str, Cell]  # by column


def results(bench: str, runs: Named) -> Table:
    """Every point and lane of a benchmark on every run, including those without figures."""
    more = tuple(lane_figure.column for lane_figure in FIGURES if lane_figure.column)
    columns = (*_COLUMNS, *more, "Unit", "Clock class")
    rows: list[tuple[Cell, ...]] = []
    notes = []
    same = labels.constants(bench, [run for _, run in runs])
    for label, run in runs:
        for record in (record for record in run.records if record.bench == bench):
            where = labels.point(record, hide=same)
            common = {
                "Target": text_cell(label),
                "Point": text_cell(where, "point"),
                "Unit": text_cell(record.unit.label),
                "Clock class": badge(record.unit),
            }
            for row, absent in _rows(record):
                cells = common | row
                rows.append(tuple(cells.get(column, absent) for column in columns))
            notes += [f"{label}, {where}: {note}" for note in _remarks(record)]
    return Table(
        name=labels.slug("results", bench),
        title=bench,
        columns=columns,
        rows=tuple(rows),
        numeric=frozenset(n for n, column in enumerate(columns) if column not in _TEXT_COLUMNS),
        notes=(
            *((f"At every point: {labels.parameters(same)}.",) if same else ()),
            _read_costs([(label, run) for label, run in runs if run.find(bench)]),
            *_folded(notes),
        ),
    )


def _rows(record: RecordResult) -> Iterator[tuple[_Row, Cell]]:
    """The rows of a record, each with the cell for columns that it lacks."""
    if not record.usable or not any(lane.summary for lane in record.lanes):
        yield _no_figures(record), Cell(digits.ABSENT)
    for lane in record.lanes:
        if lane.summary is not None:
            yield _figures(record, lane, lane.summary), Cell(digits.ABSENT)
    if record.pooled is not None:
        yield _pooled(record, record.pooled), Cell("")


def _read_costs(runs: Named) -> str:
    """The cost of reading the clock, which the figures include (rule 4 of the method)."""
    costs = []
    for label, run in runs:
        cost = run.manifest.clock.read_cost
        if cost is not None:
            costs.append(f"{label} {digits.figure(cost.median, run.unit)} {run.unit.label}")
    measured = f" Its median: {'; '.join(costs)}." if costs else ""
    return NOT_SUBTRACTED + measured


def _figures(record: RecordResult, lane: LaneResult, summary: Summary) -> _Row:
    unit = record.unit
    p50, p99 = lane.percentile("p50"), lane.percentile("p99")
    return {
        "Lane": text_cell(labels.lane(record, lane)),
        **_summarised(record, summary),
        "Model's interval": _ends(record, *(lane.modelled or (None, None))),
        "95 % interval": _interval(record, p50),
        "p99": figure(p99.value if p99 else None, unit),
        "95 % interval of p99": _interval(record, p99),
        **_misses(lane.misses),
        "Max exceeded in ≤ 1 of": whole(lane.maximum.one_in)
        if lane.maximum
        else Cell(digits.ABSENT),
        "95 % interval of mean": _ends(record, lane.mean.low, lane.mean.high)
        if lane.mean
        else Cell(""),
        **{
            lane_figure.column: _number(lane_figure.shown(lane.figures.get(lane_figure.name), unit))
            for lane_figure in FIGURES
        },
    }


def _number(value: float | None) -> Cell:
    return Cell(digits.number(value), value)


def _summarised(record: RecordResult, summary: Summary) -> _Row:
    figures = {"Median": summary.median, "Max": summary.max, "Mean": summary.mean, "Sd": summary.sd}
    shown = {column: figure(ticks, record.unit) for column, ticks in figures.items()}
    return {"n": whole(summary.n), **shown}


def _pooled(record: RecordResult, pooled: Pooled) -> _Row:
    return {
        "Lane": text_cell("all lanes"),
        **_summarised(record, pooled.summary),
        "p99": figure(pooled.quantiles.get("p99"), record.unit),
        **_misses(record.misses),
    }


def _misses(misses: Misses | None) -> _Row:
    """Misses with their share, and the deadline, with its origin unless a person set it.

    A share without an interval has no known long-run rate; a note says why.
    """
    if misses is None:
        return {"Missed": Cell(digits.ABSENT), "Deadline": Cell(digits.ABSENT)}
    text = f"{misses.missed:,} of {misses.asked:,}, {misses.share_text}"
    deadline = text_cell("" if misses.deadline is None else str(misses.deadline))
    missed = Cell(text, misses.missed, "warn" if misses.missed or misses.undecided else "")
    return {"Missed": missed, "Deadline": deadline}


def _missed_words(misses: Misses | None) -> list[str]:
    """The kinds of misses, and why their rate is unknown; empty if nothing was missed."""
    if misses is None or not (misses.missed or misses.undecided):
        return []
    if misses.undecided:
        return [misses.sentence]
    unknown = f"the long-run miss rate is unknown: {misses.reason}"
    return [misses.sentence] if misses.rate is not None else [misses.sentence, unknown]


def _no_figures(record: RecordResult) -> _Row:
    status: str = record.entry.status
    if record.usable:  # no samples, or only cold ones
        status = next(iter(record.lanes[0].gaps.values()), "no samples") if record.lanes else "–"
    kind = "status na" if record.entry.status == "n/a" else "status bad"
    return {"n": whole(record.taken), "Median": Cell(status, status, kind)}


def _remarks(record: RecordResult) -> list[str]:
    """Caveats shown with a record's figures."""
    if not record.usable:
        return [f"{record.entry.status}: {record.reason}"]
    remarks = list(record.notes)
    unit = record.unit
    sentences = [
        structure.sentence(partial(digits.figure, unit=unit), unit.label)
        for structure in record.structures
    ]
    remarks += [sentence for sentence in sentences if sentence]
    remarks += _missed_words(record.misses)
    for lane in record.lanes:
        where = f"{lane.name}: " if len(record.lanes) > 1 else ""
        remarks += [where + remark for remark in _lane_remarks(record, lane)]
    return remarks


def _lane_remarks(record: RecordResult, lane: LaneResult) -> Iterator[str]:
    """Caveats of one lane."""
    periodic, summary, effective = lane.periodic, lane.summary, lane.effective
    if periodic is not None and periodic.periodic and periodic.every is not None:
        yield _periodic_remark(periodic, periodic.every, record.unit)
    if summary is not None and summary.constant and summary.n > 1:
        yield (
            "all samples are equal, so intervals have zero width; another build or machine may "
            "differ"
        )
    yield from _cold_remarks(record, lane)
    drain = lane.drain_effect
    if drain is not None and drain.differs and drain.difference:
        yield (
            f"the {drain.marked_n:,} samples right after a drain of the target's storage took "
            f"{_more(drain.difference, record.unit)} than the others "
            f"(medians, p = {drain.p_value:.2g})"
        )
    yield from (f"p99: {p.reason}" for p in [lane.percentile("p99")] if p and not p.known)
    if effective is not None and effective.tau > 2.0:
        yield (
            f"neighbouring samples are correlated: {effective.n:,} samples are worth "
            f"{effective.effective_n:,.0f} independent ones; the intervals account for it"
        )


def _periodic_remark(periodic: PeriodicOutliers, every: float, unit: Unit) -> str:
    cause = ", in step with the kernel's tick" if periodic.tick_fits else ""
    extra = ""
    if periodic.extra is not None:
        way = "above" if periodic.extra > 0 else "below"
        extra = f", {digits.number(unit.figure(abs(periodic.extra)))} {unit.label} {way} the median"
    return f"outliers every {digits.number(every)} samples{cause}{extra}"


def _cold_remarks(record: RecordResult, lane: LaneResult) -> Iterator[str]:
    cold = lane.cold_effect
    if cold is not None and cold.differs:
        single = cold.cold_n == 1
        which = "execution" if single else f"{cold.cold_n} executions"
        yield (
            f"the first {which} took {_more(cold.difference, record.unit)} than the median of the "
            f"others and {'is' if single else 'are'} excluded"
        )
    if lane.cold_suggested > record.entry.cold:
        yield (
            f"the first {lane.cold_suggested:,} samples look cold, but only "
            f"{record.entry.cold:,} {'is' if record.entry.cold == 1 else 'are'} excluded; set "
            f"`cold = {lane.cold_suggested}` in the campaign to exclude all"
        )


def _more(difference: float, unit: Unit) -> str:
    """For example "12 µs more"."""
    way = "more" if difference > 0 else "less"
    return f"{digits.figure(abs(difference), unit)} {unit.label} {way}"


def _folded(notes: Sequence[str]) -> list[str]:
    """Merges equal remarks on several points into one, with their number."""
    groups: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        place, _, rest = note.partition(": ")
        target, _, where = place.partition(", ")
        groups.setdefault((target, rest), []).append(where)
    folded = []
    for (target, rest), places in groups.items():
        many = f" ({len(places)} points)" if len(places) > 1 else ""
        single = len(places) == 1 and places[0] not in ("", digits.ABSENT)
        where = f", {places[0]}" if single else many
        folded.append(f"{target}{where}: {rest.rstrip('.')}.")
    return folded


def _interval(record: RecordResult, percentile: Percentile | None) -> Cell:
    if percentile is None:
        return Cell("", None)
    if not percentile.known:
        return Cell("unknown", None, "interval")
    return _ends(record, percentile.low, percentile.high)


def _ends(record: RecordResult, low: float | None, high: float | None) -> Cell:
    text = digits.interval(low, high, record.unit)
    return Cell(text, text or None, "interval")


def fits(bench: str, runs: Named) -> Table | None:
    """Fixed cost and cost per byte; None if no run has a sweep of this benchmark."""
    rows = []
    notes = []
    for label, run in runs:
        for sweep in run.sweeps:
            if sweep.bench != bench:
                continue
            unit = sweep.unit
            if sweep.fit is None:
                notes.append(f"{label}: no fit: {sweep.reason}.")
                continue
            fit = sweep.fit
            rows.append(
                (
                    text_cell(label),
                    figure(fit.fixed.value, unit),
                    Cell(digits.interval(fit.fixed.low, fit.fixed.high, unit), None, "interval"),
                    figure(fit.per_byte.value, unit),
                    Cell(
                        digits.interval(fit.per_byte.low, fit.per_byte.high, unit),
                        None,
                        "interval",
                    ),
                    text_cell("yes" if fit.linear else f"no, worst at {fit.worst_size:,.0f} bytes"),
                    text_cell(unit.label),
                    badge(unit),
                )
            )
            if sweep.reason:
                notes.append(f"{label}: {sweep.reason}.")
    if not rows and not notes:
        return None
    return Table.headed(
        "Target | >Fixed | >95 % interval | >Per byte | >95 % interval per byte | Linear | "
        "Unit | Clock class",
        name=labels.slug("fit", bench),
        title=f"{bench}: fixed cost and cost per byte",
        rows=rows,
        notes=tuple(notes),
    )
